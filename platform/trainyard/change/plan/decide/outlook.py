"""What Kueue and machines make of both sides of a change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trainyard.base.system.repository import JOBS
from trainyard.change.plan.decide.decisions import Decisions, decisions
from trainyard.change.plan.decide.next_runs import JobFiles, next_runs
from trainyard.change.plan.decide.queues import rows
from trainyard.change.plan.decide.rebuild import Asked, all_asked
from trainyard.change.plan.effects import NextRun, Plan, QueueRow, RunWord
from trainyard.change.plan.read.change import Change
from trainyard.render.tree.ledgers import JobKey

NEW: tuple[RunWord, ...] = ("starts", "returns", "replaces", "moves")
ENDS: tuple[RunWord, ...] = ("stops", "leaves")
"""What happens to runs that ask something of their queues, or do so no more."""


@dataclass(frozen=True)
class Outlook:
    """What the runs on both sides ask for, and what becomes of them."""

    asked: Mapping[JobKey, Asked]
    """What each active run asks for after the change."""
    decided: Decisions
    queues: tuple[QueueRow, ...]
    next_runs: tuple[NextRun, ...]


def outlook(change: Change, compared: Plan) -> Outlook:
    """Return the outlook of runs on the clusters that a change touches; of none where a synth refuses it."""
    before, after = all_asked(change.sides, change.memory)
    redeclared = change.redeclared()
    touched = {*clusters_of(compared), *redeclared} if change.verdict.told != "refused" else set()
    decided = decisions(change.sides, touched, change.read_clusters, change.memory)
    renewed = redeclared & touched if change.base.live else ()
    files = JobFiles(change.root, change.disk.scan(JOBS))
    return Outlook(
        after,
        decided,
        tuple(rows(change.base, change.now, touched, (before, after), decided)),
        tuple(next_runs(change.sides, renewed, decided, files, change.read_clusters, change.memory)),
    )


def clusters_of(plan: Plan) -> set[str]:
    """Return the clusters whose queues a change may touch."""
    return {run.cluster for run in plan.of(*NEW, *ENDS)} | {obj.cluster for obj in plan.objects}
