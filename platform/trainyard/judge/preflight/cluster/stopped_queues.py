"""Queues that admit nothing, which jobs name all the same."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.specs import Cluster
from trainyard.specs.sources import Source

STOPPED = Rule(
    id="kq-stopped",
    title="A queue admits jobs.",
    why="every job of a stopped queue waits until stopPolicy is removed, and Kueue reports no error",
    fix="remove stopPolicy after the maintenance; waive this until then, with a date as the reason",
    source="kueue v0.19.2 apis/kueue/v1beta2/clusterqueue_types.go StopPolicy",
    layer="queueing",
    severity=Severity.WARNING,
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield queues of which stopPolicy stops the admission."""
    for name, queue in cluster.queues.items():
        if queue.stop_policy != "None":
            stops = " and evicts what runs" if queue.stop_policy == "HoldAndDrain" else ""
            message = f"stopPolicy is {queue.stop_policy}, so queue {name!r} admits no job{stops}; remove it"
            yield STOPPED.at(source, ("queues", name, "stopPolicy"), message)
