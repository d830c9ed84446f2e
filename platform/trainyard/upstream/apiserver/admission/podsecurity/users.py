"""The users that a pod runs as: `runAsNonRoot` and `runAsUser`.

Source: k8s.io/pod-security-admission v0.35.4 policy/check_runAsNonRoot.go, check_runAsUser.go.
"""

from __future__ import annotations

from trainyard.upstream.apiserver.admission.podsecurity.pods import Pod, Violation, name_some, setters
from trainyard.upstream.apiserver.core.shapes import number

_REASON = "runAsNonRoot != true"


def non_root(pod: Pod) -> Violation | None:
    """Ask that the pod, or each of its containers, says that it does not run as root, and none says it may."""
    allowing = [(owner, path) for owner, context, path in pod.contexts() if context.get("runAsNonRoot") is False]
    if allowing:
        detail = f"{setters(owner for owner, _ in allowing)} must not set securityContext.runAsNonRoot=false"
        return Violation(_REASON, detail, (*allowing[0][1], "runAsNonRoot"))
    if pod.security.get("runAsNonRoot") is True:
        return None
    silent = [container for container in pod.containers if container.security.get("runAsNonRoot") is None]
    if not silent:
        return None
    names = name_some("container", [container.name for container in silent])
    detail = f"pod or {names} must set securityContext.runAsNonRoot=true"
    return Violation(_REASON, detail, silent[0].at("runAsNonRoot"))


def not_zero(pod: Pod) -> Violation | None:
    """Refuse the user 0."""
    found = [(owner, path) for owner, context, path in pod.contexts() if number(context, "runAsUser") == 0]
    if not found:
        return None
    detail = f"{setters(owner for owner, _ in found)} must not set runAsUser=0"
    return Violation("runAsUser=0", detail, (*found[0][1], "runAsUser"))
