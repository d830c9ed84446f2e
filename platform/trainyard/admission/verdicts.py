"""A verdict per job: whether Kueue admits it alone and among all others, with a witness or a reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from trainyard.admission import gangs, nearest, placed, reasons
from trainyard.admission.asks import Ask, asks
from trainyard.admission.bid import Bidder, bid, is_judged
from trainyard.admission.changes import By
from trainyard.admission.closed import closed
from trainyard.admission.counted import quota
from trainyard.admission.crowd import Crowd, said
from trainyard.admission.machines import Fit
from trainyard.admission.others import messages
from trainyard.admission.outcomes import Word, admitted, fitting, holds, restless
from trainyard.admission.site import Site, admits, site
from trainyard.errors import SpecError
from trainyard.preflight import Checked
from trainyard.specs.sources import Specs
from trainyard.system import memory

Answer = Mapping[str, Any]


Objects = Sequence[dict[str, Any]]
Standing = Mapping[str, Mapping[str, Objects]]
"""By cluster and job, `<team>/<job>`, the objects of runs that count beside the jobs that are declared."""

NOTHING: Standing = MappingProxyType({})


@dataclass(frozen=True)
class Verdict:
    """What becomes of a job, and what Kueue said of it in each situation."""

    ask: Ask
    word: Word
    detail: str
    """The witness or the reason, in few words."""
    by: By = "kueue"
    """Who says so."""
    situations: Mapping[str, Sequence[Answer]] = field(default_factory=dict)
    """By situation, Kueue's answer to each Workload of the job."""
    machines: Mapping[str, Fit] = field(default_factory=dict)
    """By situation, the nodes of its pods, where it has quota."""

    quota: tuple[str, ...] = ()
    """How much of its queue's quota all jobs together use."""
    changes: tuple[str, ...] = ()
    """Of a job that never fits, the nearest changes with which it would, alone on its cluster: fields of its file."""
    open: bool = True
    """Whether the queue of the job takes jobs at all."""
    survived: bool = True
    """Whether Kueue survives to look at the job, or at all jobs of the cluster."""

    @property
    def cluster(self) -> str:
        """Name of the job's cluster."""
        return self.ask.file.job.cluster


@memory.uncollected()
def verdicts(
    checked: Checked, names: Sequence[str] = (), clusters: Sequence[str] = (), standing: Standing = NOTHING
) -> list[Verdict]:
    """Return the verdicts on these jobs, `<team>/<job>`, of these clusters; by default on all that are declared.

    Whoever else is on a cluster counts, whether asked about or not, and so do `standing` runs, of which there is none.
    """
    every = checked.specs.clusters
    wanted = {each.job.cluster for each in checked.specs.jobs if not names or f"{each.team}/{each.name}" in names}
    shown = [each for each in every if each in wanted and (not clusters or each in clusters)]
    sites = dict(made(checked.specs, [name for name in shown if admits(every[name])]))
    by_cluster: dict[str, list[Ask]] = {name: [] for name in shown}
    for each in asks(checked, sites, shown):
        by_cluster[each.file.job.cluster].append(each)
    found = [
        one
        for name, mine in by_cluster.items()
        for one in of_cluster(sites.get(name), mine, names, standing.get(name, {}))
    ]
    return sorted(found, key=lambda one: (one.cluster, one.ask.name))


def made(specs: Specs, names: Sequence[str]) -> Iterator[tuple[str, Site]]:
    """Yield the clusters of these names; of one that cannot be rendered, the findings of a check say why."""
    for name in names:
        with suppress(SpecError):
            yield name, site(specs, name)


def of_cluster(
    where: Site | None,
    mine: Sequence[Ask],
    names: Sequence[str],
    standing: Mapping[str, Objects] = MappingProxyType({}),
) -> Iterator[Verdict]:
    """Yield the verdicts on the jobs of one cluster, beside the runs that stand there."""
    asked = [each for each in mine if is_judged(each)]
    shown = [each for each in mine if not names or each.name in names]
    yield from (Verdict(each, "not judged", each.why) for each in shown if not is_judged(each) or where is None)
    if where is not None and asked:
        there = together([each for each in asked if not each.later], standing, where)
        crowd = Crowd.of(where, [each for each in there if not each.gang])
        found = [once_started(each, crowd) if each.later else by_kueue(each, crowd) for each in shown if not each.why]
        for each in lasting(found, crowd):
            used = quota(where, crowd.answer, each.situations)
            yield worded(replace(on_machines(each, crowd), quota=tuple(used)))
        beside = [each for each in there if each.gang]
        full = gangs.full(beside, where)
        for ask in (each for each in shown if each.gang):
            others = [] if ask.later else [each.name for each in beside if each.name != ask.name]
            yield worded(by_volcano(ask, crowd, others, full))


def by_volcano(ask: Ask, crowd: Crowd, others: Sequence[str], full: Mapping[str, str]) -> Verdict:
    """Return the verdict on a job that Volcano starts, as if it were alone: which of several is first nobody knows."""
    if why := gangs.against(ask, crowd.where):
        return hopeless(Verdict(ask, "never fits", why, by="volcano"), crowd, why)
    fit = gangs.alone(ask, crowd.empty)
    there = gangs.started(fit)
    verdict = Verdict(ask, "fits", gangs.witness(ask, crowd.where, there, fit), machines={"alone": fit})
    if lack := placed.alone(fit):
        return hopeless(replace(verdict, by="machines"), crowd, lack)
    detail = verdict.detail + gangs.contended(ask, others, full)
    if lack := placed.otherwise(fit):
        return replace(verdict, word="may fit", by="machines", detail=placed.perhaps(detail, lack))
    return replace(verdict, word="fits alone" if others else gangs.word(ask, there), detail=detail)


def together(asked: Sequence[Ask], standing: Mapping[str, Objects], where: Site) -> list[Bidder]:
    """Return all jobs of a cluster that somebody is asked about, those of standing runs too, by team and name."""
    there = (bid(name, values, where.classes, where) for name, values in standing.items())
    return sorted([*asked, *filter(is_judged, there)], key=lambda each: each.name.split("/"))


def once_started(ask: Ask, crowd: Crowd) -> Verdict:
    """Return Kueue's verdict on a step of a pipeline with the cluster to itself: who is there with it nobody knows."""
    verdict = by_kueue(ask, crowd.only(ask))
    return replace(verdict, situations={name: said for name, said in verdict.situations.items() if name == "alone"})


def worded(verdict: Verdict) -> Verdict:
    """Return a verdict on a step of a pipeline in words for a job that is not there yet; others as they are."""
    if not verdict.ask.later or verdict.word in {"never fits", "not judged"}:
        return verdict
    if not verdict.word.startswith("fits"):
        return replace(verdict, detail=f"when it is started: {verdict.detail}")
    how = ", ".join(("when it is started", *verdict.word.split(" ", 1)[1:]))
    return replace(verdict, word="fits alone", detail=f"{how}: {verdict.detail}")


def on_machines(verdict: Verdict, crowd: Crowd) -> Verdict:
    """Return a verdict of Kueue's as the machines have it, where the job gets quota at all."""
    ask = verdict.ask
    alone = verdict.situations.get("alone", ())
    if verdict.word == "never fits" or not alone or not all(map(admitted, alone)):
        return verdict
    fits = {"alone": crowd.empty.alone(ask, alone)}
    if ask.name in crowd.fits:
        fits["together"] = crowd.fits[ask.name]
    verdict = replace(verdict, machines=fits)
    if lack := placed.alone(fits["alone"]):
        return hopeless(replace(verdict, by="machines"), crowd, lack)
    if "together" in fits and fits["together"].missing:
        lack = placed.lack(fits["together"]) + placed.holders(fits["together"], crowd.full, ask.name)
        return raced(replace(verdict, word="waits for", by="machines", detail=lack), crowd)
    if verdict.word.startswith("fits") and (lack := placed.otherwise(fits["alone"])):
        return replace(verdict, word="may fit", by="machines", detail=placed.perhaps(verdict.detail, lack))
    return raced(verdict, crowd)


def raced(verdict: Verdict, crowd: Crowd) -> Verdict:
    """Return a verdict with what becomes of the pods where they come to nodes before or after those of other jobs."""
    there, last = verdict.machines.get("together"), crowd.last.get(verdict.ask.name)
    if there is None or last is None or not (there.missing or last.missing):
        return verdict
    more = "unless its pods come first" if there.missing else f"if its pods come last, it waits for {placed.lack(last)}"
    otherwise = verdict.machines["alone"] if there.missing else last
    machines = {**verdict.machines, "together": replace(there, otherwise=otherwise)}
    return replace(verdict, detail=f"{verdict.detail}; {more}", machines=machines)


def hopeless(verdict: Verdict, crowd: Crowd, why: str, whole: str = "") -> Verdict:
    """Return that a job never fits, and why, with the nearest changes that would do; `whole` is all of the reason."""
    found = nearest.nearest(verdict.ask, crowd, whole or why)
    return replace(verdict, word="never fits", detail=why + nearest.told(found), changes=tuple(map(str, found)))


def lasting(verdicts: Sequence[Verdict], crowd: Crowd) -> Iterator[Verdict]:
    """Yield verdicts, those on jobs with quota with what becomes of it when the other queues use all that is theirs."""
    by_queue: dict[str, list[Ask]] = {}
    for each in verdicts:
        among = each.situations.get("together") or each.situations.get("alone", ())
        if each.open and among and all(map(holds, among)):
            by_queue.setdefault(among[0]["clusterQueue"], []).append(each.ask)
    least = {ask.name: found for queue, asks in by_queue.items() for ask, found in crowd.nominal(queue, asks)}
    for each in verdicts:
        found = least.get(each.ask.name)
        if not found:
            yield each
            continue
        lent = "" if all(map(holds, found)) else "; not while the other queues of its cohort use all that is theirs"
        yield replace(each, detail=each.detail + lent, situations={**each.situations, "nominal": found})


def by_kueue(ask: Ask, crowd: Crowd) -> Verdict:
    """Return Kueue's verdict on a job."""
    where, together, others = crowd.where, crowd.answer, crowd.others
    alone = crowd.alone(ask).answer
    for answer in (alone, together):
        if "error" in answer:
            return Verdict(ask, "not judged", f"Kueue itself does not survive it: {answer['error']}", survived=False)
    mine, among = crowd.alone(ask).said, said(ask, together)
    found = {"alone": mine, "together": among}
    if shut := closed(alone, mine):
        opened = by_kueue(ask, crowd.opened) if crowd.opened and not shut.lasts else None
        if opened and opened.word == "never fits":
            return replace(opened, detail=f"even once {shut.whose} is open: {opened.detail}", open=False)
        verdict = Verdict(ask, "waits for", shut.text, situations=found, open=False)
        return hopeless(verdict, crowd, shut.text) if shut.lasts else verdict
    if alone.get("unsettled"):
        return Verdict(ask, "does not settle", reasons.said(mine), situations=found)
    if not all(map(holds, mine)):
        first = crowd.first(ask)
        why = reasons.said(mine) or reasons.said(first) or f"no flavor takes pods of pool {ask.file.job.pool}"
        whole = " ".join(messages([*mine, *first]))
        return hopeless(Verdict(ask, "never fits", why, situations=found), crowd, why, whole)
    moving = restless(together, among)
    if moving or not all(map(holds, among)):
        word: Word = "does not settle" if moving else "waits for"
        return Verdict(ask, word, reasons.waiting(ask, mine, others, crowd.hopeless, crowd.lack), situations=found)
    word, detail = fitting(ask, where, others, crowd.fits.get(ask.name))
    return Verdict(ask, word, detail, situations=found)
