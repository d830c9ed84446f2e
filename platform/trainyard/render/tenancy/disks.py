"""Local disk of pods: what they may use of their node's, quota counts.

The kubelet evicts a pod that has more in its empty folders, logs and writable layers together than its containers'
limits of ephemeral-storage allow, and Kueue counts the requests. One container with a limit is enough: what others use
counts against it too.
Facts: kubernetes v1.35.4 pkg/kubelet/eviction/eviction_manager.go podEphemeralStorageLimitEviction,
emptyDirLimitEviction; pkg/volume/emptydir.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.manifests import value_at
from trainyard.render.tenancy.amounts import amount
from trainyard.render.tenancy.fabric import of
from trainyard.render.tenancy.rights import inner
from trainyard.render.tenancy.shapes import About, Condition
from trainyard.upstream.pods.resources import EPHEMERAL_STORAGE as DISK
from trainyard.upstream.pods.resources import MEMORY


def is_counted(resources: Any) -> bool:
    """Whether resources request as much disk as their limit; without a limit they add nothing to what a pod may use."""
    limit, request = (value_at(resources, (key, DISK)) for key in ("limits", "requests"))
    if limit is None or request is None:
        return True
    most, least = amount(limit), amount(request)
    return most is not None and least is not None and most.amount == least.amount


def has_limit(resources: Any) -> bool:
    """Whether resources have a limit of disk."""
    limit = amount(value_at(resources, ("limits", DISK)))
    return limit is not None and limit.amount > 0


def is_limited(pod: Any, _about: About) -> bool:
    """Whether quota counts all the disk that a pod may use: limits of all containers add up, the fabric's too."""
    return any(has_limit(container.get("resources")) for container in of(pod, "containers")) and all(
        is_counted(container.get("resources"))
        for field in ("containers", "initContainers")
        for container in of(pod, field)
    )


def is_covered(resources: Any, _about: About) -> bool:
    """Whether quota counts all the disk of resources by themselves."""
    return has_limit(resources) and is_counted(resources)


def total(pod: Any, resource: str) -> float:
    """Return the amount of a resource that the containers of a pod may use together."""
    found = (amount(value_at(container, ("resources", "limits", resource))) for container in of(pod, "containers"))
    return sum(float(quantity.amount) for quantity in found if quantity is not None)


def folders(pod: Any) -> Iterator[tuple[float, str]]:
    """Yield how large each empty folder of a pod may be, with the resource that it takes; huge pages count by name."""
    for volume in of(pod, "volumes"):
        folder = inner(volume, "emptyDir")
        size, medium = amount(folder.get("sizeLimit")), folder.get("medium") or ""
        if size is not None and medium in ("", "Memory"):
            yield float(size.amount), MEMORY if medium else DISK


def fits(pod: Any, _about: About) -> bool:
    """Whether no empty folder may be larger than what the pod may use."""
    return all(size <= total(pod, resource) for size, resource in folders(pod))


def requests(x: str) -> str:
    """Return the condition in CEL that resources request as much disk as their limit."""
    limit, request = (f"{x}.?{key}[?'{DISK}']" for key in ("limits", "requests"))
    same = f"quantity(string({request}.value())).compareTo(quantity(string({limit}.value()))) == 0"
    return f"(!{limit}.hasValue() || !{request}.hasValue() || {same})"


def limits(x: str) -> str:
    """Return the condition in CEL that resources have a limit of disk."""
    limit = f"{x}.?limits[?'{DISK}']"
    return f"quantity(string({limit}.orValue('0'))).isGreaterThan(quantity('0'))"


def fitting_folders_cel(medium: str, resource: str) -> str:
    """Return the condition in CEL that empty folders of a medium fit into what a pod `{x}` may use of a resource."""
    limit = f"c.?resources.?limits[?'{resource}']"
    sum_ = (
        f"{{x}}.?containers.orValue([]).map(c, {limit}.hasValue(), "
        f"quantity(string({limit}.value())).asApproximateFloat()).sum()"
    )
    size = "quantity(string(v.emptyDir.sizeLimit)).asApproximateFloat()"
    return (
        f"{{x}}.?volumes.orValue([]).all(v, !v.?emptyDir.?sizeLimit.hasValue() || "
        f"v.emptyDir.?medium.orValue('') != '{medium}' || {size} <= {sum_})"
    )


ALL = "({x}.?containers.orValue([]) + {x}.?initContainers.orValue([]))"
LIMITED = Condition(
    is_limited,
    f"{{x}}.?containers.orValue([]).exists(c, {limits('c.?resources')}) && {ALL}.all(c, {requests('c.?resources')})",
    "pods have no limit of ephemeral-storage, or request less; set both to one value in at least one container",
    "resources",
    ("containers",),
)
FITTING = Condition(
    fits,
    f"{fitting_folders_cel('', DISK)} && {fitting_folders_cel('Memory', MEMORY)}",
    "an emptyDir may be larger than its pod's limits of ephemeral-storage or memory; lower its sizeLimit",
    "resources",
    ("volumes",),
)
CONDITIONS = (LIMITED, FITTING)
"""Of a pod."""

COVERS = Condition(
    is_covered,
    f"{limits('{x}')} && {requests('{x}')}",
    "the trainer has no limit of ephemeral-storage, or requests less; set both to one value",
    subject="resources",
)
"""Of a TrainJob's resources, which take the place of those of its runtime's container."""
