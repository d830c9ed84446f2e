"""The specification of a pod, whole: what its parts do not say alone."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core import addresses
from trainyard.upstream.apiserver.core.pods.containers import Pod, check_containers, check_init_containers
from trainyard.upstream.apiserver.core.pods.options import Options
from trainyard.upstream.apiserver.core.pods.resources import check_overhead, check_pod_resources
from trainyard.upstream.apiserver.core.pods.restarts import check_restart_policy
from trainyard.upstream.apiserver.core.pods.rules import CLAIMS, DNS, ENV, HOST, POD, PORT
from trainyard.upstream.apiserver.core.pods.scheduling import (
    check_affinity,
    check_gates,
    check_spread,
    check_tolerations,
)
from trainyard.upstream.apiserver.core.pods.security import check_os, check_pod_security
from trainyard.upstream.apiserver.core.pods.volumes import block_volumes, check_volumes
from trainyard.upstream.apiserver.core.pods.windows import check_host_process
from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, flag, inner, number, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.meta.metadata import check_labels
from trainyard.upstream.apiserver.problems import Path, Problem

DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_NAMES = (
    ("serviceAccountName", names.dns_subdomain),
    ("nodeName", names.dns_subdomain),
    ("hostname", names.dns_label),
    ("subdomain", names.dns_label),
    ("priorityClassName", names.dns_subdomain),
)
_MOST_SERVERS = 3
_MOST_SEARCHES = 32
_LONGEST_SEARCHES = 2048
_LARGEST_INT32 = 2147483647


def check_spec(spec: Object, path: Path, options: Options, *, pod_name: str | None = None) -> Iterator[Problem]:
    """Yield the problems with a pod's specification; `pod_name` only where the object is a Pod."""
    pod = Pod(
        options=options,
        volumes=block_volumes(spec),
        claims={name for _, claim in each(spec, "resourceClaims") if (name := text(claim, "name"))},
        grace=number(spec, "terminationGracePeriodSeconds"),
        os=text(inner(spec, "os"), "name") if child(spec, "os") is not None else None,
        restart_policy=text(spec, "restartPolicy") or "Always",
        host_users=spec.get("hostUsers") is not False,
    )
    yield from check_volumes(spec, path, options, pod_name)
    yield from _check_claims(spec, path)
    yield from check_containers(spec, pod, path)
    yield from check_init_containers(spec, pod, path)
    yield from check_pod_resources(spec, pod.claims, path)
    yield from check_overhead(spec, path)
    yield from check_restart_policy(spec, path)
    yield from check_labels(spec.get("nodeSelector"), (*path, "nodeSelector"), POD)
    yield from check_pod_security(spec, path, any_selinux_policy=options.any_selinux_policy)
    yield from check_affinity(spec, path, options)
    yield from check_tolerations(spec, path)
    yield from check_spread(spec, path, options)
    yield from check_gates(spec, path)
    yield from _check_dns(spec, path, options)
    yield from _check_names(spec, path)
    yield from _check_host(spec, path, options)
    containers = all_containers(spec, path)
    yield from check_os(spec, path, containers)
    yield from check_host_process(spec, path, containers)
    yield from _check_file_volumes(spec, containers)


def all_containers(spec: Object, path: Path) -> list[tuple[Path, Object]]:
    """Every container of a pod with the way to it."""
    kinds = ("initContainers", "containers", "ephemeralContainers")
    return [((*path, kind, index), container) for kind in kinds for index, container in each(spec, kind)]


def _check_claims(spec: Object, path: Path) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, claim in each(spec, "resourceClaims"):
        at = (*path, "resourceClaims", index)
        name = text(claim, "name")
        if not claim.get("name"):
            yield CLAIMS.required((*at, "name"))
        elif name in seen:
            yield CLAIMS.duplicate((*at, "name"), name)
        elif detail := names.dns_label(name):
            yield CLAIMS.invalid((*at, "name"), name, detail)
        seen.add(name)
        given = [field for field in ("resourceClaimName", "resourceClaimTemplateName") if claim.get(field) is not None]
        if len(given) != 1:
            yield CLAIMS.invalid(at, name, "must specify one of resourceClaimName and resourceClaimTemplateName")
        for field in given:
            if detail := names.dns_subdomain(claim[field]):
                yield CLAIMS.invalid((*at, field), claim[field], detail)


def _check_names(spec: Object, path: Path) -> Iterator[Problem]:
    for field, rule in _NAMES:
        if (value := spec.get(field)) and (detail := rule(value)):
            yield POD.invalid((*path, field), value, detail)
    account = spec.get("serviceAccount")
    if account and not spec.get("serviceAccountName") and (detail := names.dns_subdomain(account)):
        yield POD.invalid((*path, "serviceAccount"), account, detail)
    runtime = spec.get("runtimeClassName")
    if runtime is not None and (detail := names.dns_subdomain(runtime)):
        yield POD.invalid((*path, "runtimeClassName"), runtime, detail)
    deadline = number(spec, "activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _LARGEST_INT32:
        yield POD.invalid((*path, "activeDeadlineSeconds"), deadline, "must be between 1 and 2147483647, inclusive")
    policy = spec.get("preemptionPolicy")
    if policy is not None and policy not in ("PreemptLowerPriority", "Never"):
        yield POD.unsupported((*path, "preemptionPolicy"), policy, ("PreemptLowerPriority", "Never"))
    for index, secret in each(spec, "imagePullSecrets"):
        if extra := sorted(set(secret) - {"name"}, key=str):
            yield POD.invalid((*path, "imagePullSecrets", index), extra[0], "only name may be set")
    override = spec.get("hostnameOverride")
    if override is not None:
        yield from _check_override(spec, override, (*path, "hostnameOverride"))


def _check_override(spec: Object, override: object, path: Path) -> Iterator[Problem]:
    if flag(spec, "setHostnameAsFQDN"):
        yield POD.forbidden(path, "may not be specified when setHostnameAsFQDN is true")
    if flag(spec, "hostNetwork"):
        yield POD.forbidden(path, "may not be specified when hostNetwork is true")
    if isinstance(override, str) and names.size(override) > 64:
        yield POD.too_long(path, 64)
    if detail := names.dns_subdomain(override):
        yield POD.invalid(path, override, detail)


def _check_host(spec: Object, path: Path, options: Options) -> Iterator[Problem]:
    if flag(spec, "hostNetwork"):
        for index, container in each(spec, "containers"):
            for place, port in each(container, "ports"):
                outside, inside = number(port, "hostPort") or 0, number(port, "containerPort") or 0
                if (options.is_pod or outside) and outside != inside:
                    where = (*path, "containers", index, "ports", place, "hostPort")
                    yield PORT.invalid(where, outside, "must match containerPort when hostNetwork is true")
    if spec.get("hostUsers") is not False:
        return
    for field in ("hostNetwork", "hostPID", "hostIPC"):
        if flag(spec, field):
            yield HOST.forbidden((*path, field), "cannot be set with hostUsers: false")
    for at, container in all_containers(spec, path):
        if count(container, "volumeDevices"):
            yield HOST.forbidden((*at, "volumeDevices"), "cannot be set with hostUsers: false")


def _check_dns(spec: Object, path: Path, options: Options) -> Iterator[Problem]:
    policy, config = spec.get("dnsPolicy") or "ClusterFirst", child(spec, "dnsConfig")
    if policy not in DNS_POLICIES:
        yield DNS.unsupported((*path, "dnsPolicy"), policy, DNS_POLICIES)
    for index, alias in each(spec, "hostAliases"):
        at = (*path, "hostAliases", index)
        address = alias.get("ip") or ""
        if detail := addresses.address(address, strict=options.strict_addresses):
            yield DNS.invalid((*at, "ip"), address, detail)
        for place, host in texts(alias, "hostnames"):
            if detail := names.dns_subdomain(host):
                yield DNS.invalid((*at, "hostnames", place), host, detail)
    if policy == "None" and not count(config or {}, "nameservers"):
        yield DNS.required((*path, "dnsConfig", "nameservers"), "at least one is needed when dnsPolicy is None")
    elif config is not None:
        yield from _check_dns_config(config, (*path, "dnsConfig"), options)


def _check_dns_config(config: Object, path: Path, options: Options) -> Iterator[Problem]:
    servers, searches = texts(config, "nameservers"), texts(config, "searches")
    if len(servers) > _MOST_SERVERS:
        yield DNS.invalid((*path, "nameservers"), len(servers), f"must not have more than {_MOST_SERVERS} nameservers")
    for index, server in servers:
        if detail := addresses.address(server, strict=options.strict_addresses):
            yield DNS.invalid((*path, "nameservers", index), server, detail)
    if len(searches) > _MOST_SEARCHES:
        yield DNS.invalid((*path, "searches"), len(searches), f"must not have more than {_MOST_SEARCHES} paths")
    if names.size(" ".join(search for _, search in searches)) > _LONGEST_SEARCHES:
        yield DNS.invalid((*path, "searches"), len(searches), f"must not be longer than {_LONGEST_SEARCHES} in all")
    for index, search in searches:
        if search != "." and (detail := names.dns_subdomain_underscored(search.removesuffix("."))):
            yield DNS.invalid((*path, "searches", index), search, detail)
    for index, option in each(config, "options"):
        if not option.get("name"):
            yield DNS.required((*path, "options", index, "name"), "must not be empty")


def _check_file_volumes(spec: Object, containers: list[tuple[Path, Object]]) -> Iterator[Problem]:
    for at, container in containers:
        for index, variable in each(container, "env"):
            reference = inner(variable, "valueFrom").get("fileKeyRef")
            if type(reference) is not dict:
                continue
            name = text(reference, "volumeName")
            where = (*at, "env", index, "valueFrom", "fileKeyRef", "volumeName")
            sources = [volume for _, volume in each(spec, "volumes") if volume.get("name") == name]
            if not sources:
                yield ENV.missing(where, name)
            elif child(sources[-1], "emptyDir") is None:
                yield ENV.invalid(where, name, "must be a volume of type emptyDir")
