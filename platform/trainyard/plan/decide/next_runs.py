"""What the next runs of jobs would come to, as they would be rendered now: a run that is there stays as it is.

A file of a cluster that says something else changes what jobs ask for that do not say it themselves, and what there is
for them. Only there are jobs rendered, each alone with its cluster: who is there when it begins anew nobody knows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from trainyard.admission.alone import Outlook, alike, outlook
from trainyard.admission.asks import Ask, ask, resolved
from trainyard.admission.bid import Bidder, is_judged
from trainyard.admission.changes import Decide, Outcomes, sort
from trainyard.admission.machines import Machines
from trainyard.admission.outcomes import Word
from trainyard.admission.site import Site
from trainyard.errors import SpecError
from trainyard.plan.decide.decisions import RULES, Decisions, answered, called
from trainyard.plan.decide.workloads import bids, listed, models, runs_of, sites
from trainyard.plan.effects import NextRun
from trainyard.plan.read.memory import Memory
from trainyard.plan.read.sides import Sides
from trainyard.specs.load import read_repository
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.sources import JobFile, Specs
from trainyard.system.cache import key
from trainyard.system.repository import JOBS, cluster_file, job_file
from trainyard.tree.ledgers import JobKey

BAD: frozenset[Word] = frozenset({"never fits", "may fit", "does not settle"})
"""What becomes of a run that a reviewer is told of before it begins."""


@dataclass(frozen=True)
class JobFiles:
    """The files of jobs at hand, which are read only where something follows from them."""

    root: Path
    ids: Mapping[str, str | None]
    """By path below `jobs/`, the content id of a plain file."""

    def id(self, place: JobKey) -> str | None:
        """Return the content id of a job's file, None where a program makes the job."""
        return self.ids.get(f"{place[1]}/{place[2]}.yaml")

    def specs(self, places: Collection[JobKey]) -> Specs:
        """Return the specs with some jobs and no others."""
        wanted = {job_file(*place[1:]) for place in places}
        return read_repository(self.root, skip=frozenset({f"{JOBS}/{path}" for path in self.ids} - wanted)).specs


@dataclass(frozen=True)
class Fate:
    """What becomes of a job that has its cluster to itself."""

    word: Word
    detail: str = ""
    rule: str = ""


@dataclass
class Renderer:
    """A cluster on one side of a change, on which jobs are rendered and asked about alone."""

    where: Site
    specs: Specs
    decide: Decide
    fates: dict[str, Fate] = field(default_factory=dict)
    """By what is the same for jobs whose pods are."""

    @cached_property
    def machines(self) -> Machines:
        """Its nodes, empty."""
        return Machines.of(self.where)

    def ask(self, file: JobFile) -> Ask | None:
        """Return what a job asks for as it would be rendered, None where it cannot be."""
        try:
            found = ask(file, resolved(self.specs, file), {self.where.name: self.where})
        except (SpecError, KeyError, ValueError, ArithmeticError):
            return None
        return found if is_judged(found) else None

    def fate(self, asked: Ask) -> Fate:
        """Return what becomes of a job; those whose pods are alike are one."""
        same = alike(asked)
        if same not in self.fates:
            alone = Outcomes(self.where, [asked], self.decide, look=self.look)
            word = alone.word(asked)
            rule = RULES.get((word, alone.by(asked)))
            self.fates[same] = Fate(word, alone.detail(asked), rule.id if rule else "")
        return self.fates[same]

    def look(self, bid: Bidder) -> Outlook:
        """Return what becomes of pods on empty nodes."""
        return outlook(bid, self.machines)


def next_runs(
    sides: Sides,
    clusters: Iterable[str],
    decided: Decisions,
    files: JobFiles,
    known: Mapping[str, Cluster],
    memory: Memory,
) -> Iterator[NextRun]:
    """Yield the next runs of jobs of these clusters whose runs stay, where they come to something else.

    Told is what never or only may fit as it would be rendered now, and did as it would have been before; and what
    becomes of the next run of a job whose run there is would never or only may fit again. `known` are
    the clusters at hand.
    """
    turned = {(each.cluster, each.team, each.job) for each in decided.told if each.before and each.after in BAD}
    for cluster in sorted(clusters):
        found = fates(sides, cluster, files, known, memory)
        for place, (before, after) in found.items():
            is_worse = after.word in BAD and sort(before.word) != sort(after.word)
            if is_worse or place in turned:
                yield NextRun(*place, sides.now.active[place].name, before.word, after.word, after.detail, after.rule)


def fates(
    sides: Sides,
    cluster: str,
    files: JobFiles,
    known: Mapping[str, Cluster],
    memory: Memory,
) -> dict[JobKey, tuple[Fate, Fate]]:
    """Return what becomes of the next runs of a cluster's jobs, before and after a change, where they differ from it.

    What was found out before is remembered under all that rendering and judging follow from.
    """
    before, after = sites(sides, cluster, known, memory)
    past, _ = models(sides, cluster, known)
    if before is None or after is None or past is None:
        return {}
    there = {place: name for place, name in kept(sides, cluster).items() if files.id(place)}
    texts: list[str | bytes] = [text or b"" for text in sides.spec(cluster_file(cluster))]
    parts = ("next", *texts, *listed(sides.base, cluster).values(), "", *listed(sides.now, cluster).values())
    remembered: dict[str, Any] = memory.get(*parts) or {}
    names = {place: key(name, files.id(place) or "") for place, name in there.items()}
    missing = [place for place in there if names[place] not in remembered]
    found = {name: remembered[name] for name in names.values() if name in remembered}
    if missing:
        specs = files.specs(missing)
        jobs = {(each.team, each.name): each for each in specs.jobs}
        pods = {each.name: each.pods for each in bids(sides.now, after, memory)}

        def decide(site: Site, case: Mapping[str, Any]) -> Mapping[str, Any]:
            return answered(site, case, memory)

        new = Renderer(after, specs, decide)
        old = Renderer(before, replace(specs, clusters={**specs.clusters, cluster: past}), decide)
        for place in missing:
            file = jobs.get(place[1:])
            found[names[place]] = told(file, pods.get(called(place), ""), old, new) if file is not None else None
        memory.put(found, *parts)
    return {place: (Fate(*said[0]), Fate(*said[1])) for place in there if (said := found[names[place]])}


def kept(sides: Sides, cluster: str) -> dict[JobKey, str]:
    """Return the runs of a cluster that a change leaves alone, by job."""
    before = {place: entry.name for place, entry in runs_of(sides.base, cluster)}
    return {place: entry.name for place, entry in runs_of(sides.now, cluster) if before.get(place) == entry.name}


def told(file: JobFile, pods: str, old: Renderer, new: Renderer) -> list[list[str]] | None:
    """Return what becomes of a job's next run before and after; None where its pods are those of the run there is."""
    asked = new.ask(file)
    if asked is None or key(alike(asked)) == pods:
        return None
    after = new.fate(asked)
    past = old.ask(file) if after.word in BAD else None
    before = after if after.word not in BAD else old.fate(past) if past is not None else Fate("not judged")
    return [[each.word, each.detail, each.rule] for each in (before, after)]
