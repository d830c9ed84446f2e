"""The costs of new runs beside their quota: what a lost node loses, and the check of the network before each start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from trainyard.base.system.repository import JOBS, is_repository
from trainyard.change.plan.effects import RunEffect
from trainyard.change.plan.read.change import Change
from trainyard.judge.admission.asks import resolve_job
from trainyard.render.kinds import Resolved
from trainyard.render.kinds.lost_node import ALL, PERSON
from trainyard.render.prerequisites import faults
from trainyard.specs.load import read_repository

NEW = {"starts", "replaces", "moves"}
"""Effects that bring a run."""

MOST = 12
"""Files of new runs beyond which `explain` has to be asked: runs of a large change share a line, which has no costs."""


def with_costs(change: Change, effects: Iterable[RunEffect]) -> Iterator[RunEffect]:
    """Yield effects on runs, those of new runs with their costs."""
    found = list(effects)
    wanted = {effect.spec for effect in found if effect.word in NEW and effect.spec.endswith(".yaml")}
    known = change.verdict.told != "refused" and is_repository(change.root)
    costs = costs_of(change, wanted) if known and 0 < len(wanted) <= MOST else {}
    for effect in found:
        lines = costs.get((effect.cluster, effect.team, effect.run), ()) if effect.word in NEW else ()
        yield replace(effect, costs=lines) if lines else effect


def costs_of(change: Change, wanted: set[str]) -> dict[tuple[str, str, str], tuple[str, ...]]:
    """Return the lines on the jobs of some files, by cluster, team and run; none for jobs that cannot be rendered.

    The files are read again: a synth that remembers a job does not read it.
    """
    there = {f"{JOBS}/{path}" for path in change.disk.scan(JOBS)}
    specs = read_repository(change.root, skip=frozenset(there - wanted)).specs
    runs = [resolve_job(specs, file) for file in specs.jobs if file.source.file in wanted and not file.job.retired]
    keys = ((run.run.cluster_name, run.run.team_name, run.run.name, run) for run in runs if run is not None)
    return {(cluster, team, name): tuple(lines(run)) for cluster, team, name, run in keys}


def lines(run: Resolved) -> Iterator[str]:
    """Yield a line on a lost node, and one on the check, each where there is something to say."""
    facts = dict(faults.costs(run))
    work, silent = facts.get("lost_node.work"), facts.get("lost_node.silent")
    if work is not None and silent is not None:
        again = ALL if work.value == ALL else f"{work.value} of work"
        more = f"stops it {PERSON}" if silent.value == PERSON else f"costs {silent.value} more"
        yield f"a lost node costs {again}; one that does not answer {more}"
    checks = dict(run.facts())
    if "check.nccl.floor" in checks:
        floor, cost = checks["check.nccl.floor"].value, checks["check.nccl.cost"].value
        yield f"check of the network: at least {floor}; {cost}"
