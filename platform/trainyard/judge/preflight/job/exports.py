"""Whether jobs only read exports that are read-only."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import PLACED, OneJob
from trainyard.specs import Cluster, Team

WRITES = Rule(
    id="sto-export-write",
    title="Jobs write only to exports with readOnly: false.",
    why="the driver mounts the export read-only, so the first write fails",
    fix="use another volume, or set readOnly: false in the cluster's file",
    source="kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go CSIPersistentVolumeSource readOnly",
)


@PLACED.check()
def check(one: OneJob, team: Team, cluster: Cluster) -> Iterator[Finding]:
    """Yield checkpoints and data that a job writes to an export that is only read."""
    job = one.file.job
    written: list[tuple[str, Path]] = [
        (data.volume, ("data", index, "readOnly")) for index, data in enumerate(job.data) if not data.read_only
    ]
    if job.checkpoint is not None:
        written.append((job.checkpoint.volume, ("checkpoint", "volume")))
    for volume, place in written:
        claim = team.volumes.get(volume)
        storage = cluster.storage.get(claim.storage) if claim else None
        export = storage.export_of(one.file.team, volume) if storage else None
        if storage is not None and export is not None and storage.exports[export].read_only:
            message = f"volume {volume!r} is export {export!r}, which is read-only; use another volume"
            yield WRITES.at(one.file.source, place, message)
