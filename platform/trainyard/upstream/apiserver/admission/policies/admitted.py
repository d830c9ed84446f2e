"""Fields that core objects have by the time policies see them: those that admission adds, structs never left out.

Source: k8s.io/kubernetes v1.35.4 plugin/pkg/admission/{serviceaccount,priority,defaulttolerationseconds},
pkg/registry/core/service/storage/alloc.go; k8s.io/api v0.35.4 core/v1/types.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.upstream.apiserver.problems import Path
from trainyard.upstream.workloads import carrier

Object = dict[str, Any]

ADDRESSES = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
TOKEN = "kube-api-access-00000"  # noqa: S105  # the volume of a token, with a name as the server makes it
_WAIT = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
_OUTAGES = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_ADDED: Object = {
    "name": TOKEN,
    "projected": {
        "defaultMode": 420,
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {
                "downwardAPI": {
                    "items": [
                        {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
                    ]
                }
            },
        ],
    },
}


def complete(value: Object, group: str, kind: str) -> Object:
    """Return a core object with what the server has added to it; what it does not change is shared."""
    row = carrier(group, kind)
    if row is None or row.operator is not None:
        return value
    for template in row.templates:
        value = _replaced(value, (*template.pattern, "spec"), is_pod=(group, kind) == ("", "Pod"))
    return value


def assigned_fields(value: Object, group: str, kind: str) -> dict[str, str]:
    """Return the fields of a specification that only the server can tell, with why."""
    spec = value.get("spec")
    if (group, kind) != ("", "Service") or not isinstance(spec, dict) or spec.get("type") == "ExternalName":
        return {}
    return dict.fromkeys(ADDRESSES, "the address that the server gives the Service")


def _replaced(value: Object, path: Path, *, is_pod: bool) -> Object:
    if not path:
        return _pod(value) if is_pod else _spec(value)
    key = str(path[0])
    below = value.get(key)
    return {**value, key: _replaced(below, path[1:], is_pod=is_pod)} if isinstance(below, dict) else value


def _spec(spec: Object) -> Object:
    """Give every container its resources, if only none."""
    changed = {
        field: [
            {"resources": {}, **container} if isinstance(container, dict) else container for container in spec[field]
        ]
        for field in ("containers", "initContainers", "ephemeralContainers")
        if isinstance(spec.get(field), list)
    }
    return {**spec, **changed}


def _pod(spec: Object) -> Object:
    """Add account, priority and tolerations, and the account's token where the pod does not refuse it."""
    spec = _spec(spec)
    account = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
    spec |= {"serviceAccountName": account, "serviceAccount": account}
    if not spec.get("priorityClassName"):
        spec = {"priority": 0, "preemptionPolicy": "PreemptLowerPriority", **spec}
    given = spec.get("tolerations") or []
    if isinstance(given, list):
        spec["tolerations"] = [*given, *_waits(given)]
    return spec if spec.get("automountServiceAccountToken") is False else _with_token(spec)


def _waits(given: list[Any]) -> Iterator[Object]:
    for key in _OUTAGES:
        known = (
            container.get("key") in (key, "", None) and container.get("effect") in ("NoExecute", "", None)
            for container in given
            if isinstance(container, dict)
        )
        if not any(known):
            yield {"key": key, **_WAIT}


def _with_token(spec: Object) -> Object:
    mount = {"name": TOKEN, "mountPath": ACCOUNT, "readOnly": True}
    for field in ("containers", "initContainers"):
        if isinstance(spec.get(field), list):
            spec[field] = [
                _mounted(container, mount) if isinstance(container, dict) else container for container in spec[field]
            ]
    volumes = spec.get("volumes") or []
    return {**spec, "volumes": [*volumes, _ADDED]} if isinstance(volumes, list) else spec


def _mounted(container: Object, mount: Object) -> Object:
    mounts = container.get("volumeMounts") or []
    if not isinstance(mounts, list) or any(
        isinstance(one_mount, dict) and one_mount.get("mountPath") == ACCOUNT for one_mount in mounts
    ):
        return container
    return {**container, "volumeMounts": [*mounts, mount]}
