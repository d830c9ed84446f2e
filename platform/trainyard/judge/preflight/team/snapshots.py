"""Whether a team's volumes begin with snapshots that their driver can restore."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import TEAM, OneTeam
from trainyard.render.sizing.node import size
from trainyard.specs import Cluster
from trainyard.specs.models.team import Volume

RESTORE = Rule(
    id="sto-restore",
    title="A volume that begins with a snapshot is of a driver that restores them.",
    why="the claim stays pending, and so do the pods that mount it",
    fix="remove fromSnapshot, or use a storage whose driver takes snapshots",
    source="docs/snapshots.md; kubernetes/website v1.35 content/en/docs/concepts/storage/volume-snapshots.md",
)
MADE = Rule(
    id="sto-restore-size",
    title="A volume from a scheduled snapshot fits the volume that the snapshot was taken of.",
    why="the claim stays pending where no such snapshot exists, or where the snapshot is larger than the claim",
    fix="correct the name or the size; kubectl get volumesnapshots lists the snapshots of a namespace",
    source="docs/snapshots.md; kubernetes-csi/external-provisioner v6.1 pkg/controller/controller.go",
    severity=Severity.WARNING,
)

NAME = re.compile(r"(?P<claim>.+)-\d{8}-\d{2}")
"""Name of a snapshot on a schedule: its claim, the date and the hour (render/parts/snapshot_program.py)."""


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
            else:
                yield from check_source(one, volume, claim, name)


def check_source(one: OneTeam, volume: str, claim: Volume, name: str) -> Iterator[Finding]:
    """Yield the name of a scheduled snapshot that no claim of the team has, or one of a larger or foreign claim.

    A claim that the team has no more may have snapshots still, so only a name that is nearly one of another is wrong.
    """
    cluster, found = one.specs.clusters[name], NAME.fullmatch(claim.from_snapshot or "")
    if found is None:
        return
    at, own = ("volumes", volume), {key: other for key, other in one.team.volumes.items() if on(other, name, cluster)}
    taken = {key: other for key, other in own.items() if cluster.storage[other.storage].snapshots and key != volume}
    source = own.get(found["claim"])
    if found["claim"] == volume:
        message = "a volume whose claim is there cannot begin with its own snapshot; add a volume with another name"
        yield MADE.at(one.source, (*at, "fromSnapshot"), message)
    elif source is None and found["claim"] in one.team.volumes:
        message = f"volume {found['claim']!r} of the snapshot is not on cluster {name!r}, where no snapshot of it is"
        yield MADE.at(one.source, (*at, "fromSnapshot"), f"{message}; set clusters")
    elif source is None:
        near = did_you_mean(found["claim"], taken)
        if near.startswith("did you mean"):
            message = f"no volume of team {one.name!r} is named {found['claim']!r}, of which this is a snapshot; {near}"
            yield MADE.at(one.source, (*at, "fromSnapshot"), message)
    elif cluster.storage[source.storage].provisioner != cluster.storage[claim.storage].provisioner:
        message = f"snapshots of {found['claim']!r} are by another driver; use storage {source.storage!r}"
        yield MADE.at(one.source, (*at, "storage"), message)
    elif size(claim.size) < size(source.size):
        message = f"size is {claim.size}, but volume {found['claim']!r} of the snapshot has {source.size}; use that"
        yield MADE.at(one.source, (*at, "size"), message)


def on(claim: Volume, name: str, cluster: Cluster) -> bool:
    """Say whether a cluster has a volume."""
    return claim.storage in cluster.storage and (not claim.clusters or name in claim.clusters)
