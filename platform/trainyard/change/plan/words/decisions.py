"""What Kueue decides, in words: a line for each run, or for several of which the same is decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from trainyard.change.plan.effects import Decision, NextRun
from trainyard.judge.admission.outcomes import Word

NAMED = 3
"""Runs that a line names; four or more runs with the same verdict share a line."""

SEVERAL: Mapping[Word, str] = {
    "fits": "fit",
    "fits alone": "fit alone",
    "fits by borrowing": "fit by borrowing",
    "fits partially": "fit partially",
    "fits after preempting": "fit after preempting others",
    "may fit": "may fit",
    "waits for": "wait for",
    "does not settle": "do not settle",
    "never fits": "never fit",
    "not judged": "are not judged",
}
"""What is decided about several runs."""

AGAIN = "running jobs continue while their queue and nodes exist; the verdict applies the next time they are queued"
"""The note below verdicts that get worse for runs which the change does not touch."""


def decision_lines(decisions: Iterable[Decision], *, everything: bool = False) -> list[str]:
    """Return the lines about verdicts, new runs before others."""
    alike: dict[tuple[str, str | None, str], list[Decision]] = {}
    for decision in sorted(decisions, key=lambda one: (one.cluster, one.before is not None)):
        alike.setdefault((decision.cluster, decision.before, decision.after), []).append(decision)
    lines = [line for found in alike.values() for line in verdict_lines(found, everything=everything)]
    loses = any(
        (decision.before or "").startswith(("fits", "may fit")) for found in alike.values() for decision in found
    )
    return [*lines, AGAIN] if loses else lines


def next_lines(runs: Iterable[NextRun], *, everything: bool = False) -> list[str]:
    """Return the lines about the next runs of jobs whose runs stay."""
    alike: dict[tuple[str, str], list[NextRun]] = {}
    for run in runs:
        alike.setdefault((run.cluster, run.after), []).append(run)
    return [line for found in alike.values() for line in following(found, everything=everything)]


def following(found: Sequence[NextRun], *, everything: bool) -> Iterator[str]:
    """Yield the lines about next runs of which the same is decided."""
    first = found[0]
    if everything or len(found) <= NAMED:
        for run in found:
            what = with_reason(f"the next run of {run.team}/{run.job} {run.after}", run.detail)
            rule = f" [{run.rule}]" if run.rule else f"; start it with `trainyard rerun {run.team}/{run.job}`"
            yield f"{run.cluster}: {what}{rule}"
        return
    names = ", ".join(f"{run.team}/{run.job}" for run in found[:NAMED])
    what = f"the next runs of {names} and {len(found) - NAMED} more {SEVERAL[first.after].removesuffix(' for')}"
    rule = f" [{first.rule}]" if first.rule else "; start one with `trainyard rerun`"
    yield f"{first.cluster}: {what}; the first: {first.detail}{rule}"


def verdict_lines(found: Sequence[Decision], *, everything: bool) -> Iterator[str]:
    """Yield the lines about runs of which the same is decided."""
    if everything or len(found) <= NAMED:
        yield from (f"{decision.cluster}: {decision.team}/{decision.run} {verdict_of(decision)}" for decision in found)
        return
    first = found[0]
    names = ", ".join(f"{decision.team}/{decision.run}" for decision in found[:NAMED])
    before = f"{SEVERAL[first.before].removesuffix(' for')} → " if first.before else ""
    what = f"{before}{SEVERAL[first.after]}"
    if {decision.detail for decision in found} == {first.detail}:
        what = with_reason(what, reason(first))
    elif first.after != "fits":
        what = f"{what.removesuffix(' for')}; the first: {reason(first)}"
    yield f"{first.cluster}: {names} and {len(found) - NAMED} more {what}{rule_suffix(first)}"


def verdict_of(decision: Decision) -> str:
    """Return the verdict on one run, without its name."""
    return with_reason(f"{former_verdict(decision)}{decision.after}", reason(decision)) + rule_suffix(decision)


def rule_suffix(decision: Decision) -> str:
    """Return the rule that a run breaks, as it stands behind findings."""
    return f" [{decision.rule}]" if decision.rule else ""


def with_reason(what: str, why: str) -> str:
    """Return the verdict with its reason, if it has one."""
    return f"{what}{'' if what.endswith((' for', ' preempting')) else ':'} {why}" if why else what


def former_verdict(decision: Decision) -> str:
    """Return the verdict before the change with an arrow, empty for a new run."""
    return f"{decision.before} → " if decision.before else ""


def reason(decision: Decision) -> str:
    """Return where a run goes or why it does not, and what those have to do again that stop for it."""
    lost = ((victim.run, victim.lost_gpu_hours) for victim in decision.victims)
    again = [f"{run} repeats at most {hours:,.0f} GPU-hours" for run, hours in lost if hours is not None and hours >= 1]
    return "; ".join([decision.detail, *again])
