"""What KubeRay refuses of fields whose feature gate is on: networks, TLS, history servers, storage of the GCS.

Source: kuberay v1.7.0 ray-operator/controllers/ray/utils/validation.go, constant.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, flag, inner, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

_MANAGED = "is managed by KubeRay; remove it"
_TLS_NAMES = ("RAY_USE_TLS", "RAY_TLS_SERVER_CERT", "RAY_TLS_SERVER_KEY", "RAY_TLS_CA_CERT")
_TLS_MOUNT = ("ray-tls", "/etc/ray/tls")
_STORAGE_NAMES = ("RAY_gcs_storage", "RAY_gcs_storage_path")
_STORAGE_MOUNT = ("gcs-storage", "/data/gcs")
_OF_REDIS = ("redisAddress", "redisUsername", "redisPassword", "externalStorageNamespace")
_OF_CLAIM = ("size", "storageClassName", "accessModes")
_OPEN = {"DenyAllEgress": "ingressRules", "DenyAllIngress": "egressRules"}
"""By mode of a network: the rules of the direction that it leaves open."""
_COLLECTOR = "ray-history-collector"
_COLLECTOR_NAMES = frozenset(
    {
        *("POD_IP", "FQ_RAY_IP", "RAY_CLUSTER_NAME", "RAY_CLUSTER_NAMESPACE"),
        *("RAY_ROLE", "OWNER_KIND", "OWNER_NAME", "EVENTS_PORT"),
    }
)
_BACKEND = "STORAGE_BACKEND"
_AZURE = ("AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGE_ACCOUNT_URL")
_AZURE_MODE = "AZURE_STORAGE_AUTH_MODE"
_NEEDS = {"GCS": ("GCS_BUCKET",), "S3": ("S3_REGION",), "ALIYUNOSS": ("OSS_BUCKET", "OSS_ENDPOINT", "OSS_REGION")}
"""By backend of a history server: the variables that it needs."""


def check_network(spec: Object, path: Path, rule: Rule) -> Iterator[Problem]:
    """Yield rules of a direction that is open, and groups that the cluster lacks or that name no policy."""
    policy, at = child(spec, "networkPolicy"), (*path, "networkPolicy")
    if policy is None:
        return
    left = _OPEN.get(text(policy, "mode"))
    own = each(policy, "workerGroups")
    parts: list[tuple[Path, Object]] = [((*at, part), inner(policy, part)) for part in ("head", "worker")]
    for where, part in (*parts, *(((*at, "workerGroups", index), group) for index, group in own)):
        if left and count(part, left):
            yield rule.forbidden((*where, left), f"mode {policy.get('mode')} does not restrict this direction")
    groups = [(index, text(group, "groupName")) for index, group in each(spec, "workerGroupSpecs")]
    for index, name in groups:
        if detail := names.dns_label(name):
            yield rule.invalid((*path, "workerGroupSpecs", index, "groupName"), name, detail)
    known = {name for _, name in groups}
    for index, group in own:
        if text(group, "groupName") not in known:
            where = (*at, "workerGroups", index, "groupName")
            yield rule.missing(where, group.get("groupName"), "must be the name of a worker group")


def check_tls(spec: Object, path: Path, rule: Rule) -> Iterator[Problem]:
    """Yield variables and mounts that KubeRay sets where it encrypts."""
    if not flag(inner(spec, "tlsOptions"), "enabled"):
        return
    groups: list[tuple[Path, Object]] = [((*path, "headGroupSpec"), inner(spec, "headGroupSpec"))]
    groups += [((*path, "workerGroupSpecs", index), group) for index, group in each(spec, "workerGroupSpecs")]
    for at, group in groups:
        first = each(inner(group, "template", "spec"), "containers")[:1]
        for index, container in first:
            where: Path = (*at, "template", "spec", "containers", index)
            yield from _check_taken(container, where, _TLS_NAMES, _TLS_MOUNT, rule)
    options = inner(spec, "autoscalerOptions")
    yield from _check_taken(options, (*path, "autoscalerOptions"), _TLS_NAMES, _TLS_MOUNT, rule)


def _check_taken(
    container: Object, path: Path, variables: Sequence[str], mount: tuple[str, str], rule: Rule
) -> Iterator[Problem]:
    for index, variable in each(container, "env"):
        if text(variable, "name") in variables:
            yield rule.forbidden((*path, "env", index), f"{text(variable, 'name')} {_MANAGED}")
    for index, mounted in each(container, "volumeMounts"):
        if text(mounted, "name") == mount[0] or text(mounted, "mountPath") == mount[1]:
            yield rule.forbidden((*path, "volumeMounts", index), f"the mount at {mount[1]} {_MANAGED}")


def check_storage(options: Object, head: Object, path: Path, rule: Rule) -> Iterator[Problem]:
    """Yield fields and mounts that exclude storage of the GCS in the head's pod; `head` is the group's pod."""
    at: Path = (*path, "gcsFaultToleranceOptions")
    for field in _OF_REDIS:
        value = options.get(field)
        if value is not None and value != "":
            yield rule.forbidden((*at, field), "is for the backend redis; remove it")
    storage = inner(options, "storage")
    for field in _OF_CLAIM if text(storage, "claimName") else ():
        if storage.get(field) not in (None, []):
            yield rule.forbidden((*at, "storage", field), "cannot be set with claimName")
    pod: Path = (*path, "headGroupSpec", "template", "spec")
    for index, container in each(head, "containers")[:1]:
        yield from _check_taken(container, (*pod, "containers", index), _STORAGE_NAMES, _STORAGE_MOUNT, rule)
    for index, volume in each(head, "volumes"):
        if text(volume, "name") == _STORAGE_MOUNT[0]:
            yield rule.forbidden((*pod, "volumes", index), f"volume {_STORAGE_MOUNT[0]} {_MANAGED}")


def check_history(spec: Object, path: Path, rule: Rule) -> Iterator[Problem]:
    """Yield a history server without a collector, and containers that have its collector's name."""
    options = child(spec, "historyServerOptions")
    if options is None:
        return
    at: Path = (*path, "historyServerOptions", "collectorOptions")
    collector = child(options, "collectorOptions")
    if collector is None:
        yield rule.required(at)
        return
    yield from _check_collector(collector, at, rule)
    groups: list[tuple[Path, Object]] = [((*path, "headGroupSpec"), inner(spec, "headGroupSpec"))]
    groups += [((*path, "workerGroupSpecs", index), group) for index, group in each(spec, "workerGroupSpecs")]
    for where, group in groups:
        for index, container in each(inner(group, "template", "spec"), "containers"):
            if text(container, "name") == _COLLECTOR:
                yield rule.forbidden((*where, "template", "spec", "containers", index, "name"), _MANAGED)


def _check_collector(collector: Object, at: Path, rule: Rule) -> Iterator[Problem]:
    if not text(collector, "image"):
        yield rule.required((*at, "image"))
    variables = {text(variable, "name"): variable for _, variable in each(collector, "env")}
    for index, variable in each(collector, "env"):
        if text(variable, "name") in _COLLECTOR_NAMES:
            yield rule.forbidden((*at, "env", index), f"{text(variable, 'name')} {_MANAGED}")
    backend = text(variables.get(_BACKEND, {}), "value")
    if not backend:
        yield rule.required((*at, "env"), f"set {_BACKEND} to a value")
    for name in _missing(backend.upper(), variables):
        yield rule.required((*at, "env"), f"{_BACKEND} {backend} needs {name}")


def _missing(backend: str, variables: Mapping[str, Object]) -> list[str]:
    """Return the variables that a backend needs and that have no value."""
    there = {
        name for name, variable in variables.items() if text(variable, "value") or variable.get("valueFrom") is not None
    }
    if backend != "AZUREBLOB":
        return [name for name in _NEEDS.get(backend, ()) if name not in there]
    mode = text(variables.get(_AZURE_MODE, {}), "value").strip().lower()
    if mode == "connection_string":
        return [_AZURE[0]] if _AZURE[0] not in there else []
    if mode in ("workload_identity", "default"):
        return [_AZURE[1]] if _AZURE[1] not in there else []
    return [] if there & {*_AZURE} else [" or ".join(_AZURE)]
