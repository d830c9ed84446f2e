"""A verdict per job: whether Kueue admits it alone and among all others, with a witness or a reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from trainyard.admission import nominal, reasons, witness
from trainyard.admission.asks import Ask, asks, smaller
from trainyard.admission.site import Site, admits, site
from trainyard.preflight import Checked

Word = Literal[
    "fits",
    "fits by borrowing",
    "fits partially",
    "fits after preempting",
    "waits for",
    "does not settle",
    "never fits",
    "not judged",
]

Answer = Mapping[str, Any]


@dataclass(frozen=True)
class Verdict:
    """What becomes of a job, and what Kueue said of it in each situation."""

    ask: Ask
    word: Word
    detail: str
    """The witness or the reason, in few words."""
    situations: Mapping[str, Sequence[Answer]] = field(default_factory=dict)
    """By situation, Kueue's answer to each Workload of the job."""

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
    together: Answer = {}
    if where is not None and there:
        workloads = [one for each in there for one in each.workloads]
        together = where.decided(workloads, *(one for each in there for one in each.beside))
    for each in mine:
        if names and each.name not in names:
            continue
        if each.why or where is None:
            yield Verdict(each, "not judged", each.why)
        else:
            yield judged(each, where, together, there)


def judged(ask: Ask, where: Site, together: Answer, others: Sequence[Ask]) -> Verdict:
    """Return the verdict on a job that Kueue is asked about."""
    alone = where.decided(ask.workloads, *ask.beside)
    for answer in (alone, together):
        if "error" in answer:
            return Verdict(ask, "not judged", f"Kueue itself does not survive it: {answer['error']}")
    mine, among = ([answer["workloads"][key] for key in ask.keys] for answer in (alone, together))
    found = {"alone": mine, "together": among}
    if closed := reasons.closed(alone, mine):
        return Verdict(ask, "waits for", closed, found)
    if alone.get("unsettled"):
        return Verdict(ask, "does not settle", reasons.said(mine), found)
    if not all(map(holds, mine)):
        return Verdict(ask, "never fits", never(ask, where, mine), found)
    if not all(map(holds, among)):
        restless = together.get("unsettled") and any(each.get("messages") for each in among)
        word: Word = "does not settle" if restless else "waits for"
        return Verdict(ask, word, reasons.waiting(ask, mine, together, others), found)
    word, detail = fitting(ask, where, together, others)
    least = at_nominal(ask, where, mine[0]["clusterQueue"])
    if least:
        found["nominal"] = least
    lent = "" if all(map(holds, least)) else "; not while the other queues of its cohort use all that is theirs"
    return Verdict(ask, word, detail + lent, found)


def at_nominal(ask: Ask, where: Site, queue: str) -> list[Answer]:
    """Return what Kueue decides while all others of the queue's cohorts are at nominal quota; nothing without any."""
    held, admitted = nominal.peers(where, queue)
    if not held:
        return []
    answer = where.decided([*held, *ask.workloads], *ask.beside, admitted=admitted)
    return [] if "error" in answer else [answer["workloads"][key] for key in ask.keys]


def holds(answer: Answer) -> bool:
    """Whether a Workload has quota."""
    return answer["outcome"] in {"admitted", "reserved"}


def fitting(ask: Ask, where: Site, answer: Answer, others: Sequence[Ask]) -> tuple[Word, str]:
    """Return how a job fits, and where."""
    mine = [answer["workloads"][key] for key in ask.keys]
    detail = witness.places(where, mine)
    if any(each["outcome"] == "reserved" for each in mine):
        checks = sorted({one.partition("=")[0] for each in mine for one in each.get("admissionChecks", ())})
        return "waits for", f"admission checks {', '.join(checks)}; has quota: {detail}"
    if victims := sorted({one["workload"] for each in mine for one in each.get("victims", ())}):
        return "fits after preempting", f"{reasons.named(victims, others)}; {detail}"
    if fewer := witness.fewer(ask.workloads, mine):
        return "fits partially", f"{fewer}; {detail}"
    if any(each.get("borrowing") for each in mine):
        return "fits by borrowing", f"{witness.borrowed(ask, where, answer)}; {detail}"
    return "fits", detail


def never(ask: Ask, where: Site, mine: Sequence[Answer]) -> str:
    """Return why a job never fits, and the most nodes with which it would."""
    said = reasons.said(mine) or f"no flavor takes pods of pool {ask.file.job.pool}"
    low, high = 0, ask.file.job.nodes
    while high - low > 1:
        middle = (low + high) // 2
        less = smaller(ask, middle, where)
        fits = less is not None and not less.why and alone_fits(less, where)
        low, high = (middle, high) if fits else (low, middle)
    return f"{said}; nodes: {low} fits" if low else said


def alone_fits(ask: Ask, where: Site) -> bool:
    """Whether a job gets quota on the empty cluster."""
    answer = where.decided(ask.workloads, *ask.beside)
    return "error" not in answer and all(holds(answer["workloads"][key]) for key in ask.keys)
