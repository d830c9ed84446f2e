"""What a container may do beyond a common process: privileges, capabilities, an unmasked /proc.

Source: k8s.io/pod-security-admission v0.35.4 policy/check_privileged.go, check_capabilities_*.go, check_procMount_*.go,
check_allowPrivilegeEscalation.go.
"""

from __future__ import annotations

from collections.abc import Collection

from trainyard.upstream.apiserver.admission.podsecurity.pods import Container, Pod, Violation, name_some, quote_words
from trainyard.upstream.apiserver.core.shapes import child, flag, inner, texts
from trainyard.upstream.apiserver.problems import Path

DEFAULT = frozenset(
    {
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
        *("SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    }
)
"""Capabilities that container runtimes give by default."""
ALL = "ALL"
BIND = frozenset({"NET_BIND_SERVICE"})


def check_privileged(pod: Pod) -> Violation | None:
    """Refuse privileged containers."""
    found = [container for container in pod.containers if flag(container.security, "privileged")]
    if not found:
        return None
    detail = f"{_named(found)} must not set securityContext.privileged=true"
    return Violation("privileged", detail, found[0].at("privileged"))


def escalation(pod: Pod) -> Violation | None:
    """Ask of every container that it says it gains no privileges."""
    found = [
        container for container in pod.containers if container.security.get("allowPrivilegeEscalation") is not False
    ]
    if not found:
        return None
    detail = f"{_named(found)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", detail, found[0].at("allowPrivilegeEscalation"))


def proc_mount(pod: Pod) -> Violation | None:
    """Refuse an unmasked /proc."""
    found = [container for container in pod.containers if container.security.get("procMount") not in (None, "Default")]
    if not found:
        return None
    kinds = sorted({str(container.security["procMount"]) for container in found})
    detail = f"{_named(found)} must not set securityContext.procMount to {quote_words(kinds)}"
    return Violation("procMount", detail, found[0].at("procMount"))


def default_capabilities(pod: Pod) -> Violation | None:
    """Refuse capabilities beyond those that runtimes give by default."""
    adding, added, place = _adding(pod, DEFAULT)
    if place is None:
        return None
    return Violation("non-default capabilities", _must_not_add(adding, added), place)


def dropped_capabilities(pod: Pod) -> Violation | None:
    """Ask of every container that it drops all capabilities, and adds none but to bind low ports."""
    keeping = [container for container in pod.containers if ALL not in dict(_listed(container, "drop")).values()]
    adding, added, place = _adding(pod, BIND)
    details = []
    if keeping:
        details.append(f'{_named(keeping)} must set securityContext.capabilities.drop=["ALL"]')
        place = keeping[0].at("capabilities", "drop")
    if adding:
        details.append(_must_not_add(adding, added))
    return Violation("unrestricted capabilities", "; ".join(details), place) if place is not None else None


def _adding(pod: Pod, allowed: Collection[str]) -> tuple[list[Container], list[str], Path | None]:
    """Return the containers that add capabilities beyond those allowed, which, and where the first stands."""
    found = [
        (container, index, name)
        for container in pod.containers
        if child(container.security, "capabilities") is not None
        for index, name in _listed(container, "add")
        if name not in allowed
    ]
    owners = {container.path: container for container, _, _ in found}
    place = found[0][0].at("capabilities", "add", found[0][1]) if found else None
    return [*owners.values()], sorted({name for _, _, name in found}), place


def _listed(container: Container, verb: str) -> Collection[tuple[int, str]]:
    return texts(inner(container.security, "capabilities"), verb)


def _must_not_add(containers: Collection[Container], added: Collection[str]) -> str:
    return f"{_named(containers)} must not include {quote_words(added)} in securityContext.capabilities.add"


def _named(containers: Collection[Container]) -> str:
    return name_some("container", [container.name for container in containers])
