"""What Kueue's answers come to for one job: a word, and a witness or a reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from trainyard.judge.admission import witness
from trainyard.judge.admission.competitors import Others
from trainyard.judge.admission.job_workloads import Bidder, asks_topology
from trainyard.judge.admission.machines import Fit
from trainyard.judge.admission.site import Site

Word = Literal[
    "fits",
    "fits alone",
    "fits by borrowing",
    "fits partially",
    "fits after preempting",
    "may fit",
    "waits for",
    "does not settle",
    "never fits",
    "not judged",
]

TOPOLOGY = "TopologyAwareScheduling"
"""Kueue's gate without which it looks at quota alone."""

Answer = Mapping[str, Any]
Job = TypeVar("Job", bound=Bidder)


def holds(answer: Answer) -> bool:
    """Whether a Workload has quota."""
    return answer["outcome"] in {"admitted", "reserved"}


def has_pods(answer: Answer) -> bool:
    """Whether the pods of a Workload are there: it has quota, and no admission check is waited for."""
    return bool(answer["outcome"] == "admitted")


def restless(answer: Answer, mine: Sequence[Answer]) -> bool:
    """Whether a job never comes to rest: Kueue preempts it again and again, or says now this, now that.

    `answer` is the whole one, about all jobs.
    """
    return bool(answer.get("unsettled")) and any(
        item.get("messages") or len(item.get("evictions", ())) > 1 for item in mine
    )


def fit_of(bid: Job, where: Site, others: Others[Job], fit: Fit | None = None) -> tuple[Word, str]:
    """Return how a job fits, and where, on machines too where those were asked."""
    mine = others.answers(bid)
    detail = witness.places(where, mine, fit) + ignored_topology(bid, where)
    if any(answer["outcome"] == "reserved" for answer in mine):
        checks = sorted({one.partition("=")[0] for answer in mine for one in answer.get("admissionChecks", ())})
        return "waits for", f"admission checks {', '.join(checks)}; has quota: {detail}"
    if victims := victims_of(mine):
        return "fits after preempting", f"{others.job_names(victims)}; {detail}"
    if fewer := witness.fewer(bid.workloads, mine):
        return "fits partially", f"{fewer}; {detail}"
    if any(answer.get("borrowing") for answer in mine):
        return "fits by borrowing", f"{witness.borrowing_text(bid, where, others.answer)}; {detail}"
    return "fits", detail


def ignored_topology(bid: Bidder, where: Site) -> str:
    """Return a note where a job asks for a topology and Kueue's gate for it is off; empty elsewhere.

    Kueue then makes Workloads without the request and gives quota alone (kueue v0.19.2
    pkg/controller/jobs/jobset/jobset_controller.go PodSets, pkg/podset/podset.go).
    """
    if where.gates[TOPOLOGY] or not any(map(asks_topology, bid.workloads)):
        return ""
    return f"; its topology is ignored: Kueue's gate {TOPOLOGY} is off"


def victims_of(mine: Sequence[Answer]) -> list[str]:
    """Return the Workloads that lose their quota to those of one job."""
    return sorted({one["workload"] for answer in mine for one in answer.get("victims", ())})
