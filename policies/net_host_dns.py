"""Pods that use names of the cluster ask its name server.

Why: With dnsPolicy: Default, or with hostNetwork and the default policy, a pod asks the node's name server, which knows
 no Service. Ranks then wait for the first one until they time out.
Fix: set dnsPolicy: ClusterFirstWithHostNet with hostNetwork, or else remove dnsPolicy.
Source: kubernetes v1.35 pkg/kubelet/network/dns/dns.go getPodDNSType; volcano-sh/volcano v1.14.1
 pkg/webhooks/admission/jobs/mutate/mutate_job.go; kubeflow/training-operator v1.9.4 pkg/controller.v1/pytorch/master.go
"""

import re
from collections.abc import Iterator

from trainyard.checks import Pods, Problem, Severity, TrainingJob, World

SEVERITY = Severity.WARNING
OPERATED = {"PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob"}
"""Kinds whose operator tells pods the names of others."""

MENDED = "batch.volcano.sh"
"""The group whose webhook sets the policy by itself, where none is written."""

TOLD = {"MASTER_ADDR", "TF_CONFIG", "JAX_COORDINATOR_ADDRESS"}
"""Variables of these operators; a job may set them to addresses of its own."""


def check(world: World) -> Iterator[Problem]:
    """Look at pods that ask the node's name server and use a name of the cluster."""
    for job in world.workloads():
        for pods in job.pod_sets():
            shared, policy = pods.spec.get("hostNetwork") is True, pods.spec.get("dnsPolicy", "ClusterFirst")
            if (policy != "Default" and not (shared and policy == "ClusterFirst")) or "dnsConfig" in pods.spec:
                continue
            if job.manifest.group == MENDED and "dnsPolicy" not in pods.spec:
                continue
            if name := cluster_name(world, job, pods):
                message = f"with hostNetwork {name} does not resolve; set dnsPolicy: ClusterFirstWithHostNet"
                if not shared:
                    message = f"dnsPolicy is 'Default', so {name} does not resolve; remove it"
                field = "dnsPolicy" if "dnsPolicy" in pods.spec else "hostNetwork"
                yield Problem(pods.place("spec", field), message)


def cluster_name(world: World, job: TrainingJob, pods: Pods) -> str:
    """Return a name of the cluster that the pods are told; empty where none is seen."""
    services = {service.name for service in world.of("Service", namespace=job.namespace, group="")}
    if job.manifest.kind == "JobSet":
        services.add(job.name)
    names = "|".join(map(re.escape, sorted(services)))
    hosts = re.compile(
        rf"(?<![\w./-])(?:[a-z0-9][\w-]*-\d+\.(?:{names})|(?:{names})\.{re.escape(job.namespace)}\.svc)(?![\w-])"
    )
    for text in all_texts(pods) if names else ():
        if found := hosts.search(text):
            return repr(found[0])
    own = any(variable.name in TOLD for variable in pods.variables(init=False))
    several = sum(item.count for item in job.pod_sets()) > 1
    return "the name of the first pod" if job.manifest.kind in OPERATED and several and not own else ""


def all_texts(pods: Pods) -> Iterator[str]:
    """Yield command lines and values of variables of the containers."""
    for _, container in pods.containers():
        for field in ("command", "args"):
            words = container.get(field)
            yield from (word for word in words if isinstance(word, str)) if isinstance(words, list) else ()
    yield from (variable.value or "" for variable in pods.variables())
