"""A container that does not run as root must not add capabilities.

Why: The container runtime clears ambient capabilities, so the program starts without them. The namespace had to allow a
 privilege that no process gets. Where privilege escalation is allowed, a file of the image may still bring it: then
 this is a warning.
Fix: remove the capability and prepare the node (locked memory, device permissions, sysctls), or run that container
 as root on purpose.
Source: containerd v2.2 internal/cri/server/container_create.go WithoutAmbientCaps; kubernetes issue 56374
"""

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Pods, Problem, Severity, World, mapping

HARMLESS = {"NET_BIND_SERVICE"}
"""Any user may bind any port in a pod's network: runtimes begin unprivileged ports at 0."""


def check(world: World) -> Iterator[Problem]:
    """Check the capabilities and the user of every container."""
    for job in world.workloads():
        for pods in job.pod_sets():
            for path, container in pods.containers():
                yield from lost_capabilities(pods, path, mapping(container.get("securityContext")))


def lost_capabilities(pods: Pods, path: tuple[str | int, ...], context: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield capabilities that a non-root user loses; with privilege escalation, a file may still bring them."""
    user = non_root_user(context, mapping(pods.spec.get("securityContext")))
    if user is None or context.get("privileged") is True:
        return
    no_escalation = context.get("allowPrivilegeEscalation") is False
    for at, name in pods.manifest.at(*path, "securityContext", "capabilities", "add", "*", of=str):
        if name.removeprefix("CAP_") not in HARMLESS:
            place = pods.place(*at[len(pods.template) :])
            message = f"capability {name} is added, but {user} loses it when the program starts; remove it"
            yield Problem(place, message, severity=None if no_escalation else Severity.WARNING)


def non_root_user(context: Mapping[str, Any], of_pod: Mapping[str, Any]) -> str | None:
    """Return the non-root user of a container, None if it is root or unknown."""
    user = context.get("runAsUser", of_pod.get("runAsUser"))
    if isinstance(user, int):
        return f"user {user}" if user else None
    return "a non-root user" if context.get("runAsNonRoot", of_pod.get("runAsNonRoot")) is True else None
