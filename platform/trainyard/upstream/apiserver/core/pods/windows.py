"""Windows options of security contexts, and pods that run as host processes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.upstream.apiserver.core.pods.rules import CORE, WINDOWS
from trainyard.upstream.apiserver.core.shapes import Object, flag, inner
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem

HOST_PROCESS = WINDOWS.of_source(f"{CORE} validateWindowsHostProcessPod")
_SPEC_LIMIT = 64 * 1024
_control = re.compile("[\x00-\x1f\x7f]").search
_net_bios = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}').fullmatch
_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_domain = re.compile(rf"{_LABEL}(?:\.{_LABEL})*").fullmatch
_odd_user = re.compile(r'["/\\:;|=,+*?<>@\[\]]').search
_dots_and_spaces = re.compile(r"[. ]+").fullmatch


def check_windows_options(options: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with credentials and the user that a container runs as on Windows."""
    name = options.get("gmsaCredentialSpecName")
    if name is not None and (detail := names.dns_subdomain(name)):
        yield WINDOWS.invalid((*path, "gmsaCredentialSpecName"), name, detail)
    spec = options.get("gmsaCredentialSpec")
    if isinstance(spec, str) and not 0 < names.size(spec) <= _SPEC_LIMIT:
        yield WINDOWS.invalid((*path, "gmsaCredentialSpec"), spec[:20], "must be 1 byte to 64 KiB")
    user = options.get("runAsUserName")
    if isinstance(user, str) and (detail := _user(user)):
        yield WINDOWS.invalid((*path, "runAsUserName"), user, detail)


def _user(value: str) -> str | None:
    if not value:
        return "must not be empty"
    if _control(value):
        return "must not contain control characters"
    if value.count("\\") > 1:
        return "must not contain more than one backslash"
    domain, slash, user = value.rpartition("\\")
    if slash and (names.size(domain) >= 256 or not (_net_bios(domain) or _domain(domain))):
        return "the domain must be a NetBIOS or DNS name under 256 characters"
    if not user or names.size(user) > 104:
        return "the user must be 1 to 104 characters"
    return (
        "the user holds a character that Windows does not allow" if _dots_and_spaces(user) or _odd_user(user) else None
    )


def check_host_process(spec: Object, path: Path, containers: list[tuple[Path, Object]]) -> Iterator[Problem]:
    """Yield pods in which only some containers are host processes, or that lack the host's network."""
    pod = inner(spec, "securityContext", "windowsOptions").get("hostProcess")
    found = 0
    for at, container in containers:
        own = inner(container, "securityContext", "windowsOptions").get("hostProcess")
        if pod is not None and own is not None and pod != own:
            where = (*at, "securityContext", "windowsOptions", "hostProcess")
            yield HOST_PROCESS.invalid(where, own, f"must be identical to the pod's, which is {pod}")
        found += own is True or (own is None and pod is True)
    if not found:
        return
    if found != len(containers):
        yield HOST_PROCESS.invalid(path, found, "either all or no containers are host processes")
    if not flag(spec, "hostNetwork"):
        yield HOST_PROCESS.invalid((*path, "hostNetwork"), False, "must be true for host process containers")
