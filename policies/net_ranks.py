"""NetworkPolicies let the ranks of a job resolve each other's names, and connect to each other.

Why: A pod that policies select may do only what one of them allows. Without DNS over UDP no name resolves, and without
 its own peers no connection opens: all ranks wait for the first one until they time out.
Fix: allow egress to port 53 by UDP and TCP, and egress and ingress between the pods of the namespace (podSelector: {}).
Source: kubernetes v1.35 staging/src/k8s.io/api/networking/v1/types.go; pkg/apis/networking/v1/defaults.go
"""

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import (
    Manifest,
    Place,
    Pods,
    Problem,
    Severity,
    TrainingJob,
    World,
    gangs,
    is_gpu,
    strings,
    traffic,
)

SEVERITY = Severity.WARNING

MEETING = frozenset(
    (
        *("PyTorchJob", "TFJob", "MPIJob", "JAXJob", "PaddleJob", "XGBoostJob", "TrainJob", "JobSet"),
        *("RayJob", "RayCluster", "LeaderWorkerSet"),
    )
)
"""Kinds whose pods find each other by names of their operator; others are looked at where a launcher tells of nodes."""

ANY_PORT = frozenset({"PyTorchJob", "JAXJob", "MPIJob", "PaddleJob"})
"""Kinds whose programs listen at ports that the kernel chooses (NCCL 2.30 user guide, NCCL_SOCKET_IFNAME; gloo tcp)."""


def check(world: World) -> Iterator[Problem]:
    """Look at the policies that select pods of each job, in its namespace; of several jobs the first is named."""
    policies = world.of("NetworkPolicy", group="networking.k8s.io")
    said: set[tuple[int, str]] = set()
    for job in world.training_jobs() if policies else ():
        here = [policy for policy in policies if (policy.namespace or "default") == job.namespace]
        sets = [pods for pods in job.pod_sets() if pods.count and not pods.spec.get("hostNetwork")]
        if here and sum(pods.count for pods in sets) > 1 and meets(job, sets):
            for pods in sets:
                for problem in between(job, pods, sets, here):
                    key = (id(problem.place.manifest), problem.message.replace(ref_of(job), ""))
                    if key not in said:
                        said.add(key)
                        yield problem


def meets(job: TrainingJob, sets: list[Pods]) -> bool:
    """Whether the pods of a job talk to each other."""
    return job.manifest.kind in MEETING or any(True for pods in sets for _ in gangs(pods))


def between(job: TrainingJob, pods: Pods, sets: list[Pods], policies: list[Manifest]) -> Iterator[Problem]:
    """Yield the obstacles between pods of a job and names or each other, at the first policy that selects them."""
    labels = labels_of(pods)
    ref = ref_of(job)
    for direction in ("Egress", "Ingress"):
        limiting = [policy for policy in policies if traffic.limits(spec_of(policy), direction)]
        sure = [policy for policy in limiting if traffic.selects(spec_of(policy), labels)]
        if not sure:
            continue
        may = [policy for policy in limiting if traffic.may_select(spec_of(policy).get("podSelector"), labels)]
        rules = [(policy, rule) for policy in may for rule in traffic.rules(spec_of(policy), direction)]
        place = Place(sure[0], ("spec", direction.lower()), key=True)
        if direction == "Egress" and not any(traffic.may_ask_names(rule, job.namespace) for _, rule in rules):
            by_tcp = next((item for item in rules if traffic.asks_names(item[1], job.namespace)), None)
            yield (
                tcp_alone(*by_tcp, ref)
                if by_tcp
                else Problem(place, f"pods of {ref} may not ask DNS; allow port 53 by UDP")
            )
        yield from apart(job, sets, direction, rules, place)


def apart(
    job: TrainingJob, sets: list[Pods], direction: Any, rules: list[tuple[Manifest, Mapping[str, Any]]], place: Place
) -> Iterator[Problem]:
    """Yield a job whose pods no rule lets connect to each other, or at a few ports only."""
    ref = ref_of(job)
    peers = [traffic.Pod(job.namespace, labels_of(other)) for other in sets]
    passing = [
        rule for _, rule in rules if any(traffic.may_pass(rule, direction, job.namespace, peer) for peer in peers)
    ]
    ports = [traffic.few_ports(rule) for rule in passing]
    if all(found and set(found) <= set(traffic.DNS) for found in ports):
        way = "connect to" if direction == "Egress" else "accept connections of"
        message = f"pods of {ref} may not {way} each other; allow {direction.lower()} between them"
        yield Problem(place, message)
    elif all(ports) and (job.manifest.kind in ANY_PORT or any(launches(other) for other in sets)):
        listed = ", ".join(map(str, sorted({port for found in ports for port in found} - set(traffic.DNS))[:3]))
        message = f"pods of {ref} reach each other only at port {listed}, but NCCL and Gloo use any; remove ports"
        yield Problem(place, message)


def launches(pods: Pods) -> bool:
    """Whether a launcher starts ranks of several pods with GPUs, which NCCL connects."""
    return any(map(is_gpu, pods.needs)) and any(True for _ in gangs(pods))


def tcp_alone(policy: Manifest, rule: Mapping[str, Any], ref: str) -> Problem:
    """Return the problem with a rule that lets pods ask names by TCP only, at its first port for DNS."""
    index = list(traffic.rules(spec_of(policy), "Egress")).index(rule)
    ports = traffic.ports_of(rule)
    at = next((number for number, port in enumerate(ports) if traffic.port_has(port, None)), 0)
    message = f"pods of {ref} may ask DNS by TCP only, but resolvers use UDP; add protocol: UDP"
    return Problem(Place(policy, ("spec", "egress", index, "ports", at)), message)


def ref_of(job: TrainingJob) -> str:
    """Return kind and name of a job."""
    return f"{job.manifest.kind} {job.name!r}"


def spec_of(policy: Manifest) -> Mapping[str, Any]:
    """Return the spec of a policy."""
    found = policy.get("spec")
    return found if isinstance(found, Mapping) else {}


def labels_of(pods: Pods) -> dict[str, str]:
    """Return the labels of a template that are strings."""
    return dict(strings(pods.manifest.get(*pods.template, "metadata", "labels")))
