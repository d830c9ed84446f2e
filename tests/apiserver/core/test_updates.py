"""Core kinds: what an update may change, and what only looks as if it might."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver import core_objects as objects
from apiserver.core_objects import GONE, altered, judged, spelled

BOUND = altered(objects.CLAIM, {"status": {"phase": "Bound", "capacity": {"storage": "10Gi"}}})
FROZEN = altered(objects.CONFIG_MAP, {"immutable": True})
SUSPENDED = altered(objects.JOB, {"spec.suspend": True})
SIZE = "spec.resources.requests.storage"
CPU = "spec.template.spec.containers.0.resources.limits"
BALANCER = altered(objects.SERVICE, {"spec.type": "LoadBalancer", "spec.externalTrafficPolicy": "Local"})

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str | None]] = {
    # Jobs
    "a job's template": (objects.JOB, {"spec.template.spec.containers.0.image": "b"}, "spec.template"),
    "a job's labels": (objects.JOB, {"metadata.labels": {"a": "b"}}, None),
    "a job may be suspended": (objects.JOB, {"spec.suspend": True}, None),
    "a job's parallelism": (objects.JOB, {"spec.parallelism": 2}, None),
    "completions alone": (objects.JOB, {"spec.completions": 5, "spec.parallelism": 4}, "spec.completions"),
    "completions together with the parallelism": (
        altered(objects.JOB, {"spec.parallelism": 4}),
        {"spec.completions": 5, "spec.parallelism": 5},
        None,
    ),
    "completions of a job that is not indexed": (
        altered(objects.JOB, {"spec.completionMode": "NonIndexed"}),
        {"spec.completions": 5},
        "spec.completions",
    ),
    "the mode of completion": (objects.JOB, {"spec.completionMode": "NonIndexed"}, "spec.completionMode"),
    "a job's backoff limit": (objects.JOB, {"spec.backoffLimit": 1}, None),
    "resources of a suspended job, which 1.35 does not let change": (
        SUSPENDED,
        {CPU: {"cpu": "4"}},
        "spec.template",
    ),
    "where a suspended job's pods may run": (SUSPENDED, {"spec.template.spec.nodeSelector": {"pool": "a"}}, None),
    "where a running job's pods may run": (
        objects.JOB,
        {"spec.template.spec.nodeSelector": {"pool": "a"}},
        "spec.template",
    ),
    "a gate of a suspended job": (SUSPENDED, {"spec.template.spec.schedulingGates": [{"name": "a.io/b"}]}, None),
    "any part of a cron job": (objects.CRON_JOB, {"spec.jobTemplate.spec.template.spec.containers.0.image": "b"}, None),
    # Other controllers
    "a deployment's image": (objects.DEPLOYMENT, {"spec.template.spec.containers.0.image": "b"}, None),
    "a deployment's selector": (
        objects.DEPLOYMENT,
        {"spec.selector.matchLabels": {"b": "c"}, "spec.template.metadata.labels": {"b": "c"}},
        "spec.selector",
    ),
    "a stateful set's replicas": (objects.STATEFUL_SET, {"spec.replicas": 5}, None),
    "the service of a stateful set": (objects.STATEFUL_SET, {"spec.serviceName": "b"}, "spec"),
    # Pods
    "a pod's image": (objects.POD, {"spec.containers.0.image": "b:2"}, None),
    "a pod's image, and when it is pulled": (
        objects.POD,
        {"spec.containers.0.image": "b:2", "spec.containers.0.imagePullPolicy": "Always"},
        "spec",
    ),
    "a pod's command": (objects.POD, {"spec.containers.0.command": ["b"]}, "spec"),
    "a toleration more": (
        altered(objects.POD, {"spec.tolerations": [{"key": "a", "operator": "Exists"}]}),
        {"spec.tolerations": [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}]},
        None,
    ),
    "a toleration less": (
        altered(objects.POD, {"spec.tolerations": [{"key": "a", "operator": "Exists"}]}),
        {"spec.tolerations": GONE},
        "spec",
    ),
    # Storage
    "a bound claim may grow": (BOUND, {SIZE: "20Gi"}, None),
    "and not shrink": (BOUND, {SIZE: "5Gi"}, SIZE),
    "a claim that nothing is bound to": (objects.CLAIM, {SIZE: "20Gi"}, "spec.resources"),
    "the same size in other words": (objects.CLAIM, {SIZE: "10240Mi"}, None),
    "a claim's class": (objects.CLAIM, {"spec.storageClassName": "slow"}, "spec.storageClassName"),
    "a class for a claim that named none": (
        altered(objects.CLAIM, {"spec.storageClassName": GONE}),
        {"spec.storageClassName": "fast"},
        None,
    ),
    "a claim's modes": (objects.CLAIM, {"spec.accessModes": ["ReadWriteMany"]}, "spec.accessModes"),
    "the volume that a claim is bound to": (objects.CLAIM, {"spec.volumeName": "a"}, None),
    "a volume's source": (objects.VOLUME, {"spec.nfs.server": "b"}, "spec.nfs"),
    "a volume's size": (objects.VOLUME, {"spec.capacity.storage": "20Gi"}, None),
    "a class's parameters": (objects.STORAGE_CLASS, {"parameters": {"a": "b"}}, "parameters"),
    "whether a class lets claims grow": (objects.STORAGE_CLASS, {"allowVolumeExpansion": True}, None),
    "who provisions": (objects.STORAGE_CLASS, {"provisioner": "b"}, "provisioner"),
    # ConfigMaps and Secrets
    "a map's data": (objects.CONFIG_MAP, {"data": {"a": "c"}}, None),
    "an immutable map's data": (FROZEN, {"data": {"a": "c"}}, "data"),
    "an immutable map that is to be mutable": (FROZEN, {"immutable": GONE}, "immutable"),
    "an immutable map's labels": (FROZEN, {"metadata.labels": {"a": "b"}}, None),
    "a secret's type": (objects.SECRET, {"type": "a.io/b"}, "type"),
    # RBAC, priorities
    "a binding's subjects": (objects.BINDING, {"subjects": []}, None),
    "a binding's role": (objects.BINDING, {"roleRef.name": "b"}, "roleRef"),
    "a role's rules": (objects.ROLE, {"rules.0.verbs": ["list"]}, None),
    "a priority's value": (objects.PRIORITY, {"value": 5}, "value"),
    "a priority's description": (objects.PRIORITY, {"description": "b"}, None),
    # Services
    "a service's ports": (objects.SERVICE, {"spec.ports.0.port": 81}, None),
    "an address that the server has not given": (objects.SERVICE, {"spec.clusterIP": "10.0.0.9"}, "spec.clusterIP"),
    "a service without an address": (objects.SERVICE, {"spec.clusterIP": "None"}, "spec.clusterIP"),
    "a balancer that becomes internal keeps a policy that it no longer needs": (
        BALANCER,
        {"spec.type": "ClusterIP"},
        None,
    ),
    "an external name that comes to be": (
        objects.SERVICE,
        {"spec": {"type": "ExternalName", "externalName": "a"}},
        None,
    ),
    # Devices, definitions
    "a claim on devices": (
        objects.DEVICE_CLAIM,
        {"spec.devices.requests.0.name": "b"},
        "spec",
    ),
    "a definition's scope": (objects.DEFINITION, {"spec.scope": "Cluster"}, "spec.scope"),
    "a definition's kind": (objects.DEFINITION, {"spec.names.kind": "Walk"}, "spec.names.kind"),
    "a version that objects may be stored in": (objects.DEFINITION, {"spec.versions.0.name": "v2"}, "spec.versions"),
    "a definition's schema": (
        objects.DEFINITION,
        {"spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.size.type": "string"},
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_change(case: str) -> None:
    """A change is refused at the field that may not change, or within it; others are not."""
    before, changes, field = CASES[case]
    problems = judged(altered(before, changes), old=before)
    assert bool(problems) == (field is not None), problems
    for problem in problems:
        assert field is not None
        assert f"{spelled(problem.path)}.".startswith((f"{field}.", f"{field}[")), problem


def test_what_a_queue_may_change_from_1_36_on() -> None:
    """Kubernetes 1.36 lets a suspended job's resources change, as Kueue does for elastic ones."""
    change = altered(SUSPENDED, {CPU: {"cpu": "4"}})
    assert judged(change, old=SUSPENDED, kubernetes="1.35")
    assert not judged(change, old=SUSPENDED, kubernetes="1.36")


def test_nothing_changes() -> None:
    """An object may always be written as it is."""
    for case, (before, _, _) in CASES.items():
        assert judged(before, old=before) == [], case
