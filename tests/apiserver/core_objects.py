"""Small valid objects of core kinds, and how tests and recordings change and judge them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.upstream.apiserver import Problem, core
from trainyard.upstream.apiserver.core import defaults
from trainyard.upstream.apiserver.meta import metadata
from trainyard.upstream.apiserver.schema.defaults import copy_containers

GONE = object()
"""Stands for a field that is taken away."""

POD_SPEC: dict[str, Any] = {
    "restartPolicy": "Never",
    "containers": [
        {
            "name": "main",
            "image": "example.com/train:1",
            "resources": {"limits": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": 8}},
            "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        }
    ],
    "volumes": [{"name": "data", "emptyDir": {}}],
}
TEMPLATE: dict[str, Any] = {"metadata": {"labels": {"app": "a"}}, "spec": POD_SPEC}
SELECTOR: dict[str, Any] = {"matchLabels": {"app": "a"}}
ALWAYS: dict[str, Any] = {**TEMPLATE, "spec": {**POD_SPEC, "restartPolicy": "Always"}}


def named(api_version: str, kind: str, **fields: Any) -> dict[str, Any]:
    """Return an object named `a`."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, **fields}


POD = named("v1", "Pod", spec=POD_SPEC)
JOB = named("batch/v1", "Job", spec={"template": TEMPLATE, "completions": 4, "completionMode": "Indexed"})
CRON_JOB = named("batch/v1", "CronJob", spec={"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": TEMPLATE}}})
DEPLOYMENT = named("apps/v1", "Deployment", spec={"selector": SELECTOR, "template": ALWAYS})
STATEFUL_SET = named("apps/v1", "StatefulSet", spec={"selector": SELECTOR, "serviceName": "a", "template": ALWAYS})
SERVICE = named("v1", "Service", spec={"selector": {"app": "a"}, "ports": [{"port": 80}]})
CLAIM = named(
    "v1",
    "PersistentVolumeClaim",
    spec={
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "resources": {"requests": {"storage": "10Gi"}},
    },
)
VOLUME = named(
    "v1",
    "PersistentVolume",
    spec={"capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteMany"], "nfs": {"server": "a", "path": "/"}},
)
CONFIG_MAP = named("v1", "ConfigMap", data={"a": "b"})
SECRET = named("v1", "Secret", stringData={"a": "b"})
ROLE = named(
    "rbac.authorization.k8s.io/v1", "Role", rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
)
BINDING = named(
    "rbac.authorization.k8s.io/v1",
    "RoleBinding",
    roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"},
    subjects=[{"kind": "ServiceAccount", "name": "a", "namespace": "b"}],
)
CLUSTER_BINDING = {**BINDING, "kind": "ClusterRoleBinding", "roleRef": {**BINDING["roleRef"], "kind": "ClusterRole"}}
POLICY = named("networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": {}, "policyTypes": ["Ingress"]})
PRIORITY = named("scheduling.k8s.io/v1", "PriorityClass", value=1000)
QUOTA = named("v1", "ResourceQuota", spec={"hard": {"requests.nvidia.com/gpu": 8}})
LIMITS = named("v1", "LimitRange", spec={"limits": [{"type": "Container", "max": {"cpu": 8}}]})
BUDGET = named("policy/v1", "PodDisruptionBudget", spec={"minAvailable": 1, "selector": SELECTOR})
STORAGE_CLASS = named("storage.k8s.io/v1", "StorageClass", provisioner="nfs.csi.k8s.io")
DEVICE_CLASS = named(
    "resource.k8s.io/v1",
    "DeviceClass",
    spec={"selectors": [{"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}]},
)
DEVICE_CLAIM = named(
    "resource.k8s.io/v1",
    "ResourceClaim",
    spec={"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}},
)
WEBHOOK = named(
    "admissionregistration.k8s.io/v1",
    "ValidatingWebhookConfiguration",
    webhooks=[
        {
            "name": "pods.example.com",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "clientConfig": {"service": {"name": "a", "namespace": "b"}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}],
        }
    ],
)
DEFINITION = named(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    spec={
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "runs", "kind": "Run"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
                    }
                },
            }
        ],
    },
)
DEFINITION["metadata"]["name"] = "runs.example.com"


def altered(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy with changes, each at a path such as `spec.containers.0.image`; a `/` keeps a key's dots together.

    Objects on the way to a field are made where they are missing.
    """
    value: Any = copy_containers(dict(base))
    for path, new in changes.items():
        owner = value
        *steps, last = path.split("/") if "/" in path else path.split(".")
        for step in steps:
            owner = owner[int(step)] if isinstance(owner, list) else owner.setdefault(step, {})
        key: Any = int(last) if isinstance(owner, list) else last
        if new is GONE:
            del owner[key]
        elif isinstance(owner, list) and key == len(owner):
            owner.append(copy_containers(new))
        else:
            owner[key] = copy_containers(new)
    return value


def changed(base: Any, changes: list[list[Any]]) -> Any:
    """Return a copy with changes as recordings have them: a path and its new value, or a path whose field is gone."""
    value = copy_containers(base)
    for path, *new in changes:
        owner = value
        for step in path[:-1]:
            owner = owner[step]
        if new:
            owner[path[-1]] = copy_containers(new[0])
        else:
            del owner[path[-1]]
    return value


def judged(value: dict[str, Any], *, kubernetes: str = "1.35", old: dict[str, Any] | None = None) -> list[Problem]:
    """Return what our layers say of an object, and of a change where there is an old one."""
    value = defaults.apply(copy_containers(value), kubernetes)
    before = None if old is None else defaults.apply(copy_containers(old), kubernetes)
    found = list(metadata.check(value, kubernetes=kubernetes, old=before))
    return [*found, *core.check(value, kubernetes=kubernetes, old=before)]


def spelled(path: tuple[str | int, ...]) -> str:
    """Spell a path: `spec.containers[0].image`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")
