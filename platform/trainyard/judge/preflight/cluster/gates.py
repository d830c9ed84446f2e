"""Whether Kueue's feature gates are on that a cluster's own file needs."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators.kueue import Kueue, gates
from trainyard.render.prerequisites.faults import REPLACING
from trainyard.render.sizing import nvlink
from trainyard.specs import Cluster
from trainyard.specs.sources import Source

NEEDED = Rule(
    id="kq-gate-off",
    title="The cluster's file turns off no gate of Kueue that it needs itself.",
    why="Kueue reads the field and does nothing with it, so its jobs run or wait otherwise than the file says",
    fix="turn the gate on, or remove the field",
    source="kueue v0.19.2 pkg/features/kube_features.go, pkg/scheduler/flavorassigner, pkg/dra",
    layer="queueing",
    severity=Severity.WARNING,
)

REJECTING = "KueueDRARejectWorkloadsWhenDRADisabled"
"""Gate, on by default, with which Kueue refuses workloads whose devices it does not count."""


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield fields that a gate makes idle, with what follows for the jobs of the cluster."""
    if Kueue.name not in cluster.operators or not cluster.queues_of("kueue"):
        return
    off = {name for name, enabled in gates(cluster).items() if not enabled}
    for gate, path, follows in needs(cluster, refuses=REJECTING not in off):
        if gate in off:
            yield NEEDED.at(source, path, f"Kueue's gate {gate} is off, so {follows}; turn it on")


def needs(cluster: Cluster, *, refuses: bool) -> Iterator[tuple[str, Path, str]]:
    """Yield gates with the field that needs each, and what follows for jobs without it."""
    if cluster.topology:
        yield (
            "TopologyAwareScheduling",
            ("topology",),
            "it admits jobs by quota alone: their topology is ignored, and pods may find no node",
        )
    if cluster.topology and cluster.health is not None:
        for gate in REPLACING[1:]:
            yield gate, ("health",), "a run keeps a node with a fault in its place, and waits for it"
    for name, queue in cluster.queues.items():
        if queue.flavor_fungibility:
            yield (
                "FlavorFungibility",
                ("queues", name, "flavorFungibility"),
                f"flavorFungibility of queue {name!r} has no effect",
            )
    for name, pool in cluster.pools.items():
        if refuses and nvlink.spans(cluster, pool):
            yield (
                "KueueDRAIntegration",
                ("pools", name, "nvlink"),
                f"it refuses jobs of several nodes on pool {name!r}, which claim NVLink channels",
            )
