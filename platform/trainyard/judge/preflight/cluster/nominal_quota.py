"""Whether a cluster's nodes have what its queues promise together."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.quantities import Quantity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.job.ceiling import in_words
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.sizing.gpus import per_node
from trainyard.render.sizing.quota import amounts
from trainyard.specs import Cluster, Quota
from trainyard.specs.sources import Source

MORE_THAN_NODES = Rule(
    id="kq-nominal-vs-nodes",
    title="The nominal quotas of a pool are at most what its nodes have.",
    why="Kueue admits by quota alone: it admits gangs that the nodes cannot hold, whose pods wait while others idle",
    fix="lower the nominal quotas, or declare a topology: Kueue then checks nodes too",
    source="kubernetes-sigs/kueue v0.19.2 pkg/scheduler/flavorassigner/flavorassigner.go fitsResourceQuota",
    layer="queueing",
    severity=Severity.WARNING,
)


@CLUSTER.check(after=("inventory.check_shapes",))
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pools of which queues and cohorts promise more together than there is, where Kueue looks at quota alone.

    With a topology it places every pod on a node that has room, so that what is promised twice only waits.
    """
    for name, pool in cluster.pools.items():
        if cluster.levels_of(name):
            continue
        promised = list(promises(cluster, name))
        whole = amounts(cluster, name, Quota(nodes=pool.nodes))
        for resource in (*per_node(pool), "cpu", "memory"):
            most = Quantity.parse(whole[resource]).amount
            total = sum(Quantity.parse(amounts(cluster, name, quota)[resource]).amount for _, quota in promised)
            if total > most:
                message = (
                    f"queues promise {in_words(resource, Decimal(total))} {resource} of pool {name!r}, whose nodes "
                    f"have {in_words(resource, most)}; lower a quota, or declare a topology"
                )
                yield MORE_THAN_NODES.at(source, promised[-1][0], message)
                break


def promises(cluster: Cluster, pool: str) -> Iterator[tuple[Path, Quota]]:
    """Yield the nominal quotas of queues and cohorts on a pool, with their places in the cluster's file."""
    for field, owners in (("queues", cluster.queues_of("kueue")), ("cohorts", cluster.cohorts)):
        for name, owner in owners.items():
            if pool in owner.nominal_quota:
                yield (field, name, "nominalQuota", pool), owner.nominal_quota[pool]
