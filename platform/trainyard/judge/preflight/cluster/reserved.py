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
EARLY = Rule(
    id="spec/reservation-early",
    title="A reservation of a capacity block of EC2 says that its nodes end half an hour before it does.",
    why="EC2 begins to end the instances 30 minutes before the block does, so the last checkpoint comes too late",
    fix="set earlyMinutes: 30",
    source="Amazon EC2 user guide, Capacity Blocks for ML: instances are terminated from 30 minutes before the end",
    severity=Severity.WARNING,
)

BLOCK_MINUTES = 30
"""Minutes before the end of a capacity block of EC2 at which its instances end."""


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield labels that promise an end of the nodes which the pool does not state, or states too late."""
    for name, pool in cluster.pools.items():
        reservation = pool.reservation
        of_block = any(is_reserved(label, value) for label, value in pool.labels.items())
        if reservation is not None and of_block and reservation.early_minutes < BLOCK_MINUTES:
            message = f"EC2 ends nodes of a capacity block {BLOCK_MINUTES} minutes early; set earlyMinutes to that"
            said = "early_minutes" in reservation.model_fields_set
            path = ("pools", name, "reservation", *(["earlyMinutes"] if said else []))
            yield EARLY.at(source, path, message, key=not said)
        for label, value in pool.labels.items() if pool.reservation is None else ():
            if is_reserved(label, value):
                message = (
                    f"label {label!r} is {value}, but pool {name!r} has no reservation; add its id, starts and ends"
                )
                yield UNSAID.at(source, ("pools", name, "labels", label), message, key=True)
