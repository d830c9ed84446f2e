"""Whether a team's volumes begin with snapshots that their driver can restore."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import TEAM, OneTeam

RESTORE = Rule(
    id="sto-restore",
    title="A volume that begins with a snapshot is of a driver that restores them.",
    why="the claim stays pending, and so do the pods that mount it",
    fix="remove fromSnapshot, or use a storage whose driver takes snapshots",
    source="docs/snapshots.md; kubernetes/website v1.35 content/en/docs/concepts/storage/volume-snapshots.md",
)


@TEAM.check()
def check(one: OneTeam) -> Iterator[Finding]:
    """Yield volumes from snapshots on classes that have none."""
    for volume, claim in one.team.volumes.items():
        if claim.from_snapshot is None:
            continue
        for name, cluster in one.specs.clusters.items():
            storage = cluster.storage.get(claim.storage)
            if storage is None or (claim.clusters and name not in claim.clusters) or one.name not in cluster.teams():
                continue
            at = ("volumes", volume, "fromSnapshot")
            driver = storage.driver
            if storage.export_of(one.name, volume) is not None:
                message = f"volume {volume!r} is an export of cluster {name!r}, which exists; remove fromSnapshot"
                yield RESTORE.at(one.source, at, message)
            elif driver is not None and driver.snapshots is None:
                message = f"{driver.title} of cluster {name!r} restores no snapshots; remove fromSnapshot"
                yield RESTORE.at(one.source, at, message, source=driver.source)
