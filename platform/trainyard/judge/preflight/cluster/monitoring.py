"""What is wrong with a cluster's monitoring: a Prometheus that nobody or two install, and names that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.clusters.monitors import OPERATOR
from trainyard.specs.alerts import groups
from trainyard.specs.models.cluster import Cluster
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


def stored(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield a volume of Prometheus on NFS."""
    name = cluster.monitoring.storage_class if cluster.monitoring else None
    storage = cluster.storage.get(name or "")
    if storage is not None and storage.provisioner in OVER_NFS:
        message = f"storage class {name!r} mounts NFS, on which Prometheus damages its files; use another class"
        yield STORED.at(source, ("monitoring", "storageClass"), message)
