"""Whether the topology of a cluster goes from coarse to fine, where the names of its levels tell."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.policies.levels import upside_down
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.specs import Cluster
from trainyard.specs.sources import Source

ORDER = Rule(
    id="spec/topology-order",
    title="Topology levels go from coarse to fine.",
    why="Kueue takes each level for a part of the one before, so a block would end at its rack, and large runs wait",
    fix="list the coarsest level first, such as block before rack",
    source="kueue v0.19.2 apis/kueue/v1beta2/topology_types.go, pkg/cache/scheduler/tas_flavor_snapshot.go",
    severity=Severity.WARNING,
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield levels that stand before one that holds them."""
    levels = [next(iter(entry.items())) for entry in cluster.topology]
    by_name = {index: (level, other) for index, level, other in upside_down([level for level, _ in levels])}
    by_label = {index: (level, other) for index, level, other in upside_down([label for _, label in levels])}
    for index, (fine, coarse) in sorted({**by_label, **by_name}.items()):
        message = f"level {fine!r} stands before {coarse!r}, which holds it; write {coarse!r} first"
        yield ORDER.at(source, ("topology", index, levels[index][0]), message, key=True)
