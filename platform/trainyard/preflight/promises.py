"""Whether a cluster's nodes have what its queues promise together."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from trainyard.documents import Path
from trainyard.findings import Finding, Severity
from trainyard.preflight.ceiling import shown
from trainyard.quantities import Quantity
from trainyard.rules import Rule
from trainyard.sizing.gpus import per_node
from trainyard.sizing.quota import amounts
from trainyard.specs import Cluster, Quota
from trainyard.specs.sources import Source

MORE_THAN_NODES = Rule(
    id="kq-nominal-vs-nodes",
    title="Queues promise no more of a pool than its nodes have.",
    why="Kueue counts quota alone: a gang is admitted that nodes cannot hold, and pods wait while the rest idle",
    fix="lower the nominal quotas, or declare a topology, by which Kueue looks at nodes too",
    source="kubernetes-sigs/kueue v0.19.2 pkg/scheduler/flavorassigner/flavorassigner.go fitsResourceQuota",
    layer="queueing",
    severity=Severity.WARNING,
)


def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pools of which queues and cohorts promise more together than there is, where Kueue looks at quota alone.

    With a topology it places every pod on a node that has room, so that what is promised twice only waits.
    """
    if cluster.topology:
        return
    for name, pool in cluster.pools.items():
        promised = list(promises(cluster, name))
        whole = amounts(cluster, name, Quota(nodes=pool.nodes))
        for resource in (*per_node(pool), "cpu", "memory"):
            most = Quantity.parse(whole[resource]).amount
            total = sum(Quantity.parse(amounts(cluster, name, quota)[resource]).amount for _, quota in promised)
            if total > most:
                message = (
                    f"queues promise {shown(resource, Decimal(total))} {resource} of pool {name!r}, whose nodes have"
                    f" {shown(resource, most)}; lower a quota, or declare a topology"
                )
                yield MORE_THAN_NODES.at(source, promised[-1][0], message)
                break


def promises(cluster: Cluster, pool: str) -> Iterator[tuple[Path, Quota]]:
    """Yield what queues and cohorts may have of a pool as their own, with its place in the cluster's file."""
    for field, owners in (("queues", cluster.queues_of("kueue")), ("cohorts", cluster.cohorts)):
        for name, owner in owners.items():
            if pool in owner.nominal_quota:
                yield (field, name, "nominalQuota", pool), owner.nominal_quota[pool]
