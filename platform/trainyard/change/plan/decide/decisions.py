"""What Kueue decides on the clusters that a change touches, before and after it."""

from __future__ import annotations

import json
import marshal
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from trainyard.base.findings import Finding, Location
from trainyard.base.memory import Memory
from trainyard.base.rules import Rule
from trainyard.base.system.repository import cluster_file
from trainyard.change.plan.decide.machines import Rooms
from trainyard.change.plan.decide.workloads import bids, is_as_it_was, runs_of, sites
from trainyard.change.plan.effects import Decision, RunEffect, Victim
from trainyard.change.plan.read import lost_work
from trainyard.change.plan.read.two_sides import Sides
from trainyard.judge.admission.changes import By, Side, Turn, decide_change
from trainyard.judge.admission.outcomes import Word
from trainyard.judge.admission.rules import NEVER, NO_NODE, NO_START, PERHAPS_NODES, RESTLESS, doubt
from trainyard.judge.admission.site import Site
from trainyard.render.tree.ledgers import JobKey
from trainyard.specs.models.cluster import Cluster

RULES: Mapping[tuple[Word, By], Rule] = {
    ("never fits", "kueue"): NEVER,
    ("never fits", "volcano"): NO_START,
    ("never fits", "machines"): NO_NODE,
    ("may fit", "machines"): PERHAPS_NODES,
    ("does not settle", "kueue"): RESTLESS,
}
"""The rules that jobs break, by what becomes of them and who says so."""

WITHOUT_IDENTITY = 2
"""The version of `marshal` in which it does not matter which parts of a value are one object."""

Words = Mapping[JobKey, Word]
"""What becomes of jobs."""


@dataclass(frozen=True)
class Decisions:
    """What Kueue decides about the jobs of some clusters."""

    told: tuple[Decision, ...] = ()
    """What a reviewer is told."""
    words: Words = field(default_factory=dict)
    """What becomes of every active job."""
    past: Words = field(default_factory=dict)
    """What became of every job that was active before."""


def decisions(sides: Sides, clusters: Iterable[str], known: Mapping[str, Cluster], memory: Memory) -> Decisions:
    """Return Kueue's decisions on clusters whose runs, objects or nodes change.

    `known` are the clusters at hand, as far as they were read before.
    """
    told: list[Decision] = []
    words: dict[JobKey, Word] = {}
    past: dict[JobKey, Word] = {}
    for cluster in sorted(clusters):
        jobs = [{place: entry.name for place, entry in runs_of(side, cluster)} for side in (sides.base, sides.now)]
        if jobs[0] == jobs[1] and is_as_it_was(sides, cluster):
            continue
        before, after = sites(sides, cluster, known, memory)
        if after is None:
            continue
        begun = {place: name for place, name in jobs[1].items() if jobs[0].get(place) != name}
        old, new = sides.spec(cluster_file(cluster))
        there = Rooms(sides.now, after, new, memory)
        here = Rooms(sides.base, before, old, memory) if before is not None and before is not after else there
        found = decide_change(
            Side(before, bids(sides.base, before, memory), here.look) if before is not None else None,
            Side(after, bids(sides.now, after, memory), there.look),
            {job_name(place) for place in begun},
            lambda site, case: remembered_answer(site, case, memory),
        )
        here.save()
        there.save()
        names = {job_name(place): place for place in jobs[1]}
        words |= {names[name]: word for name, word in found.words.items()}
        past |= {place: word for place in jobs[0] if (word := found.past.get(job_name(place)))}
        told += (decision(sides, names, turn) for turn in found.turns)
    return Decisions(tuple(told), words, past)


def remembered_answer(site: Site, case: Mapping[str, Any], memory: Memory) -> Mapping[str, Any]:
    """Return Kueue's answer to a case on a cluster, which is remembered."""
    said = to_bytes([site.config, list(site.objects), case])
    return memory.remember(partial(site.answered, case), "answer", said)


def to_bytes(value: Any) -> bytes:
    """Return bytes that say what a value is; of types that are not quite plain it takes five times as long."""
    try:
        return marshal.dumps(value, WITHOUT_IDENTITY)
    except ValueError:
        return json.dumps(value, sort_keys=True).encode()


def job_name(place: JobKey) -> str:
    """Return a job as `<team>/<job>`."""
    return f"{place[1]}/{place[2]}"


def decision(sides: Sides, names: Mapping[str, JobKey], turn: Turn) -> Decision:
    """Return the decision about a job for a reviewer; `names` are the jobs of its cluster."""
    place = names[turn.name]
    run = sides.now.active[place].name
    gone = [names[name] for name in turn.victims if name in names]
    rule = RULES.get((turn.after, turn.by))
    return Decision(
        *place,
        run,
        turn.before,
        turn.after,
        turn.detail,
        tuple(victims(sides, gone)),
        rule.id if rule else "",
        turn.perhaps,
    )


def job_findings(told: Iterable[Decision], runs: Iterable[RunEffect]) -> Iterator[Finding]:
    """Yield a finding on the job of each run that begins in vain, or perhaps so; a plan tells of those that stay."""
    files = {(run.cluster, run.team, run.job): run.spec for run in runs if run.spec}
    rules = {rule.id: rule for rule in RULES.values()}
    for item in told:
        file = files.get((item.cluster, item.team, item.job))
        if item.before is not None or not file:
            continue
        if item.rule in rules and item.rule != PERHAPS_NODES.id:
            found = rules[item.rule].of(Location(file, 1, 1), f"job {item.after}: {item.detail}")
            yield replace(found, path="queue")
        if item.perhaps:
            yield replace(PERHAPS_NODES.of(Location(file, 1, 1), doubt(item.perhaps)), path="nodes")


def victims(sides: Sides, places: Iterable[JobKey]) -> Iterator[Victim]:
    """Yield runs that are preempted, with what they have to do again."""
    for place, run in sides.runs({one_place: sides.now.active[one_place] for one_place in places}, old=False).items():
        loss = lost_work.when_preempted(run.shape, run.job)
        yield Victim(*place[1:], run.entry.name, loss.lost, loss.gpu_hours)
