"""What Ray's kinds have in common: the specification of a cluster, and the pod that submits (kuberay v1.6.2)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.manifests import ANY
from trainyard.upstream.workloads.arriving import Added, Arriving
from trainyard.upstream.workloads.base import Object, Template, by_field, inner, number
from trainyard.upstream.workloads.variables import Variables

GROUP = "ray.io"
LISTS = {"workerGroupSpecs": ("groupName",)}
VOLUMES = ("shared-mem", "ray-logs")
"""What KubeRay mounts into every Ray container (ray-operator/controllers/ray/common/pod.go)."""

HEAD, SUBMITTER = "head", "submitter"
WAIT = {"cpu": "200m", "memory": "256Mi"}
"""What the init container asks for by which a worker waits for the head."""
IN_TREE = {amount: {"cpu": "500m", "memory": "512Mi"} for amount in ("requests", "limits")}
"""What the autoscaler beside the head gets unless its options say otherwise."""
SUBMITS = {"requests": {"cpu": "500m", "memory": "200Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}}
"""What the container gets that submits a job unless its pod says otherwise."""

OF_HEAD = frozenset(
    {
        "RAY_CLUSTER_NAME",
        "RAY_CLUSTER_NAMESPACE",
        "RAY_CLOUD_INSTANCE_ID",
        "RAY_NODE_TYPE_NAME",
        "KUBERAY_GEN_RAY_START_CMD",
        "RAY_PORT",
        "RAY_ADDRESS",
        "RAY_USAGE_STATS_KUBERAY_IN_USE",
        "RAY_USAGE_STATS_EXTRA_TAGS",
        "RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE",
    }
)
OF_WORKER = (OF_HEAD - {"RAY_USAGE_STATS_EXTRA_TAGS"}) | {"FQ_RAY_IP", "RAY_IP"}
OF_SUBMITTER = frozenset({"PYTHONUNBUFFERED", "RAY_DASHBOARD_ADDRESS", "RAY_JOB_SUBMISSION_ID"})
OTHERS = r"RAY_\w+|KUBERAY_\w+"

OF_CLUSTER = Variables(OF_WORKER, {"head": OF_HEAD}, OTHERS)
OF_JOB = Variables(OF_WORKER, {"head": OF_HEAD, "submitter": OF_SUBMITTER}, OTHERS)
"""Variables that the operator adds, whatever is there, or relies on."""


def of_group(group: Object) -> int:
    """Return the pods of a Ray worker group: replicas times hosts (kueue v0.19.2 pkg/controller/jobs/raycluster).

    Without replicas there are none: so the definitions of KubeRay 1.6.2 have it.
    """
    return max(0, number(group, "replicas", 0)) * max(1, number(group, "numOfHosts", 1))


def ray(*path: str) -> tuple[Template, ...]:
    """Return where the specification of a Ray cluster has its pods."""
    return (
        Template((*path, "headGroupSpec"), name="head"),
        Template((*path, "workerGroupSpecs", ANY), name=by_field("groupName"), count=of_group),
    )


def ray_job(*path: str) -> tuple[Template, ...]:
    """Return where a RayJob's specification has its pods; the submitter is one more."""
    submitter = Template(path, ("submitterPodTemplate",), "submitter")
    return (*ray(*path, "rayClusterSpec"), submitter)


def adding(*cluster: str) -> Arriving:
    """Return the containers that KubeRay adds to pods of a cluster whose specification is at a path.

    Source: ray-operator/controllers/ray/common/pod.go BuildAutoscalerContainer, common/job.go GetSubmitterTemplate.
    """

    def arriving(value: Object, pods: str) -> Iterator[Added]:
        """Yield the containers of a head beside Ray, and the init container by which workers wait for the head."""
        if pods == HEAD:
            yield from beside_head(inner(value, *cluster), inner(value, *cluster[:-1]) if len(cluster) > 1 else {})
        elif pods != SUBMITTER:
            yield Added("wait-gcs-ready", "initContainers", {"resources": {"requests": WAIT, "limits": WAIT}})

    return arriving


def beside_head(cluster: Object, job: Object) -> Iterator[Added]:
    """Yield the containers beside Ray's in a head's pod."""
    if cluster.get("enableInTreeAutoscaling"):
        options = inner(cluster, "autoscalerOptions")
        own = options.get("resources")
        security = {"securityContext": options["securityContext"]} if "securityContext" in options else {}
        fields = {"resources": IN_TREE if own is None else own, **security}
        yield Added("autoscaler", fields=fields, remedy="set securityContext in autoscalerOptions")
    if job.get("submissionMode") == "SidecarMode":
        yield Added("ray-job-submitter", fields={"resources": SUBMITS}, remedy="choose another submissionMode")
