"""What the next runs of jobs would come to, as they would be rendered now: a run that is there stays as it is.

A file of a cluster that says something else changes what jobs ask for that do not say it themselves, and what there is
for them. Only there are jobs rendered, each alone with its cluster: who is there when it begins anew nobody knows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from trainyard.base.errors import SpecError
from trainyard.base.memory import Memory
from trainyard.base.system.cache import key
from trainyard.base.system.repository import JOBS, cluster_file, job_file
from trainyard.change.plan.decide.decisions import RULES, Decisions, job_name, remembered_answer
from trainyard.change.plan.decide.workloads import bids, models, object_files, runs_of, sites
from trainyard.change.plan.effects import NextRun
from trainyard.change.plan.read.two_sides import Sides
from trainyard.judge.admission.asks import Ask, ask, resolve_job
from trainyard.judge.admission.changes import Decide, Outcomes, sort
from trainyard.judge.admission.empty_nodes import Outlook, alike, outlook
from trainyard.judge.admission.job_workloads import Bidder, is_judged
from trainyard.judge.admission.machines import Machines
from trainyard.judge.admission.outcomes import Word
from trainyard.judge.admission.site import Site
from trainyard.render.tree.ledgers import JobKey
from trainyard.specs.load import read_repository
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.sources import JobFile, Specs
from trainyard.specs.tracked import instead

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
        """Return the Workloads of a job as it would be rendered, None where it cannot be rendered."""
        try:
            found = ask(file, resolve_job(self.specs, file), {self.where.name: self.where})
        except (SpecError, KeyError, ValueError, ArithmeticError):
            return None
        return found if is_judged(found) else None

    def fate(self, asked: Ask) -> Fate:
        """Return the fate of a job; jobs with the same pods share one."""
        same = alike(asked)
        if same not in self.fates:
            alone = Outcomes(self.where, [asked], self.decide, look=self.look)
            word = alone.word(asked)
            rule = RULES.get((word, alone.by(asked)))
            self.fates[same] = Fate(word, alone.detail(asked), rule.id if rule else "")
        return self.fates[same]

    def look(self, bid: Bidder) -> Outlook:
        """Return the outlook of pods on empty nodes."""
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
    turned = {
        (decision.cluster, decision.team, decision.job)
        for decision in decided.told
        if decision.before and decision.after in BAD
    }
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
    """Return the fates of the next runs of a cluster's jobs, before and after a change, where they differ from it.

    What was found out before is remembered under all that rendering and judging follow from.
    """
    before, after = sites(sides, cluster, known, memory)
    past, _ = models(sides, cluster, known)
    if before is None or after is None or past is None:
        return {}
    there = {place: name for place, name in kept_runs(sides, cluster).items() if files.id(place)}
    texts: list[str | bytes] = [text or b"" for text in sides.spec(cluster_file(cluster))]
    parts = (
        "next",
        *texts,
        *object_files(sides.base, cluster).values(),
        "",
        *object_files(sides.now, cluster).values(),
    )
    table = memory.table(*parts)
    names = {place: key(name, files.id(place) or "") for place, name in there.items()}
    missing = [place for place in there if not table.knows(names[place])]
    if missing:
        specs = files.specs(missing)
        jobs = {(job.team, job.name): job for job in specs.jobs}
        pods = {bid.name: bid.pods for bid in bids(sides.now, after, memory)}

        def decide(site: Site, case: Mapping[str, Any]) -> Mapping[str, Any]:
            return remembered_answer(site, case, memory)

        new = Renderer(after, specs, decide)
        old = Renderer(before, replace(specs, clusters=instead(specs.clusters, cluster, past)), decide)
        for place in missing:
            table.of(names[place], partial(compare_next, jobs.get(place[1:]), pods.get(job_name(place), ""), old, new))
        table.save()
    found = {place: table.value(name) for place, name in names.items()}
    return {place: (Fate(*said[0]), Fate(*said[1])) for place, said in found.items() if said}


def kept_runs(sides: Sides, cluster: str) -> dict[JobKey, str]:
    """Return the runs of a cluster that a change leaves alone, by job."""
    before = {place: entry.name for place, entry in runs_of(sides.base, cluster)}
    return {place: entry.name for place, entry in runs_of(sides.now, cluster) if before.get(place) == entry.name}


def compare_next(file: JobFile | None, pods: str, old: Renderer, new: Renderer) -> list[list[str]] | None:
    """Return the fate of a job's next run before and after; None where its pods are those of the current run.

    Of a job that cannot be read nothing is known either.
    """
    if file is None:
        return None
    asked = new.ask(file)
    if asked is None or key(alike(asked)) == pods:
        return None
    after = new.fate(asked)
    past = old.ask(file) if after.word in BAD else None
    before = after if after.word not in BAD else old.fate(past) if past is not None else Fate("not judged")
    return [[item.word, item.detail, item.rule] for item in (before, after)]
