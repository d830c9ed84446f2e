"""Whether the checkpoints of a job outlive the claim that they are in."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import PLACED, OneJob
from trainyard.render.clusters.platform import reclaim_policy
from trainyard.specs import Cluster, Team

KEPT = Rule(
    id="ckp-reclaim",
    title="Checkpoints are in a class whose volumes outlive their claim.",
    why="with reclaim Delete one deleted claim, or namespace, deletes every checkpoint of the team",
    fix="remove reclaim from the class, or save to a volume of another class",
    source="kubernetes/website v1.35 content/en/docs/concepts/storage/persistent-volumes.md, reclaiming",
    layer="run",
    severity=Severity.WARNING,
)


@PLACED.check()
def check(one: OneJob, team: Team, cluster: Cluster) -> Iterator[Finding]:
    """Yield checkpoints in a class of ours that deletes a volume with its claim."""
    checkpoint = one.file.job.checkpoint
    volume = team.volumes.get(checkpoint.volume) if checkpoint is not None else None
    storage = cluster.storage.get(volume.storage) if volume is not None else None
    if volume is None or storage is None or storage.existing or storage.exports:
        return
    if reclaim_policy(cluster, volume.storage) == "Delete":
        message = f"class {volume.storage!r} deletes volumes with their claim, and checkpoints too; use reclaim: Retain"
        yield KEPT.at(one.file.source, ("checkpoint", "volume"), message)
