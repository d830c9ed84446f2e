"""Security contexts of pods and containers, profiles, sysctls, and what an operating system does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.upstream.apiserver.core.pods import paths
from trainyard.upstream.apiserver.core.pods.rules import OS, SECURITY, SYSCTL
from trainyard.upstream.apiserver.core.pods.windows import check_windows_options
from trainyard.upstream.apiserver.core.shapes import Object, child, each, flag, inner, number, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem

_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_SEGMENT = "[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?"
_sysctl = re.compile(rf"(?:{_SEGMENT}[./])*{_SEGMENT}").fullmatch
_NOT_ON_WINDOWS = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "runAsUser",
    "runAsGroup",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
)
_NOT_ON_WINDOWS_CONTAINERS = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
)
_IPC_NAMES = "sem shm shmall shmmax shmmni shm_rmid_forced msg msgmax msgmnb msgmni"
_IPC = frozenset(f"kernel.{name}" for name in _IPC_NAMES.split())
_CHOICES = {
    "fsGroupChangePolicy": ("Always", "OnRootMismatch"),
    "supplementalGroupsPolicy": ("Merge", "Strict"),
}


def check_container_security(context: Object, path: Path, *, host_users: bool) -> Iterator[Problem]:
    """Yield the problems with a container's security context; `host_users` is false in a user namespace."""
    yield from _check_ids(context, path, ("runAsUser", "runAsGroup"))
    mount = context.get("procMount")
    if mount is not None:
        if mount not in ("Default", "Unmasked"):
            yield SECURITY.unsupported((*path, "procMount"), mount, ("Default", "Unmasked"))
        if host_users and mount == "Unmasked":
            yield SECURITY.invalid((*path, "procMount"), mount, "hostUsers must be false to use Unmasked")
    if context.get("allowPrivilegeEscalation") is False:
        if flag(context, "privileged"):
            yield SECURITY.invalid(
                path, True, "privileged: true cannot be combined with allowPrivilegeEscalation: false"
            )
        if any(name == "CAP_SYS_ADMIN" for _, name in texts(inner(context, "capabilities"), "add")):
            yield SECURITY.invalid(path, "CAP_SYS_ADMIN", "cannot be combined with allowPrivilegeEscalation: false")
    yield from _check_profiles(context, path)


def check_pod_security(spec: Object, path: Path, *, any_selinux_policy: bool = False) -> Iterator[Problem]:
    """Yield the problems with the pod's security context; the gate SELinuxMount is off, but for what is there."""
    if (context := child(spec, "securityContext")) is None:
        return
    at = (*path, "securityContext")
    yield from _check_ids(context, at, ("fsGroup", "runAsUser", "runAsGroup"))
    groups = context.get("supplementalGroups")
    for index, group in enumerate(groups if type(groups) is list else ()):
        if detail := names.user_id(group):
            yield SECURITY.invalid((*at, "supplementalGroups", index), group, detail)
    if flag(spec, "shareProcessNamespace") and flag(spec, "hostPID"):
        yield SECURITY.invalid((*path, "shareProcessNamespace"), True, "cannot be set with hostPID: true")
    yield from _check_sysctls(spec, context, (*at, "sysctls"))
    selinux = ("MountOption", "Recursive") if any_selinux_policy else ("Recursive",)
    for field, choices in {**_CHOICES, "seLinuxChangePolicy": selinux}.items():
        value = context.get(field)
        if value is not None and value not in choices:
            yield SECURITY.unsupported((*at, field), value, choices)
    yield from _check_profiles(context, at)


def _check_ids(context: Object, path: Path, fields: tuple[str, ...]) -> Iterator[Problem]:
    for field in fields:
        value = number(context, field)
        if value is not None and (detail := names.user_id(value)):
            yield SECURITY.invalid((*path, field), value, detail)


def _check_profiles(context: Object, path: Path) -> Iterator[Problem]:
    if (profile := child(context, "seccompProfile")) is not None:
        yield from _check_profile(profile, (*path, "seccompProfile"), _seccomp_path(profile))
    if (profile := child(context, "appArmorProfile")) is not None:
        yield from _check_profile(profile, (*path, "appArmorProfile"), _app_armor_path(profile))
    if (options := child(context, "windowsOptions")) is not None:
        yield from check_windows_options(options, (*path, "windowsOptions"))


def _seccomp_path(profile: Object) -> str | None:
    return paths.check_descending(profile.get("localhostProfile"))


def _app_armor_path(profile: Object) -> str | None:
    name = text(profile, "localhostProfile")
    if name != name.strip():
        return "must not be padded with whitespace"
    if not name:
        return "must be set when the type is Localhost"
    return "must be at most 4095 bytes" if names.size(name) > 4095 else None


def _check_profile(profile: Object, path: Path, detail: str | None) -> Iterator[Problem]:
    kind, name = profile.get("type"), profile.get("localhostProfile")
    if not kind:
        yield SECURITY.required((*path, "type"), "a profile has a type")
    elif kind not in _PROFILES:
        yield SECURITY.unsupported((*path, "type"), kind, _PROFILES)
    if kind == "Localhost":
        if name is None:
            yield SECURITY.required((*path, "localhostProfile"), "must be set when the type is Localhost")
        elif detail:
            yield SECURITY.invalid((*path, "localhostProfile"), name, detail)
    elif name is not None and (kind in _PROFILES or path[-1] == "seccompProfile"):
        yield SECURITY.invalid((*path, "localhostProfile"), name, "can only be set when the type is Localhost")


def _check_sysctls(spec: Object, context: Object, path: Path) -> Iterator[Problem]:
    seen = set()
    for index, sysctl in each(context, "sysctls"):
        name = text(sysctl, "name")
        at = (*path, index, "name")
        if not name:
            yield SYSCTL.required(at)
        elif len(name) > 253 or not _sysctl(name):
            yield SYSCTL.invalid(at, name, "must be lower case parts joined by '.' or '/', at most 253 characters")
        elif name in seen:
            yield SYSCTL.duplicate(at, name)
        seen.add(name)
        kind = namespace_of(name)
        if (kind == "net" and flag(spec, "hostNetwork")) or (kind == "ipc" and flag(spec, "hostIPC")):
            yield SYSCTL.invalid(at, name, f"may not be set in the host's {kind} namespace")


def namespace_of(sysctl: str) -> str | None:
    """The namespace that a sysctl belongs to: `ipc`, `net` or none.

    Source: k8s.io/component-helpers v0.35.4 node/util/sysctl/namespace.go.
    """
    name = _dotted(sysctl)
    if name in _IPC or name.startswith("fs.mqueue."):
        return "ipc"
    return "net" if name.startswith("net.") else None


def _dotted(name: str) -> str:
    first = next((char for char in name if char in "./"), "")
    return name.translate({46: "/", 47: "."}) if first == "/" else name


def check_os(spec: Object, path: Path, containers: list[tuple[Path, Object]]) -> Iterator[Problem]:
    """Yield an unknown operating system, and fields that the named one does not have."""
    if (os := child(spec, "os")) is None:
        return
    name = os.get("name")
    if not name:
        yield OS.required((*path, "os", "name"))
    elif name == "linux":
        for at, context in _contexts(spec, path, containers):
            if context.get("windowsOptions") is not None:
                yield OS.forbidden((*at, "windowsOptions"), "cannot be set for a linux pod")
    elif name == "windows":
        yield from _check_windows_pod(spec, path)
        for at, container in containers:
            context = inner(container, "securityContext")
            yield from _forbid(context, (*at, "securityContext"), _NOT_ON_WINDOWS_CONTAINERS)
    else:
        yield OS.unsupported((*path, "os"), name, ("linux", "windows"))


def _contexts(spec: Object, path: Path, containers: list[tuple[Path, Object]]) -> Iterator[tuple[Path, Object]]:
    for at, owner in [(path, spec), *containers]:
        if (context := child(owner, "securityContext")) is not None:
            yield (*at, "securityContext"), context


def _check_windows_pod(spec: Object, path: Path) -> Iterator[Problem]:
    context = inner(spec, "securityContext")
    yield from _forbid(context, (*path, "securityContext"), _NOT_ON_WINDOWS)
    for field in ("sysctls", "supplementalGroups"):
        value: Any = context.get(field)
        if value or (field == "supplementalGroups" and value is not None):
            yield OS.forbidden((*path, "securityContext", field), "cannot be set for a windows pod")
    yield from _forbid(spec, path, ("hostUsers", "shareProcessNamespace"))
    for field in ("hostPID", "hostIPC"):
        if flag(spec, field):
            yield OS.forbidden((*path, field), "cannot be set for a windows pod")


def _forbid(value: Object, path: Path, fields: tuple[str, ...]) -> Iterator[Problem]:
    for field in fields:
        if value.get(field) is not None:
            yield OS.forbidden((*path, field), "cannot be set for a windows pod")
