"""What a pod has of its node: namespaces, ports, paths, addresses, and processes of Windows itself.

Source: k8s.io/pod-security-admission v0.35.4 policy/check_host*.go, check_windowsHostProcess.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.admission.podsecurity.pods import (
    Container,
    Pod,
    Violation,
    name_some,
    plural,
    quote_words,
    setters,
)
from trainyard.upstream.apiserver.core.shapes import child, each, flag, inner, number, text
from trainyard.upstream.apiserver.problems import Path

_NAMESPACES = ("hostNetwork", "hostPID", "hostIPC")
_PROBES = (("livenessProbe",), ("readinessProbe",), ("startupProbe",))
_HANDLERS = (("lifecycle", "postStart"), ("lifecycle", "preStop"))


def namespaces(pod: Pod) -> Violation | None:
    """Refuse a pod that shares the network, the processes or the IPC of its node."""
    used = [name for name in _NAMESPACES if flag(pod.spec, name)]
    if not used:
        return None
    return Violation("host namespaces", ", ".join(f"{name}=true" for name in used), pod.at(used[0]))


def paths(pod: Pod) -> Violation | None:
    """Refuse volumes that are folders of the node."""
    found = [
        (index, text(volume, "name"))
        for index, volume in each(pod.spec, "volumes")
        if child(volume, "hostPath") is not None
    ]
    if not found:
        return None
    place = pod.at("volumes", found[0][0], "hostPath")
    return Violation("hostPath volumes", name_some("volume", [name for _, name in found]), place)


def ports(pod: Pod) -> Violation | None:
    """Refuse ports of the node; every port of a container in the node's network is one, by default."""
    used: set[str] = set()
    names: dict[Path, str] = {}
    places: list[Path] = []
    for container in pod.containers:
        for index, port in each(container.value, "ports"):
            given = number(port, "hostPort")
            if not given and flag(pod.spec, "hostNetwork") and container.path[-2] != "ephemeralContainers":
                given = number(port, "containerPort")
            if given:
                used.add(str(given))
                names[container.path] = container.name
                places.append((*container.path, "ports", index, "hostPort"))
    if not places:
        return None
    who, verb = name_some("container", list(names.values())), "uses" if len(names) == 1 else "use"
    return Violation("hostPort", f"{who} {verb} {plural('hostPort', len(used))} {', '.join(sorted(used))}", places[0])


def probes(pod: Pod) -> Violation | None:
    """Refuse probes and handlers that call another address than the pod's own."""
    found = [(container, host, path) for container in pod.containers for host, path in hosts(container)]
    if not found:
        return None
    names, called = sorted({host[0].name for host in found}), sorted({host[1] for host in found})
    verb, what = "uses" if len(names) == 1 else "use", plural("probe or lifecycle host", len(called))
    detail = f"{name_some('container', names)} {verb} {what} {quote_words(called)}"
    return Violation("probe or lifecycle host", detail, found[0][2])


def hosts(container: Container) -> Iterator[tuple[str, Path]]:
    """Yield the addresses that probes and handlers of a container name."""
    for keys in (*_PROBES, *_HANDLERS):
        handler = inner(container.value, *keys)
        for way in ("httpGet", "tcpSocket"):
            if host := text(inner(handler, way), "host"):
                yield host, (*container.path, *keys, way, "host")


def windows_process(pod: Pod) -> Violation | None:
    """Refuse processes of the Windows node itself."""
    found = [
        (owner, path)
        for owner, context, path in pod.contexts()
        if flag(inner(context, "windowsOptions"), "hostProcess")
    ]
    if not found:
        return None
    detail = f"{setters(owner for owner, _ in found)} must not set securityContext.windowsOptions.hostProcess=true"
    return Violation("hostProcess", detail, (*found[0][1], "windowsOptions", "hostProcess"))
