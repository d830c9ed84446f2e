"""Profiles that confine a pod: seccomp, SELinux and AppArmor, as fields and as the annotations before them.

Source: k8s.io/pod-security-admission v0.35.4 policy/check_seccompProfile_*.go, check_seLinuxOptions.go,
check_appArmorProfile.go; annotations of AppArmor become fields in k8s.io/kubernetes v1.35.4
pkg/registry/core/pod/strategy.go applyAppArmorVersionSkew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trainyard.upstream.apiserver.admission.podsecurity.pods import (
    Container,
    Pod,
    Violation,
    annotation,
    name_some,
    plural,
    quote_words,
    setters,
)
from trainyard.upstream.apiserver.core.shapes import Object, child, inner, text
from trainyard.upstream.apiserver.problems import Path

_CONFINED = ("Localhost", "RuntimeDefault")
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_TYPES = frozenset({"", "container_t", "container_init_t", "container_kvm_t"})
"""SELinux types that confine a container."""
_ENGINE = frozenset({"container_engine_t"})
"""The type that was added for engines that run inside containers, in 1.31."""


def seccomp_annotations(pod: Pod) -> Violation | None:
    """Refuse annotations that ask for no seccomp profile, as it was before there were fields."""
    keys = [_SECCOMP_POD, *(_SECCOMP + container.name for container in pod.containers)]
    found = {key: pod.annotations[key] for key in keys if key in pod.annotations}
    wrong = {
        key: value
        for key, value in found.items()
        if value not in ("runtime/default", "docker/default") and not value.startswith("localhost/")
    }
    if not wrong:
        return None
    listed = sorted(annotation(key, value) for key, value in wrong.items())
    detail = f"forbidden {plural('annotation', len(wrong))} {', '.join(listed)}"
    return Violation("seccompProfile", detail, (*pod.path, "metadata", "annotations", next(iter(wrong))))


def seccomp(pod: Pod) -> Violation | None:
    """Refuse seccomp profiles other than the runtime's and those on the node."""
    wrong = [
        (owner, text(profile, "type"), path)
        for owner, profile, path in _profiles(pod, "seccompProfile")
        if profile.get("type") not in _CONFINED
    ]
    if not wrong:
        return None
    kinds = sorted({kind for _, kind, _ in wrong})
    who = setters(owner for owner, _, _ in wrong)
    detail = f"{who} must not set securityContext.seccompProfile.type to {quote_words(kinds)}"
    return Violation("seccompProfile", detail, (*wrong[0][2], "type"))


def seccomp_set(pod: Pod) -> Violation | None:
    """Refuse the same, and ask that the pod or each of its containers names a profile."""
    found = seccomp(pod)
    if found is not None or child(pod.security, "seccompProfile") is not None:
        return found
    silent = [container for container in pod.containers if child(container.security, "seccompProfile") is None]
    if not silent:
        return None
    names = name_some("container", [container.name for container in silent])
    detail = f'pod or {names} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return Violation("seccompProfile", detail, silent[0].at("seccompProfile", "type"))


def se_linux(*, engine: bool) -> Callable[[Pod], Violation | None]:
    """Return the check that refuses users, roles and types of SELinux that do not confine."""
    allowed = _TYPES | _ENGINE if engine else _TYPES

    def check(pod: Pod) -> Violation | None:
        wrong = [
            (owner, options, path)
            for owner, options, path in _profiles(pod, "seLinuxOptions")
            if text(options, "type") not in allowed or text(options, "user") or text(options, "role")
        ]
        if not wrong:
            return None
        types = sorted({text(options, "type") for _, options, _ in wrong} - allowed)
        data = [name_some("type", types)] if types else []
        data += [f"{key} may not be set" for key in ("user", "role") if any(text(finding[1], key) for finding in wrong)]
        who = setters(owner for owner, _, _ in wrong)
        _, options, path = wrong[0]
        field = "type" if text(options, "type") not in allowed else "user" if text(options, "user") else "role"
        detail = f"{who} set forbidden securityContext.seLinuxOptions: {'; '.join(data)}"
        return Violation("seLinuxOptions", detail, (*path, field))

    return check


def app_armor(pod: Pod) -> Violation | None:
    """Refuse to go without AppArmor, in fields and in annotations."""
    wrong = [
        (owner, text(profile, "type"), path)
        for owner, profile, path in _armored(pod)
        if profile.get("type") not in _CONFINED
    ]
    annotated = {
        key: value
        for key, value in pod.annotations.items()
        if key.startswith(_APP_ARMOR) and value not in ("", "runtime/default") and not value.startswith("localhost/")
    }
    if not wrong and not annotated:
        return None
    kinds = sorted({kind for _, kind, _ in wrong})
    kinds += sorted(annotation(key, value) for key, value in annotated.items())
    who = [setters(owner for owner, _, _ in wrong)] if wrong else []
    who += [plural("annotation", len(annotated))] if annotated else []
    detail = f"{' and '.join(who)} must not set AppArmor profile type to {quote_words(kinds)}"
    place = (*pod.path, "metadata", "annotations", next(iter(annotated))) if annotated else (*wrong[0][2], "type")
    return Violation(plural("forbidden AppArmor profile", len(kinds)), detail, place)


def _armored(pod: Pod) -> Iterator[tuple[Container | None, Object, Path]]:
    """Yield the AppArmor profiles of the pod and its containers, with those that annotations become."""
    for owner, context, path in pod.contexts():
        profile = child(context, "appArmorProfile")
        if profile is None and owner is not None and not pod.is_windows:
            profile = _annotated(pod, owner)
        if profile is not None:
            yield owner, profile, (*path, "appArmorProfile")


def _annotated(pod: Pod, container: Container) -> Object | None:
    value = pod.annotations.get(_APP_ARMOR + container.name)
    if value == "unconfined" and inner(pod.security, "appArmorProfile").get("type") != "Unconfined":
        return {"type": "Unconfined"}
    return None


def _profiles(pod: Pod, field: str) -> Iterator[tuple[Container | None, Object, Path]]:
    for owner, context, path in pod.contexts():
        profile = child(context, field)
        if profile is not None:
            yield owner, profile, (*path, field)
