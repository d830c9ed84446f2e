"""What Kueue's answers come to for one job: a word, and a witness or a reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from trainyard.admission import witness
from trainyard.admission.bid import Bidder
from trainyard.admission.machines import Fit
from trainyard.admission.others import Others
from trainyard.admission.site import Site

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

Answer = Mapping[str, Any]
Job = TypeVar("Job", bound=Bidder)


def holds(answer: Answer) -> bool:
    """Whether a Workload has quota."""
    return answer["outcome"] in {"admitted", "reserved"}


def admitted(answer: Answer) -> bool:
    """Whether the pods of a Workload are there: it has quota, and no admission check is waited for."""
    return bool(answer["outcome"] == "admitted")


def restless(answer: Answer, mine: Sequence[Answer]) -> bool:
    """Whether a job never comes to rest: Kueue preempts it again and again, or says now this, now that.

    `answer` is the whole one, about all jobs.
    """
    return bool(answer.get("unsettled")) and any(
        each.get("messages") or len(each.get("evictions", ())) > 1 for each in mine
    )


def fitting(bid: Job, where: Site, others: Others[Job], fit: Fit | None = None) -> tuple[Word, str]:
    """Return how a job fits, and where, on machines too where those were asked."""
    mine = others.answers(bid)
    detail = witness.places(where, mine, fit)
    if any(each["outcome"] == "reserved" for each in mine):
        checks = sorted({one.partition("=")[0] for each in mine for one in each.get("admissionChecks", ())})
        return "waits for", f"admission checks {', '.join(checks)}; has quota: {detail}"
    if victims := victims_of(mine):
        return "fits after preempting", f"{others.named(victims)}; {detail}"
    if fewer := witness.fewer(bid.workloads, mine):
        return "fits partially", f"{fewer}; {detail}"
    if any(each.get("borrowing") for each in mine):
        return "fits by borrowing", f"{witness.borrowed(bid, where, others.answer)}; {detail}"
    return "fits", detail


def victims_of(mine: Sequence[Answer]) -> list[str]:
    """Return the Workloads that lose their quota to those of one job."""
    return sorted({one["workload"] for each in mine for one in each.get("victims", ())})
