"""Whether pools say of themselves that they are spot nodes when their labels, taints or names say so."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.specs import Cluster, Pool
from trainyard.specs.labels import is_spot
from trainyard.specs.sources import Source

SPOT = Rule(
    id="spec/spot",
    title="The field spot of a pool agrees with the labels, the taints and the name of its nodes.",
    why="notice, losses and checkpoints of jobs are computed from spot, so jobs lose work that nobody expects",
    fix="set spot: true, or correct the label; remove spot where the provider takes no nodes away",
    source="platform/trainyard/specs/labels; docs/pools.md",
    may_waive=True,
    may_warn=True,
)

WORDS = frozenset({"spot", "preemptible"})
"""Words in the name of a pool by which people mean spot nodes."""


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pools whose field spot contradicts what else is said of their nodes."""
    for name, pool in cluster.pools.items():
        said = list(statements(name, pool))
        wrong = [(path, words) for path, words, spot in said if spot != pool.spot]
        if wrong and not any(spot == pool.spot for _, _, spot in said):
            path, words = wrong[0]
            if pool.spot:
                message = f"pool {name!r} has spot: true, but {words} says otherwise; remove spot, or correct the label"
                yield SPOT.at(source, ("pools", name, "spot"), message, shared=[path])
            else:
                message = f"{words} says that pool {name!r} has spot nodes; set spot: true, or correct the label"
                yield SPOT.at(source, path, message, key=True, shared=[("pools", name)])
        elif not pool.spot and not said and WORDS & set(re.split(r"[-_.]", name)):
            message = f"pool {name!r} is named after spot nodes, but spot is not set; set spot: true, or rename it"
            yield SPOT.at(source, ("pools", name), message, key=True, severity=Severity.WARNING)


def statements(name: str, pool: Pool) -> Iterator[tuple[Path, str, bool]]:
    """Yield the labels and taints that say whether nodes are spot nodes, with their places and what each says."""
    at: Path = ("pools", name)
    for field, labels in (("selector", pool.selector or {}), ("labels", pool.labels)):
        for label, value in labels.items():
            if (spot := is_spot(label, value)) is not None:
                yield (*at, field, label), f"label {label!r}", spot
    for index, taint in enumerate(pool.taints):
        if (spot := is_spot(taint.key, taint.value)) is not None:
            yield (*at, "taints", index, "key"), f"taint {taint.key!r}", spot
