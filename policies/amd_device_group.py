"""A pod that uses AMD GPUs as a non-root user must set supplementalGroups.

Why: On Debian and Ubuntu only root and the group render may open /dev/kfd and /dev/dri/renderD*. Without that group HIP
 finds no GPU, and the job fails at its first call.
Fix: set supplementalGroups to the gid of the group render on the nodes; if a udev rule opens the devices, waive this.
Source: ROCm/k8s-device-plugin issue 39; containerd docs/cri/config.md device_ownership_from_security_context
"""

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Pods, Problem, Queues, Severity, World

SEVERITY = Severity.WARNING
DEVICE = "amd.com/gpu"

OPEN = ("open", "udev")
"""What pools say whose nodes open the devices to every user."""


def check(world: World) -> Iterator[Problem]:
    """Check pods that nobody renders; of a described pool `deviceAccess` says who may open its devices."""
    queues = Queues(world)
    for job in world.workloads():
        if world.renders(job):
            continue
        for pods in job.pod_sets():
            need = pods.needs.get(DEVICE)
            if not need or not need.amount or is_root(pods) or has_groups(pods):
                continue
            access = [pool_access(world, name) for name in queues.pools(job, pods, frozenset({DEVICE}))]
            if any(one in OPEN for one in access):
                continue
            groups = sorted({gid for one in access if isinstance(one, tuple) for gid in one})
            gids = ", ".join(map(str, groups)) if groups else "the gid of the nodes' render group"
            message = f"{DEVICE} is requested by a non-root user without supplementalGroups; add {gids}"
            yield Problem(need.place, message)


def pool_access(world: World, name: str | None) -> object:
    """Return who may open the devices of a described pool, as its file says; None where nothing does."""
    return world.inventory.pools[name].device_access if world.inventory is not None and name else None


def has_groups(pods: Pods) -> bool:
    """Say whether the pod has supplemental groups: any of them may be the right one."""
    return bool(security_context(pods.spec).get("supplementalGroups"))


def is_root(pods: Pods) -> bool:
    """Say whether a container may run as root: it does, or no field says that it does not."""
    of_pod = security_context(pods.spec)
    for _, container in pods.containers(init=False):
        own = security_context(container)
        user = own.get("runAsUser", of_pod.get("runAsUser"))
        if own.get("privileged") is True or user == 0:
            return True
        if user is None and own.get("runAsNonRoot", of_pod.get("runAsNonRoot")) is not True:
            return True
    return False


def security_context(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a security context; empty if there is none."""
    found = value.get("securityContext")
    return found if isinstance(found, dict) else {}
