"""Whether a team's volumes of exports that exist have an export."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import TEAM, OneTeam

CLAIM = Rule(
    id="sto-export-claim",
    title="A volume of a storage with exports is one of them.",
    why="such a storage makes no volumes, so that a claim without an export stays pending",
    fix="add the export to the cluster's file, or use another storage",
    source="docs/clusters.md#storage",
)


@TEAM.check()
def check_volumes(one: OneTeam) -> Iterator[Finding]:
    """Yield volumes of a storage that has only exports, none of which is for them."""
    for name, cluster in one.specs.clusters.items():
        if one.name not in cluster.teams():
            continue
        for volume, claim in one.team.volumes.items():
            storage = cluster.storage.get(claim.storage)
            if storage is None or not storage.exports or (claim.clusters and name not in claim.clusters):
                continue
            if storage.export_of(one.name, volume) is None:
                message = f"storage {claim.storage!r} of cluster {name!r} has no export for volume {volume!r}; add one"
                yield CLAIM.at(one.source, ("volumes", volume, "storage"), message)
