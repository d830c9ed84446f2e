"""Probes and lifecycle handlers."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.pods.rules import HANDLER, PROBE
from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, number, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem

_COUNTS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_WINDOWS_SIGNALS = ("SIGKILL", "SIGTERM")
_SIGNAL_NAMES = """
    ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP
    TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN RTMAX
"""
_SIGNALS = frozenset(
    f"SIG{name}"
    for name in (
        *_SIGNAL_NAMES.split(),
        *(f"RTMIN+{offset}" for offset in range(1, 16)),
        *(f"RTMAX-{offset}" for offset in range(1, 15)),
    )
)


def check_probes(container: Object, path: Path, grace: int | None) -> Iterator[Problem]:
    """Yield the problems with the three probes of a container."""
    for kind in ("livenessProbe", "readinessProbe", "startupProbe"):
        if (probe := child(container, kind)) is None:
            continue
        at = (*path, kind)
        yield from check_handler(probe, at, grace, lifecycle=False)
        for field in _COUNTS:
            value = number(probe, field)
            if value is not None and value < 0:
                yield PROBE.invalid((*at, field), value, "must be greater than or equal to 0")
        seconds = number(probe, "terminationGracePeriodSeconds")
        if kind == "readinessProbe":
            if seconds is not None:
                yield PROBE.invalid((*at, "terminationGracePeriodSeconds"), seconds, "must not be set here")
        elif (threshold := number(probe, "successThreshold") or 1) != 1:
            yield PROBE.invalid((*at, "successThreshold"), threshold, "must be 1")
        if seconds is not None and seconds <= 0:
            yield PROBE.invalid((*at, "terminationGracePeriodSeconds"), seconds, "must be greater than 0")


def check_lifecycle(container: Object, path: Path, grace: int | None, os: str | None) -> Iterator[Problem]:
    """Yield the problems with the hooks that run after start and before stop; `os` is the pod's `spec.os.name`."""
    if (lifecycle := child(container, "lifecycle")) is None:
        return
    for kind in ("postStart", "preStop"):
        if (hook := child(lifecycle, kind)) is not None:
            yield from check_handler(hook, (*path, "lifecycle", kind), grace, lifecycle=True)
    signal = lifecycle.get("stopSignal")
    if signal is None:
        return
    at = (*path, "lifecycle", "stopSignal")
    if os is None:
        yield HANDLER.forbidden(at, "may not be set when spec.os.name is empty")
    elif signal not in (_WINDOWS_SIGNALS if os == "windows" else _SIGNALS):
        yield HANDLER.invalid(at, signal, f"is no signal of {os}")


def check_handler(handler: Object, path: Path, grace: int | None, *, lifecycle: bool) -> Iterator[Problem]:
    """Yield the problems with one handler: exactly one action, and that action's own rules."""
    actions = ("exec", "httpGet", "tcpSocket", "sleep" if lifecycle else "grpc")
    found = [(kind, action) for kind in actions if (action := child(handler, kind)) is not None]
    if not found:
        yield HANDLER.required(path, "must specify a handler type")
    for kind, _ in found[1:]:
        yield HANDLER.forbidden((*path, kind), "may not specify more than 1 handler type")
    for kind, action in found[:1]:
        yield from _check_action(kind, action, (*path, kind), grace)


def _check_action(kind: str, action: Object, path: Path, grace: int | None) -> Iterator[Problem]:
    if kind == "exec":
        if not count(action, "command"):
            yield HANDLER.required((*path, "command"))
    elif kind == "sleep":
        seconds = number(action, "seconds") or 0
        if grace is not None and not 0 <= seconds <= grace:
            yield HANDLER.invalid(path, seconds, f"must be between 0 and terminationGracePeriodSeconds ({grace})")
    else:
        port = action.get("port")
        if detail := names.port(0 if port is None else port):
            yield HANDLER.invalid((*path, "port"), port, detail)
        if kind == "httpGet":
            yield from _check_http(action, path)


def _check_http(action: Object, path: Path) -> Iterator[Problem]:
    scheme = text(action, "scheme") or "HTTP"
    if scheme not in {"HTTP", "HTTPS"}:
        yield HANDLER.unsupported((*path, "scheme"), scheme, ("HTTP", "HTTPS"))
    for index, header in each(action, "httpHeaders"):
        name = header.get("name") or ""
        if detail := names.header_name(name):
            yield HANDLER.invalid((*path, "httpHeaders", index, "name"), name, detail)
