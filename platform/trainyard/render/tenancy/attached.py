"""What attaches pods to a fabric, given only with what quota counts: whole nodes' GPUs, or a device for each network.

Some controllers turn annotations into devices when a pod is made, after Kueue has counted what its template requests:
GKE's webhook and device injector, and the network resources injector of SR-IOV.
Facts: GoogleCloudPlatform/container-engine-accelerators 2026-06 gpudirect-tcpxo;
k8snetworkplumbingwg/network-resources-injector v1.8.1 pkg/webhook/webhook.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.base.labels import NETWORKS
from trainyard.render.tenancy.amounts import amount
from trainyard.render.tenancy.fabric import of
from trainyard.render.tenancy.rights import inner
from trainyard.render.tenancy.shapes import About, Condition

Limits = Mapping[str, Any]

MANY = 1_000_000
"""More devices than any node has."""


def asked_devices(limits: Iterable[Limits], resource: str) -> int:
    """Return how many of a device containers have; quota counts the sum of their limits."""
    found = (amount(limit.get(resource)) for limit in limits)
    return sum(int(problem.amount) if problem.amount < MANY else MANY for problem in found if problem is not None)


def cel_asked(limits: str, resource: str) -> str:
    """Return the same in CEL, of an expression with the limits of containers."""
    count = f"quantity(string(m[{resource}])).asInteger()"
    return f"{limits}.map(m, {resource} in m, {count}).sum()"


def is_attached(notes: Mapping[str, Any], about: About) -> bool:
    """Whether annotations attach a pod to a fabric of whole nodes."""
    return any(key in notes for key in about.allowance.lists["attaching"])


def has_whole_node(limits: list[Limits], about: About) -> bool:
    """Whether containers have all GPUs of a node on the fabric."""
    pairs = (wholenode.split("=") for wholenode in about.allowance.lists["wholenodes"])
    return any(asked_devices(limits, resource) >= int(count) for resource, count in pairs)


def has_devices(notes: Mapping[str, Any], limits: list[Limits], about: About) -> bool:
    """Whether containers have a device for each network of device type that the pod names."""
    rails = about.allowance.lists["rails"]
    named = str(notes.get(NETWORKS) or "").split(",") if rails else []
    return all(
        sum(f"{network}={resource}" in rails for network in named) <= asked_devices(limits, resource)
        for resource in {rail.partition("=")[2] for rail in rails}
    )


def cel_attached(notes: str) -> str:
    """Return the condition in CEL that annotations attach a pod to a fabric of whole nodes."""
    return f"{notes}.exists(a, a in variables.attaching)"


def cel_whole(limits: str) -> str:
    """Return the condition in CEL that containers with such limits have all GPUs of a node on the fabric."""
    count = cel_asked(limits, "w.split('=')[0]")
    return f"variables.wholenodes.exists(w, {count} >= int(w.split('=')[1]))"


def cel_devices(notes: str, limits: str) -> str:
    """Return the condition in CEL that containers have a device for each network of device type."""
    named = f"{notes}[?'{NETWORKS}'].orValue('').split(',')"
    resource = "r.split('=')[1]"
    count = f"{named}.filter(n, n + '=' + {resource} in variables.rails).size()"
    return f"variables.rails.all(r, {count} <= {cel_asked(limits, resource)})"


def limits_of(pod: Any) -> list[Limits]:
    """Return the limits of a pod's containers."""
    return [inner(inner(container, "resources"), "limits") for container in of(inner(pod, "spec"), "containers")]


def notes_of(pod: Any) -> Mapping[str, Any]:
    """Return the annotations of a template."""
    return inner(inner(pod, "metadata"), "annotations")


NOTES = "{x}.?metadata.?annotations.orValue({})"
LIMITS = "{x}.?spec.?containers.orValue([]).map(c, c.?resources.?limits.orValue({}))"
ON_NODE = "{x}.?spec.?hostNetwork.orValue(false) == true"

WHOLE = Condition(
    lambda pod, about: (
        not about.allowance.lists["wholenodes"]
        or not (is_attached(notes_of(pod), about) or inner(pod, "spec").get("hostNetwork") is True)
        or has_whole_node(limits_of(pod), about)
    ),
    f"size(variables.wholenodes) == 0 || !({cel_attached(NOTES)} || {ON_NODE}) || {cel_whole(LIMITS)}",
    "pods are on the fabric without all GPUs of a node; request all of them, or use fabric: tcp",
    "device",
    ("metadata", "annotations"),
)
DEVICES = Condition(
    lambda pod, about: has_devices(notes_of(pod), limits_of(pod), about),
    cel_devices(NOTES, LIMITS),
    "pods name more networks than they request devices of; request a device for each network",
    "device",
    ("metadata", "annotations"),
)
CONDITIONS = (WHOLE, DEVICES)
"""Of a pod template."""


def patched_jobs(trainjob: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the jobs of a runtime whose pods a TrainJob patches, each with the pods' annotations."""
    for patch in of(trainjob, "runtimePatches"):
        template = inner(inner(patch, "trainingRuntimeSpec"), "template")
        for job in of(inner(template, "spec"), "replicatedJobs"):
            pod = inner(inner(inner(job, "template"), "spec"), "template")
            yield str(job.get("name")), notes_of(pod)
