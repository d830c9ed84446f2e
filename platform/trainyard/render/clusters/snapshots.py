"""Snapshots of volumes on a schedule: a class for each storage, a CronJob with its program, and rights in each team.

The program may make, list and delete VolumeSnapshots of teams and list their claims, and nothing else. Kueue manages
every Job in namespaces of teams, whose policies also close the API server, so the CronJobs have their own namespace.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.labels import POD_SECURITY, PROTECTED
from trainyard.render.operators.base import tolerations
from trainyard.render.parts import unprivileged
from trainyard.render.parts.objects import Resource
from trainyard.render.parts.pods import drop_empty
from trainyard.render.parts.programs import program_text
from trainyard.specs import Cluster
from trainyard.specs.models.storage import Snapshots, Storage

GROUP = "snapshot.storage.k8s.io"
NAMESPACE = NAME = "volume-snapshots"
"""Namespace, service account, ConfigMap and roles."""

PROGRAM = "snapshot_program.py"
FOLDER = "/etc/trainyard"

RBAC = "rbac.authorization.k8s.io"
SNAPSHOTTER = ("csi.storage.k8s.io/snapshotter-secret-name", "csi.storage.k8s.io/snapshotter-secret-namespace")
PROVISIONER = ("csi.storage.k8s.io/provisioner-secret-name", "csi.storage.k8s.io/provisioner-secret-namespace")
"""Parameters that name the Secret of a call (kubernetes-csi/external-snapshotter v8.6.0 pkg/utils/util.go)."""

MINUTES = 60
"""Longest time that one look at all claims may take; a snapshot itself goes on in the storage."""


def scheduled_classes(cluster: Cluster) -> dict[str, tuple[Storage, Snapshots]]:
    """Return the classes of which snapshots are taken, by name."""
    return {name: (storage, storage.snapshots) for name, storage in cluster.storage.items() if storage.snapshots}


def resources(cluster: Cluster) -> Iterator[Resource]:
    """Yield the classes and what takes snapshots; nothing where no class asks for any."""
    found = scheduled_classes(cluster)
    if not found or not cluster.teams():
        return
    modes = {f"{POD_SECURITY}/{mode}": "restricted" for mode in ("enforce", "warn", "audit")}
    first = ("storage", next(iter(found)), "snapshots")
    yield Resource("v1", "Namespace", NAMESPACE, first, labels=modes, annotations=PROTECTED)
    off = {"automountServiceAccountToken": False}
    yield Resource("v1", "ServiceAccount", NAME, first, NAMESPACE, fields=off)
    yield Resource("v1", "ConfigMap", NAME, first, NAMESPACE, fields={"data": {PROGRAM: program_text("snapshot")}})
    closed = {"podSelector": {}, "policyTypes": ["Ingress"]}
    yield Resource("networking.k8s.io/v1", "NetworkPolicy", "closed", first, NAMESPACE, fields={"spec": closed})
    for name, (storage, said) in found.items():
        at = ("storage", name, "snapshots")
        fields = {
            "driver": storage.provisioner,
            "deletionPolicy": "Delete",
            "parameters": parameters(storage, said) or None,
        }
        yield Resource(f"{GROUP}/v1", "VolumeSnapshotClass", name, at, fields=fields)
        yield Resource("batch/v1", "CronJob", name, at, NAMESPACE, fields={"spec": cron_job(cluster, name, said)})


def parameters(storage: Storage, said: Snapshots) -> dict[str, str]:
    """Return the parameters of a VolumeSnapshotClass: the driver's, those of the class, and what is said."""
    facts = storage.driver.snapshots if storage.driver else None
    found: dict[str, str] = {}
    if facts is not None:
        same = {key: storage.parameters[key] for key in facts.same if key in storage.parameters}
        found |= {**facts.parameters, **same}
        if facts.secret:
            found |= dict(zip(SNAPSHOTTER, secret_of(storage), strict=False))
    return dict(sorted({**found, **said.parameters}.items()))


def secret_of(storage: Storage) -> tuple[str, ...]:
    """Return name and namespace of the Secret by which the driver makes volumes; nothing where the class has none."""
    if storage.secret is not None:
        return storage.secret.name, storage.secret.namespace
    said = storage.parameters
    return tuple(said[key] for key in PROVISIONER) if set(PROVISIONER) <= said.keys() else ()


def cron_job(cluster: Cluster, name: str, said: Snapshots) -> dict[str, Any]:
    """Return the CronJob of a class.

    Its pod asks for nothing, so that no node is too full for it, and runs on every pool. Runs that were missed for
    longer than a day are left out (kubernetes v1.35 pkg/controller/cronjob/utils.go startingDeadlineSeconds).
    """
    mount = {"name": "program", "mountPath": FOLDER, "readOnly": True}
    container = {
        "name": "snapshots",
        "image": said.image,
        "command": ["python3", "-B", f"{FOLDER}/{PROGRAM}", name, str(said.keep), ",".join(cluster.namespaces())],
        "securityContext": unprivileged.container(),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [mount],
    }
    pod = {
        "serviceAccountName": NAME,
        "automountServiceAccountToken": True,
        "restartPolicy": "Never",
        "securityContext": {**unprivileged.pod(), "fsGroup": unprivileged.NOBODY},
        "tolerations": tolerations(cluster.pools.values()),
        "containers": [container],
        "volumes": [{"name": "program", "configMap": {"name": NAME}}],
    }
    job = {"backoffLimit": 2, "activeDeadlineSeconds": 60 * MINUTES, "template": {"spec": drop_empty(pod)}}
    return {
        "schedule": said.schedule,
        "timeZone": said.time_zone,
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": 86400,
        "successfulJobsHistoryLimit": 1,
        "failedJobsHistoryLimit": 3,
        "jobTemplate": {"spec": job},
    }


def rights(cluster: Cluster, team: str) -> Iterator[Resource]:
    """Yield the role of the program in a team's namespace, and its binding."""
    found = scheduled_classes(cluster)
    if not found:
        return
    at, place = ("storage", next(iter(found)), "snapshots"), cluster.namespace_of(team)
    rules = [
        {"apiGroups": [GROUP], "resources": ["volumesnapshots"], "verbs": ["create", "list", "delete"]},
        {"apiGroups": [""], "resources": ["persistentvolumeclaims"], "verbs": ["list"]},
    ]
    role = {"apiGroup": RBAC, "kind": "Role", "name": NAME}
    account = {"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}
    yield Resource(f"{RBAC}/v1", "Role", NAME, at, place, fields={"rules": rules})
    fields = {"roleRef": role, "subjects": [account]}
    yield Resource(f"{RBAC}/v1", "RoleBinding", NAME, at, place, fields=fields)
