"""Containers of a pod: ordinary, init and ephemeral ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trainyard.upstream.apiserver.core.pods.env import check_env
from trainyard.upstream.apiserver.core.pods.options import Options
from trainyard.upstream.apiserver.core.pods.probes import check_lifecycle, check_probes
from trainyard.upstream.apiserver.core.pods.resources import check_resources
from trainyard.upstream.apiserver.core.pods.restarts import check_container_restarts
from trainyard.upstream.apiserver.core.pods.rules import CONTAINER, INIT, PORT
from trainyard.upstream.apiserver.core.pods.security import check_container_security
from trainyard.upstream.apiserver.core.pods.volumes import check_devices, check_mounts
from trainyard.upstream.apiserver.core.shapes import EMPTY, Object, child, count, each, number, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem

PROTOCOLS = ("SCTP", "TCP", "UDP")
PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("FallbackToLogsOnError", "File")


@dataclass(frozen=True, slots=True)
class Pod:
    """What a container's rules need to know of its pod.

    `volumes` says of each volume whether it can be a block device; `grace` is the termination grace period in
    seconds; `os` is `spec.os.name`; `host_users` is false where the pod has a user namespace.
    """

    options: Options
    volumes: dict[str, bool]
    claims: set[str]
    grace: int | None
    os: str | None
    restart_policy: str
    host_users: bool


def check_containers(spec: Object, pod: Pod, path: Path) -> Iterator[Problem]:
    """Yield the problems with the ordinary containers: there is one, and their names differ."""
    if not count(spec, "containers"):
        yield CONTAINER.required((*path, "containers"))
    seen: set[str] = set()
    for index, container in each(spec, "containers"):
        at = (*path, "containers", index)
        yield from _check_common(container, pod, at)
        if (name := text(container, "name")) in seen:
            yield CONTAINER.duplicate((*at, "name"), name)
        seen.add(name)
        yield from check_lifecycle(container, at, pod.grace, pod.os)
        yield from check_probes(container, at, pod.grace)
        yield from check_container_restarts(container, at, pod.options)
    yield from _check_host_ports(each(spec, "containers"), (*path, "containers"))


def check_init_containers(spec: Object, pod: Pod, path: Path) -> Iterator[Problem]:
    """Yield the problems with init containers; only sidecars have probes and hooks."""
    seen = {text(container, "name") for _, container in each(spec, "containers")}
    for index, container in each(spec, "initContainers"):
        at = (*path, "initContainers", index)
        yield from _check_common(container, pod, at)
        yield from check_container_restarts(container, at, pod.options, init=True)
        name = text(container, "name")
        if name and name in seen:
            yield CONTAINER.duplicate((*at, "name"), name)
        seen.add(name)
        yield from _check_host_ports([(index, container)], (*path, "initContainers"))
        if container.get("restartPolicy") == "Always":
            yield from check_lifecycle(container, at, pod.grace, pod.os)
            yield from check_probes(container, at, pod.grace)
            continue
        for field in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
            if container.get(field) is not None:
                yield INIT.forbidden((*at, field), "may not be set for init containers without restartPolicy=Always")


def _check_common(container: Object, pod: Pod, path: Path) -> Iterator[Problem]:
    name = container.get("name")
    if not name:
        yield CONTAINER.required((*path, "name"))
    elif detail := names.dns_label(name):
        yield CONTAINER.invalid((*path, "name"), name, detail)
    if not container.get("image"):
        yield CONTAINER.required((*path, "image"))
    policy = container.get("terminationMessagePolicy") or "File"
    if policy not in _MESSAGE_POLICIES:
        yield CONTAINER.unsupported((*path, "terminationMessagePolicy"), policy, _MESSAGE_POLICIES)
    pull = container.get("imagePullPolicy")
    if pull and pull not in PULL_POLICIES:
        yield CONTAINER.unsupported((*path, "imagePullPolicy"), pull, PULL_POLICIES)
    yield from _check_ports(container, path)
    yield from check_env(container, path)
    yield from check_mounts(container, pod.volumes, path)
    yield from check_devices(container, pod.volumes, path)
    resources = child(container, "resources") or EMPTY
    yield from check_resources(resources, pod.claims, (*path, "resources"))
    yield from _check_resize(container, path, pod)
    if (context := child(container, "securityContext")) is not None:
        yield from check_container_security(context, (*path, "securityContext"), host_users=pod.host_users)


def _check_ports(container: Object, path: Path) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, port in each(container, "ports"):
        at = (*path, "ports", index)
        name = port.get("name")
        if name:
            if detail := names.port_name(name):
                yield PORT.invalid((*at, "name"), name, detail)
            elif text(port, "name") in seen:
                yield PORT.duplicate((*at, "name"), name)
            seen.add(text(port, "name") or str(index))
        inside, outside = number(port, "containerPort"), number(port, "hostPort")
        if not inside and not port.get("containerPort"):
            yield PORT.required((*at, "containerPort"))
        elif detail := names.port_number(inside):
            yield PORT.invalid((*at, "containerPort"), inside, detail)
        if outside and (detail := names.port_number(outside)):
            yield PORT.invalid((*at, "hostPort"), outside, detail)
        protocol = port.get("protocol") or "TCP"
        if protocol not in PROTOCOLS:
            yield PORT.unsupported((*at, "protocol"), protocol, PROTOCOLS)


def _check_host_ports(containers: Sequence[tuple[int, Object]], path: Path) -> Iterator[Problem]:
    seen: set[tuple[str, str, int]] = set()
    for index, container in containers:
        for place, port in each(container, "ports"):
            if host := number(port, "hostPort"):
                key = (text(port, "protocol") or "TCP", text(port, "hostIP"), host)
                if key in seen:
                    yield PORT.duplicate((*path, index, "ports", place, "hostPort"), "/".join(map(str, key)))
                seen.add(key)


def _check_resize(container: Object, path: Path, pod: Pod) -> Iterator[Problem]:
    seen = []
    for index, policy in each(container, "resizePolicy"):
        at = (*path, "resizePolicy", index)
        name, restart = policy.get("resourceName"), policy.get("restartPolicy")
        if name in seen:
            yield CONTAINER.duplicate(at, name)
        seen.append(name)
        if not name:
            yield CONTAINER.required((*at, "resourceName"))
        elif name not in ("cpu", "memory"):
            yield CONTAINER.unsupported((*at, "resourceName"), name, ("cpu", "memory"))
        if not restart:
            yield CONTAINER.required((*at, "restartPolicy"))
        elif restart not in ("NotRequired", "RestartContainer"):
            yield CONTAINER.unsupported((*at, "restartPolicy"), restart, ("NotRequired", "RestartContainer"))
        if pod.restart_policy == "Never" and restart != "NotRequired":
            yield CONTAINER.invalid((*at, "restartPolicy"), restart, "must be NotRequired in a pod that never restarts")
        sidecar = container.get("restartPolicy") == "Always"
        in_init = "initContainers" in path
        if pod.options.minor >= 36 and in_init and not sidecar and restart == "RestartContainer":
            yield INIT.invalid((*at, "restartPolicy"), restart, "only sidecars among init containers can be restarted")


def check_images(spec: Object, path: Path) -> Iterator[Problem]:
    """Yield images with white space around them; only a Pod is judged so, not a template."""
    for kind in ("containers", "initContainers"):
        for index, container in each(spec, kind):
            image = text(container, "image")
            if image != image.strip():
                where = (*path, kind, index, "image")
                yield CONTAINER.invalid(where, image, "must not have leading or trailing whitespace")
