"""What is wrong with a cluster's monitoring: a Prometheus that nobody or two install, and names that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER, CLUSTER_BESIDE, OneCluster
from trainyard.render.clusters import of_files
from trainyard.render.clusters.team import volumes
from trainyard.render.parts.prometheus import OPERATOR
from trainyard.specs.alerts import groups
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.releases.facts import lookup
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

INSTALLED = Rule(
    id="mon-prometheus",
    title="Exactly one Prometheus Operator serves a cluster with monitoring.",
    why="without one, monitors and rules have no effect; two would both own the same definitions",
    fix="add kube-prometheus-stack to operators, or set existing",
    source="prometheus-operator v0.93.0 Documentation/getting-started/installation.md",
)
NAMES = Rule(
    id="mon-names",
    title="Pools, storage classes and alerts that monitoring names exist.",
    why="otherwise Prometheus stays pending, or an alert stays on",
    fix="correct the name",
    source="docs/monitoring.md",
)
STORED = Rule(
    id="mon-storage",
    title="Prometheus keeps its series on a file system that it supports.",
    why="on NFS its files are damaged, and it does not start again",
    fix="use a class of disks or a POSIX file system",
    source="prometheus v3.14.0 docs/storage.md: NFS, AWS EFS among them, is not supported",
    severity=Severity.WARNING,
)

CLAIMS = Rule(
    id="mon-claims",
    title="Claims that checkpointClaims names are volumes of a team on the cluster.",
    why="no series has another name, so RunCheckpointOverdue never fires",
    fix="write the name of a volume in the teams' files",
    source="docs/monitoring.md",
    severity=Severity.WARNING,
)
PLACED = Rule(
    id="mon-pool",
    title="Prometheus runs on nodes that take its pods and that jobs do not fill.",
    why=(
        "pods that do not tolerate a taint stay pending; beside a job that fills a node, Prometheus has no memory of "
        "its own and is evicted first"
    ),
    fix="name a pool without GPUs and without taints, or remove pool",
    source="kubernetes v1.35 pkg/kubelet/eviction/helpers.go rankMemoryPressure; docs/monitoring.md",
    severity=Severity.WARNING,
)

OVER_NFS = frozenset({"nfs.csi.k8s.io", "efs.csi.aws.com", "filestore.csi.storage.gke.io", "fss.csi.oraclecloud.com"})
"""Drivers whose volumes are mounted over NFS."""


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield the problems with who installs Prometheus, and with what it names."""
    monitoring, choice = cluster.monitoring, cluster.operators.get(OPERATOR)
    if monitoring is None:
        return
    at = ("monitoring",)
    ours = choice is not None and choice.managed
    if monitoring.existing is None and not ours:
        message = f"no Prometheus reads the monitors; add {OPERATOR} to operators, or set existing"
        yield INSTALLED.at(source, at, message)
    if monitoring.existing is not None and ours:
        message = f"existing says that Prometheus Operator is there, but operators installs {OPERATOR}; remove one"
        yield INSTALLED.at(source, (*at, "existing"), message)
    named = (
        ("pool", monitoring.pool, "pool", [*cluster.pools]),
        ("storageClass", monitoring.storage_class, "storage class", [*cluster.storage]),
    )
    for field, name, noun, known in named:
        if name is not None and name not in known:
            message = f"{noun} {name!r} does not exist on this cluster; {did_you_mean(name, known)}"
            yield NAMES.at(source, (*at, field), message)
    alerts = [rule.alert for group in groups().values() for rule in group.rules if rule.alert]
    for index, alert in enumerate(monitoring.alerts.disabled):
        if alert not in alerts:
            message = f"alert {alert!r} does not exist; {did_you_mean(alert, alerts)}"
            yield NAMES.at(source, (*at, "alerts", "disabled", index), message)
    yield from stored(cluster, source)
    if ours:
        yield from placed(cluster, source)


@CLUSTER_BESIDE.check()
def check_claims(one: OneCluster) -> Iterator[Finding]:
    """Yield claims of checkpoints that no team has on the cluster, so that their alert never fires."""
    monitoring = one.cluster.monitoring
    if monitoring is None or "checkpoint_claims" not in monitoring.model_fields_set:
        return
    specs = one.loaded.specs
    teams = {name: specs.teams[name] for name in one.cluster.teams() if name in specs.teams}
    found = {item.name for name, team in teams.items() for item in volumes(one.name, one.cluster, name, team)}
    own = (item.identity for items in of_files(specs, one.name).values() for item in items)
    known = sorted(found | {identity.name for identity in own if identity.kind == "PersistentVolumeClaim"})
    for index, name in enumerate(monitoring.checkpoint_claims):
        if name not in known and not one.loaded.broken:
            message = f"no team has volume {name!r} on this cluster, so its alert never fires"
            at = ("monitoring", "checkpointClaims", index)
            yield CLAIMS.at(one.source, at, f"{message}; {did_you_mean(name, known)}")


def placed(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield a pool of Prometheus whose nodes refuse its pods, or are filled by jobs though others are not."""
    name = cluster.monitoring.pool if cluster.monitoring else None
    pool = cluster.pools.get(name or "")
    if pool is None or not is_known_shape(pool.shape):
        return
    at = ("monitoring", "pool")
    taints = [taint for taint in pool.taints if taint.effect != "PreferNoSchedule"]
    values = cluster.operators[OPERATOR].values
    if taints and not lookup(values, "prometheus.prometheusSpec.tolerations"):
        message = f"pods of Prometheus do not tolerate taint {taints[0].key!r} of pool {name!r}; use another pool"
        yield PLACED.at(source, at, message, shared=[("pools", str(name), "taints")])
        return
    free = [key for key, other in cluster.pools.items() if is_known_shape(other.shape) and other.node.gpus is None]
    if pool.node.gpus is not None and free:
        message = f"pool {name!r} has GPUs, and jobs fill its nodes; use pool {free[0]!r}"
        yield PLACED.at(source, at, message)


def stored(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield a volume of Prometheus on NFS."""
    name = cluster.monitoring.storage_class if cluster.monitoring else None
    storage = cluster.storage.get(name or "")
    if storage is not None and storage.provisioner in OVER_NFS:
        message = f"storage class {name!r} mounts NFS, on which Prometheus damages its files; use another class"
        yield STORED.at(source, ("monitoring", "storageClass"), message)
