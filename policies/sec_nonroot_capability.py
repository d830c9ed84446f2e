"""A capability is not added to a container whose user is not root.

Why: the runtime clears the ambient set, so what is added is gone when the program starts; the manifest grants what the
 process does not have, and a namespace was opened for nothing.
Fix: do it on the node: locked memory, rights of devices, sysctls; or run that container as root on purpose.
Source: containerd v2.2 internal/cri/server/container_create.go WithoutAmbientCaps; kubernetes issue 56374
"""

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Pods, Problem, Severity, World

HARMLESS = {"NET_BIND_SERVICE"}
"""Any user may bind any port in a pod's network: runtimes begin unprivileged ports at 0."""


def check(world: World) -> Iterator[Problem]:
    """Look at what every container of whatever trains is given, and as whom it runs."""
    for job in world.workloads():
        for pods in job.pod_sets():
            for path, container in pods.containers():
                yield from lost(pods, path, mapping(container.get("securityContext")))


def lost(pods: Pods, path: tuple[str | int, ...], context: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a capability that a user other than root loses; with new privileges allowed, a file may still bring it."""
    user = other_user(context, mapping(pods.spec.get("securityContext")))
    if user is None or context.get("privileged") is True:
        return
    closed = context.get("allowPrivilegeEscalation") is False
    for at, name in pods.manifest.at(*path, "securityContext", "capabilities", "add", "*", of=str):
        if name.removeprefix("CAP_") not in HARMLESS:
            place = pods.place(*at[len(pods.template) :])
            message = f"{name} is added, but {user} loses it when the program starts; remove it"
            yield Problem(place, message, severity=None if closed else Severity.WARNING)


def other_user(context: Mapping[str, Any], of_pod: Mapping[str, Any]) -> str | None:
    """Return as whom a container runs that is not root, None where it is root or that is not said."""
    user = context.get("runAsUser", of_pod.get("runAsUser"))
    if isinstance(user, int):
        return f"user {user}" if user else None
    return "a user that is not root" if context.get("runAsNonRoot", of_pod.get("runAsNonRoot")) is True else None


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping as it is, and anything else as an empty one."""
    return value if isinstance(value, dict) else {}
