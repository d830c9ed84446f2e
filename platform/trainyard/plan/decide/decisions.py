"""What Kueue decides on the clusters that a change touches, before and after it."""

from __future__ import annotations

import json
import marshal
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from trainyard.admission.changes import By, Side, Turn, decided
from trainyard.admission.outcomes import Word
from trainyard.admission.rules import NEVER, NO_NODE, NO_START, PERHAPS_NODES, RESTLESS, doubt
from trainyard.admission.site import Site
from trainyard.findings import Finding, Location
from trainyard.plan.decide.machines import Rooms
from trainyard.plan.decide.workloads import bids, is_as_it_was, runs_of, sites
from trainyard.plan.effects import Decision, RunEffect, Victim
from trainyard.plan.read import losses
from trainyard.plan.read.memory import Memory
from trainyard.plan.read.sides import Sides
from trainyard.rules import Rule
from trainyard.specs.models.cluster import Cluster
from trainyard.system.repository import cluster_file
from trainyard.tree.ledgers import JobKey

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
    """Return what Kueue decides on the clusters where runs begin or end, or by other objects or nodes than before.

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
        found = decided(
            Side(before, bids(sides.base, before, memory), here.look) if before is not None else None,
            Side(after, bids(sides.now, after, memory), there.look),
            {called(place) for place in begun},
            lambda site, case: answered(site, case, memory),
        )
        here.save()
        there.save()
        names = {called(place): place for place in jobs[1]}
        words |= {names[name]: word for name, word in found.words.items()}
        past |= {place: word for place in jobs[0] if (word := found.past.get(called(place)))}
        told += (decision(sides, names, each) for each in found.turns)
    return Decisions(tuple(told), words, past)


def answered(site: Site, case: Mapping[str, Any], memory: Memory) -> Mapping[str, Any]:
    """Return Kueue's answer to a case on a cluster, which is remembered."""
    said = written([site.config, list(site.objects), case])
    found: Mapping[str, Any] | None = memory.get("answer", said)
    if found is None:
        found = site.answered(case)
        memory.put(found, "answer", said)
    return found


def written(value: Any) -> bytes:
    """Return bytes that say what a value is; of types that are not quite plain it takes five times as long."""
    try:
        return marshal.dumps(value, WITHOUT_IDENTITY)
    except ValueError:
        return json.dumps(value, sort_keys=True).encode()


def called(place: JobKey) -> str:
    """Return a job as `<team>/<job>`."""
    return f"{place[1]}/{place[2]}"


def decision(sides: Sides, names: Mapping[str, JobKey], turn: Turn) -> Decision:
    """Return what a reviewer is told of a job; `names` are the jobs of its cluster."""
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


def hopeless(told: Iterable[Decision], runs: Iterable[RunEffect]) -> Iterator[Finding]:
    """Yield a finding on the job of each run that begins in vain, or perhaps so; a plan tells of those that stay."""
    files = {(each.cluster, each.team, each.job): each.spec for each in runs if each.spec}
    rules = {rule.id: rule for rule in RULES.values()}
    for each in told:
        file = files.get((each.cluster, each.team, each.job))
        if each.before is not None or not file:
            continue
        if each.rule in rules and each.rule != PERHAPS_NODES.id:
            found = rules[each.rule].of(Location(file, 1, 1), f"job {each.after}: {each.detail}")
            yield replace(found, path="queue")
        if each.perhaps:
            yield replace(PERHAPS_NODES.of(Location(file, 1, 1), doubt(each.perhaps)), path="nodes")


def victims(sides: Sides, places: Iterable[JobKey]) -> Iterator[Victim]:
    """Yield runs that are preempted, with what they have to do again."""
    for place, run in sides.runs({each: sides.now.active[each] for each in places}, old=False).items():
        loss = losses.preempted(run.shape, run.job)
        yield Victim(*place[1:], run.entry.name, loss.lost, loss.gpu_hours)
