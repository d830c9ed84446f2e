"""A verdict per job: whether Kueue admits it alone and among all others, with a witness or a reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from trainyard.admission import nominal, placed, reasons
from trainyard.admission.asks import Ask, asks, smaller
from trainyard.admission.machines import Fit, Machines
from trainyard.admission.outcomes import Word, fitting, holds
from trainyard.admission.site import Site, admits, site
from trainyard.preflight import Checked

Answer = Mapping[str, Any]


@dataclass(frozen=True)
class Crowd:
    """All jobs of a cluster that Kueue is asked about, and what becomes of them together."""

    where: Site
    asks: Sequence[Ask]
    answer: Answer
    """Kueue's."""
    empty: Machines
    full: Machines
    fits: Mapping[str, Fit]
    """By job, where its pods are."""

    @staticmethod
    def of(where: Site, asks: Sequence[Ask]) -> Crowd:
        """Have Kueue and the machines decide on all jobs at once."""
        workloads = [one for each in asks for one in each.workloads]
        answer = where.decided(workloads, *(one for each in asks for one in each.beside))
        empty, full = Machines.of(where), Machines.of(where)
        return Crowd(where, asks, answer, empty, full, {} if "error" in answer else full.fill(asks, answer))


@dataclass(frozen=True)
class Verdict:
    """What becomes of a job, and what Kueue said of it in each situation."""

    ask: Ask
    word: Word
    detail: str
    """The witness or the reason, in few words."""
    by: Literal["kueue", "machines"] = "kueue"
    """Who says so: Kueue, or the nodes that have no place for what Kueue gives quota."""
    situations: Mapping[str, Sequence[Answer]] = field(default_factory=dict)
    """By situation, Kueue's answer to each Workload of the job."""
    machines: Mapping[str, Fit] = field(default_factory=dict)
    """By situation, the nodes of its pods, where it has quota."""

    @property
    def cluster(self) -> str:
        """Name of the job's cluster."""
        return self.ask.file.job.cluster


def verdicts(checked: Checked, names: Sequence[str] = (), clusters: Sequence[str] = ()) -> list[Verdict]:
    """Return the verdicts on these jobs, `<team>/<job>`, of these clusters; by default on all that are declared.

    Whoever else is on a cluster counts, whether asked about or not.
    """
    every = checked.specs.clusters
    wanted = {each.job.cluster for each in checked.specs.jobs if not names or f"{each.team}/{each.name}" in names}
    shown = [each for each in every if each in wanted and (not clusters or each in clusters)]
    sites = {name: site(checked.specs, name) for name in shown if admits(every[name])}
    by_cluster: dict[str, list[Ask]] = {name: [] for name in shown}
    for each in asks(checked, sites, shown):
        by_cluster[each.file.job.cluster].append(each)
    found = [one for name, mine in by_cluster.items() for one in of_cluster(sites.get(name), mine, names)]
    return sorted(found, key=lambda one: (one.cluster, one.ask.name))


def of_cluster(where: Site | None, mine: Sequence[Ask], names: Sequence[str]) -> Iterator[Verdict]:
    """Yield the verdicts on the jobs of one cluster."""
    there = [each for each in mine if not each.why]
    crowd = None if where is None or not there else Crowd.of(where, there)
    for each in mine:
        if names and each.name not in names:
            continue
        if each.why or crowd is None:
            yield Verdict(each, "not judged", each.why)
        else:
            yield judged(each, crowd)


def judged(ask: Ask, crowd: Crowd) -> Verdict:
    """Return the verdict on a job that Kueue is asked about: Kueue's, and where it has quota that of the machines."""
    verdict = by_kueue(ask, crowd)
    alone, among = verdict.situations.get("alone", ()), verdict.situations.get("together", ())
    if verdict.word == "never fits" or not alone or not all(map(admitted, alone)):
        return verdict
    fits = {"alone": crowd.empty.alone(ask, alone)}
    if crowd.fits.get(ask.name) and all(map(admitted, among)):
        fits["together"] = crowd.fits[ask.name]
    verdict = replace(verdict, machines=fits)
    if fits["alone"].missing:
        least = fewest(ask, crowd)
        lack = f"alone it waits for {placed.lack(fits['alone'])}" + (f"; nodes: {least} fits" if least else "")
        return replace(verdict, word="never fits", by="machines", detail=lack)
    if "together" in fits and fits["together"].missing:
        lack = placed.lack(fits["together"]) + placed.holders(fits["together"], crowd.full, ask.name)
        return replace(verdict, word="waits for", by="machines", detail=lack)
    return verdict


def by_kueue(ask: Ask, crowd: Crowd) -> Verdict:
    """Return Kueue's verdict on a job."""
    where, together, others = crowd.where, crowd.answer, crowd.asks
    alone = where.decided(ask.workloads, *ask.beside)
    for answer in (alone, together):
        if "error" in answer:
            return Verdict(ask, "not judged", f"Kueue itself does not survive it: {answer['error']}")
    mine, among = ([answer["workloads"][key] for key in ask.keys] for answer in (alone, together))
    found = {"alone": mine, "together": among}
    if closed := reasons.closed(alone, mine):
        return Verdict(ask, "waits for", closed, situations=found)
    if alone.get("unsettled"):
        return Verdict(ask, "does not settle", reasons.said(mine), situations=found)
    if not all(map(holds, mine)):
        return Verdict(ask, "never fits", never(ask, crowd, mine), situations=found)
    if not all(map(holds, among)):
        restless = together.get("unsettled") and any(each.get("messages") for each in among)
        word: Word = "does not settle" if restless else "waits for"
        return Verdict(ask, word, reasons.waiting(ask, mine, together, others), situations=found)
    word, detail = fitting(ask, where, together, others, crowd.fits.get(ask.name))
    least = at_nominal(ask, where, mine[0]["clusterQueue"])
    if least:
        found["nominal"] = least
    lent = "" if all(map(holds, least)) else "; not while the other queues of its cohort use all that is theirs"
    return Verdict(ask, word, detail + lent, situations=found)


def at_nominal(ask: Ask, where: Site, queue: str) -> list[Answer]:
    """Return what Kueue decides while all others of the queue's cohorts are at nominal quota; nothing without any."""
    held, admitted = nominal.peers(where, queue)
    if not held:
        return []
    answer = where.decided([*held, *ask.workloads], *ask.beside, admitted=admitted)
    return [] if "error" in answer else [answer["workloads"][key] for key in ask.keys]


def admitted(answer: Answer) -> bool:
    """Whether the pods of a Workload are there: it has quota, and no admission check is waited for."""
    return bool(answer["outcome"] == "admitted")


def never(ask: Ask, crowd: Crowd, mine: Sequence[Answer]) -> str:
    """Return why a job never fits, and the most nodes with which it would."""
    said = reasons.said(mine) or f"no flavor takes pods of pool {ask.file.job.pool}"
    least = fewest(ask, crowd)
    return f"{said}; nodes: {least} fits" if least else said


def fewest(ask: Ask, crowd: Crowd) -> int:
    """Return the most nodes, fewer than it asks for, with which a job fits on the empty cluster; 0 for none."""
    low, high = 0, ask.file.job.nodes
    while high - low > 1:
        middle = (low + high) // 2
        less = smaller(ask, middle, crowd.where)
        fits = less is not None and not less.why and alone_fits(less, crowd)
        low, high = (middle, high) if fits else (low, middle)
    return low


def alone_fits(ask: Ask, crowd: Crowd) -> bool:
    """Whether a job gets quota on the empty cluster, and nodes."""
    answer = crowd.where.decided(ask.workloads, *ask.beside)
    if "error" in answer:
        return False
    mine = [answer["workloads"][key] for key in ask.keys]
    return all(map(holds, mine)) and not crowd.empty.alone(ask, mine).missing
