"""A container with AMD GPUs whose user is not root is in the group that may open them.

Why: Debian and Ubuntu make /dev/kfd and /dev/dri/renderD* for root and the group render alone; HIP then finds no
 device, and the job fails at its first call.
Fix: write supplementalGroups with the gid of render on the nodes; or open the devices there by a udev rule, and waive.
Source: ROCm/k8s-device-plugin issue 39; containerd docs/cri/config.md device_ownership_from_security_context
"""

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Pods, Problem, Severity, World

SEVERITY = Severity.WARNING
DEVICE = "amd.com/gpu"


def check(world: World) -> Iterator[Problem]:
    """Look at pods on nodes that nobody describes; a pool says itself who may open its devices."""
    for job in () if world.inventory is not None else world.workloads():
        for pods in job.pod_sets():
            asked = pods.needs.get(DEVICE)
            if asked and asked.amount and not is_root(pods) and not groups(pods):
                message = (
                    f"{DEVICE} is requested by a user that is not root and in no group; add the nodes' render group"
                )
                yield Problem(asked.place, message)


def groups(pods: Pods) -> bool:
    """Say whether the pod is in groups beside the user's own: any of them may be the right one."""
    return bool(context(pods.spec).get("supplementalGroups"))


def is_root(pods: Pods) -> bool:
    """Say whether a container may run as root: nothing says that it does not."""
    of_pod = context(pods.spec)
    for _, container in pods.containers(init=False):
        own = context(container)
        user = own.get("runAsUser", of_pod.get("runAsUser"))
        if own.get("privileged") is True or user == 0:
            return True
        if user is None and own.get("runAsNonRoot", of_pod.get("runAsNonRoot")) is not True:
            return True
    return False


def context(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a security context, an empty one where there is none."""
    found = value.get("securityContext")
    return found if isinstance(found, dict) else {}
