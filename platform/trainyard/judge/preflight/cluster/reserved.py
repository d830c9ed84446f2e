"""Whether pools say until when their nodes are there, where a label says that they are of reserved capacity."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.specs import Cluster
from trainyard.specs.labels import is_reserved
from trainyard.specs.sources import Source

UNSAID = Rule(
    id="spec/reservation",
    title="A pool whose label says that its nodes are of a capacity block has a reservation.",
    why="the provider takes the nodes away on a day that no job is compared with",
    fix="add reservation with id, starts, ends and earlyMinutes, or correct the label",
    source="platform/trainyard/specs/labels; docs/pools.md",
    severity=Severity.WARNING,
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield labels that promise an end of the nodes which the pool does not state."""
    for name, pool in cluster.pools.items():
        for label, value in pool.labels.items() if pool.reservation is None else ():
            if is_reserved(label, value):
                message = (
                    f"label {label!r} is {value}, but pool {name!r} has no reservation; add its id, starts and ends"
                )
                yield UNSAID.at(source, ("pools", name, "labels", label), message, key=True)
