"""Priorities whose values contradict their names: a job that says `high` waits behind one that says `low`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.sources import Source

ORDER = Rule(
    id="kq-priority-order",
    title="The values of priorities rise as their names do.",
    why="Kueue goes by the value alone: with high below low, urgent jobs wait behind others and are preempted by them",
    fix="swap the values, or choose names that say nothing of an order",
    source="kueue v0.19.2 pkg/util/priority/priority.go, pkg/scheduler/preemption/classical",
    layer="queueing",
    severity=Severity.WARNING,
)

RANKS = {
    "lowest": 0,
    "low": 1,
    "best-effort": 1,
    "besteffort": 1,
    "normal": 2,
    "default": 2,
    "medium": 2,
    "standard": 2,
    "high": 3,
    "highest": 4,
    "urgent": 4,
    "critical": 4,
}
"""What names say of the order; of two with one rank either may be above the other."""

AROUND = re.compile(r"^(?:priority|prio)-|-(?:priority|prio)$")
"""What a name may have beside its rank."""


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield priorities that are above another though their names say below, and the lowest and the highest as one.

    Neighbours, such as `normal` and `high`, may stand for one value.
    """
    ranks = {name: RANKS[word] for name in cluster.priorities if (word := AROUND.sub("", name)) in RANKS}
    names = sorted(ranks, key=lambda name: ranks[name])
    while wrong := {
        name: against for name in names if (against := contradicts(name, names, ranks, cluster.priorities))
    }:
        name = max(wrong, key=lambda name: len(wrong[name]))
        other = max(wrong[name], key=lambda other: abs(ranks[other] - ranks[name]))
        yield ORDER.at(
            source, ("priorities", name), sentence(name, other, cluster.priorities), shared=[("priorities", other)]
        )
        names.remove(name)


def contradicts(name: str, names: list[str], ranks: dict[str, int], values: dict[str, int]) -> list[str]:
    """Return the other names whose order by value is not that of the words."""
    pairs = ((other, ranks[other] - ranks[name], values[other] - values[name]) for other in names)
    return [other for other, rank, value in pairs if rank * value < 0 or (value == 0 and abs(rank) > 1)]


def sentence(name: str, other: str, values: dict[str, int]) -> str:
    """Say how two values contradict their names."""
    if values[name] == values[other]:
        return f"priorities {name!r} and {other!r} are both {values[name]}, so neither goes first; use different values"
    first, last = sorted((name, other), key=lambda one: values[one], reverse=True)
    amounts = f"priority {first!r} is {values[first]} and {last!r} {values[last]}"
    return f"{amounts}, so {first!r} jobs go first; swap the values"
