"""A verdict per job: whether Kueue admits it alone and among all others, with a witness or a reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from trainyard.base.errors import SpecError
from trainyard.base.system import memory
from trainyard.judge.admission import gangs, nearest, placed, reasons
from trainyard.judge.admission.asks import Ask, asks
from trainyard.judge.admission.before import Before, queue
from trainyard.judge.admission.changes import By
from trainyard.judge.admission.cluster_jobs import Crowd, workload_answers
from trainyard.judge.admission.competitors import messages
from trainyard.judge.admission.inactive_queues import closed_queue
from trainyard.judge.admission.job_workloads import Bidder, bid, is_judged
from trainyard.judge.admission.machines import Fit
from trainyard.judge.admission.outcomes import Word, fit_of, has_pods, holds, restless
from trainyard.judge.admission.quota_use import quota
from trainyard.judge.admission.site import Site, admits, site
from trainyard.judge.preflight import Checked
from trainyard.specs.run import pools_of
from trainyard.specs.sources import Specs

Answer = Mapping[str, Any]


Objects = Sequence[dict[str, Any]]
Standing = Mapping[str, Mapping[str, Objects]]
"""By cluster and job, `<team>/<job>`, the objects of runs that count beside the jobs that are declared."""

NOTHING: Standing = MappingProxyType({})
NEW: Mapping[str, Before] = MappingProxyType({})


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


@memory.without_collecting()
def verdicts(
    checked: Checked,
    names: Sequence[str] = (),
    clusters: Sequence[str] = (),
    standing: Standing = NOTHING,
    before: Mapping[str, Before] = NEW,
) -> list[Verdict]:
    """Return the verdicts on these jobs, `<team>/<job>`, of these clusters; by default on all that are declared.

    Whoever else is on a cluster counts, whether asked about or not, and so do `standing` runs, of which there is none.
    Runs that are on a cluster `before` the change hold their quota; by default all runs are new.
    """
    every = checked.specs.clusters
    wanted = {job.job.cluster for job in checked.specs.jobs if not names or f"{job.team}/{job.name}" in names}
    shown = [item for item in every if item in wanted and (not clusters or item in clusters)]
    sites = dict(render_sites(checked.specs, [name for name in shown if admits(every[name])]))
    by_cluster: dict[str, list[Ask]] = {name: [] for name in shown}
    for ask in asks(checked, sites, shown):
        by_cluster[ask.file.job.cluster].append(ask)
    found = [
        one
        for name, mine in by_cluster.items()
        for one in of_cluster(sites.get(name), mine, names, standing.get(name, {}), before.get(name))
    ]
    return sorted(found, key=lambda one: (one.cluster, one.ask.name))


def render_sites(specs: Specs, names: Sequence[str]) -> Iterator[tuple[str, Site]]:
    """Yield the clusters of these names; of one that cannot be rendered, the findings of a check say why."""
    for name in names:
        with suppress(SpecError):
            yield name, site(specs, name)


def of_cluster(
    where: Site | None,
    mine: Sequence[Ask],
    names: Sequence[str],
    standing: Mapping[str, Objects] = MappingProxyType({}),
    before: Before | None = None,
) -> Iterator[Verdict]:
    """Yield the verdicts on the jobs of one cluster, beside the runs that stand there."""
    asked = [ask for ask in mine if is_judged(ask)]
    shown = [ask for ask in mine if not names or ask.name in names]
    yield from (Verdict(ask, "not judged", ask.why) for ask in shown if not is_judged(ask) or where is None)
    if where is not None and asked:
        there = together([ask for ask in asked if not ask.later], standing, where)
        queued = [bidder for bidder in there if not bidder.gang]
        runs = {ask.name: ask.run.run.name for ask in asked if ask.run is not None and not (ask.later or ask.gang)}
        known = {*(ask.name for ask in mine), *standing}
        crowd = Crowd.of(where, queue(queued, runs, known, where, before))
        found = [judge_step(ask, crowd) if ask.later else by_kueue(ask, crowd) for ask in shown if not ask.why]
        for verdict in with_nominal_quota(found, crowd):
            used = quota(where, crowd.answer, verdict.situations)
            yield word_step(replace(on_machines(verdict, crowd), quota=tuple(used)))
        beside = [bidder for bidder in there if bidder.gang]
        full = gangs.full(beside, where)
        for ask in (one_ask for one_ask in shown if one_ask.gang):
            others = [] if ask.later else [bidder.name for bidder in beside if bidder.name != ask.name]
            yield word_step(by_volcano(ask, crowd, others, full))


def by_volcano(ask: Ask, crowd: Crowd, others: Sequence[str], full: Mapping[str, str]) -> Verdict:
    """Return the verdict on a job that Volcano starts, as if it were alone: which of several is first nobody knows."""
    if why := gangs.queue_limits(ask, crowd.where):
        return never_fits(Verdict(ask, "never fits", why, by="volcano"), crowd, why)
    fit = gangs.alone(ask, crowd.empty)
    there = gangs.started_pods(fit)
    verdict = Verdict(ask, "fits", gangs.witness(ask, crowd.where, there, fit), machines={"alone": fit})
    if lack := placed.empty_cluster_lack(fit):
        return never_fits(replace(verdict, by="machines"), crowd, lack)
    detail = verdict.detail + gangs.order_note(ask, others, full)
    if lack := placed.otherwise(fit):
        return replace(verdict, word="may fit", by="machines", detail=placed.perhaps(detail, lack))
    return replace(verdict, word="fits alone" if others else gangs.word(ask, crowd.where, there), detail=detail)


def together(asked: Sequence[Ask], standing: Mapping[str, Objects], where: Site) -> list[Bidder]:
    """Return all jobs of a cluster that somebody is asked about, those of standing runs too, by team and name."""
    there = (bid(name, values, where.classes, where) for name, values in standing.items())
    return sorted([*asked, *filter(is_judged, there)], key=lambda item: item.name.split("/"))


def judge_step(ask: Ask, crowd: Crowd) -> Verdict:
    """Return Kueue's verdict on a step of a pipeline with the cluster to itself: who is there with it nobody knows."""
    verdict = by_kueue(ask, crowd.only(ask))
    return replace(verdict, situations={name: said for name, said in verdict.situations.items() if name == "alone"})


def word_step(verdict: Verdict) -> Verdict:
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
    if verdict.word == "never fits" or not alone or not all(map(has_pods, alone)):
        return verdict
    fits = {"alone": crowd.empty.alone(ask, alone)}
    if ask.name in crowd.fits:
        fits["together"] = crowd.fits[ask.name]
    verdict = replace(verdict, machines=fits)
    if lack := placed.empty_cluster_lack(fits["alone"]):
        return never_fits(replace(verdict, by="machines"), crowd, lack)
    if "together" in fits and fits["together"].missing:
        lack = placed.lack(fits["together"]) + placed.holders(fits["together"], crowd.full, ask.name)
        return with_pod_order(replace(verdict, word="waits for", by="machines", detail=lack), crowd)
    if verdict.word.startswith("fits") and (lack := placed.otherwise(fits["alone"])):
        return replace(verdict, word="may fit", by="machines", detail=placed.perhaps(verdict.detail, lack))
    return with_pod_order(verdict, crowd)


def with_pod_order(verdict: Verdict, crowd: Crowd) -> Verdict:
    """Return a verdict with what becomes of the pods where they come to nodes before or after those of other jobs."""
    there, last = verdict.machines.get("together"), crowd.last.get(verdict.ask.name)
    if there is None or last is None or not (there.missing or last.missing):
        return verdict
    more = (
        "unless its pods are placed first"
        if there.missing
        else f"if its pods are placed last, it waits for {placed.lack(last)}"
    )
    otherwise = verdict.machines["alone"] if there.missing else last
    machines = {**verdict.machines, "together": replace(there, otherwise=otherwise)}
    return replace(verdict, detail=f"{verdict.detail}; {more}", machines=machines)


def never_fits(verdict: Verdict, crowd: Crowd, why: str, whole: str = "") -> Verdict:
    """Return the verdict that a job never fits, with its reason and the nearest changes; `whole` is the full reason."""
    found = nearest.nearest(verdict.ask, crowd, whole or why)
    return replace(verdict, word="never fits", detail=why + nearest.suggestion(found), changes=tuple(map(str, found)))


def with_nominal_quota(verdicts: Sequence[Verdict], crowd: Crowd) -> Iterator[Verdict]:
    """Yield verdicts, those on jobs with quota with what becomes of it when the other queues use all that is theirs."""
    by_queue: dict[str, list[Ask]] = {}
    for verdict in verdicts:
        among = verdict.situations.get("together") or verdict.situations.get("alone", ())
        if verdict.open and among and all(map(holds, among)):
            by_queue.setdefault(among[0]["clusterQueue"], []).append(verdict.ask)
    least = {ask.name: found for queue, asks in by_queue.items() for ask, found in crowd.nominal(queue, asks)}
    for verdict in verdicts:
        found = least.get(verdict.ask.name)
        if not found:
            yield verdict
            continue
        lent = "" if all(map(holds, found)) else "; not while the other queues of its cohort use all of their own quota"
        yield replace(verdict, detail=verdict.detail + lent, situations={**verdict.situations, "nominal": found})


def by_kueue(ask: Ask, crowd: Crowd) -> Verdict:
    """Return Kueue's verdict on a job."""
    where, together, others = crowd.where, crowd.answer, crowd.others
    alone = crowd.alone(ask).answer
    for answer in (alone, together):
        if "error" in answer:
            return Verdict(ask, "not judged", f"Kueue crashes: {answer['error']}", survived=False)
    mine, among = crowd.alone(ask).said, workload_answers(ask, together)
    found = {"alone": mine, "together": among}
    if shut := closed_queue(alone, mine):
        opened = by_kueue(ask, crowd.opened) if crowd.opened and not shut.lasts else None
        if opened and opened.word == "never fits":
            return replace(opened, detail=f"even if {shut.whose} admitted jobs: {opened.detail}", open=False)
        verdict = Verdict(ask, "waits for", shut.text, situations=found, open=False)
        return never_fits(verdict, crowd, shut.text) if shut.lasts else verdict
    if alone.get("unsettled"):
        return Verdict(ask, "does not settle", reasons.kueue_reason(mine), situations=found)
    if not all(map(holds, mine)):
        first = crowd.first(ask)
        why = (
            reasons.kueue_reason(mine)
            or reasons.kueue_reason(first)
            or f"no flavor matches pods of pool {' or '.join(pools_of(ask.file.job, crowd.where.cluster))}"
        )
        whole = " ".join(messages([*mine, *first]))
        return never_fits(Verdict(ask, "never fits", why, situations=found), crowd, why, whole)
    moving = restless(together, among)
    if moving or not all(map(holds, among)):
        word: Word = "does not settle" if moving else "waits for"
        return Verdict(ask, word, reasons.waiting(ask, mine, others, crowd.hopeless, crowd.lack), situations=found)
    word, detail = fit_of(ask, where, others, crowd.fits.get(ask.name))
    return Verdict(ask, word, detail, situations=found)
