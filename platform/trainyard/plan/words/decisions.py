"""What Kueue decides, in words: a line for each run, or for several of which the same is decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from trainyard.admission.outcomes import Word
from trainyard.plan.effects import Decision, NextRun

NAMED = 3
"""Runs of a line that are named; four or more of which the same is decided are told in one."""

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

AGAIN = (
    "runs that train now stay, as long as their queue and their nodes do: this is what they get when they queue again"
)
"""What it is to runs outside of the change that their verdict turns."""


def decision_lines(decisions: Iterable[Decision], *, everything: bool = False) -> list[str]:
    """Return what Kueue decides, runs of the change before others."""
    alike: dict[tuple[str, str | None, str], list[Decision]] = {}
    for each in sorted(decisions, key=lambda one: (one.cluster, one.before is not None)):
        alike.setdefault((each.cluster, each.before, each.after), []).append(each)
    lines = [line for found in alike.values() for line in told(found, everything=everything)]
    loses = any((each.before or "").startswith(("fits", "may fit")) for found in alike.values() for each in found)
    return [*lines, AGAIN] if loses else lines


def next_lines(runs: Iterable[NextRun], *, everything: bool = False) -> list[str]:
    """Return what becomes of the next runs of jobs whose runs stay."""
    alike: dict[tuple[str, str], list[NextRun]] = {}
    for each in runs:
        alike.setdefault((each.cluster, each.after), []).append(each)
    return [line for found in alike.values() for line in following(found, everything=everything)]


def following(found: Sequence[NextRun], *, everything: bool) -> Iterator[str]:
    """Yield the lines about next runs of which the same is decided."""
    first = found[0]
    if everything or len(found) <= NAMED:
        for each in found:
            what = joined(f"the next run of {each.team}/{each.job} {each.after}", each.detail)
            rule = f" [{each.rule}]" if each.rule else f"; `trainyard rerun {each.team}/{each.job}` begins it"
            yield f"{each.cluster}: {what}{rule}"
        return
    names = ", ".join(f"{each.team}/{each.job}" for each in found[:NAMED])
    what = f"the next runs of {names} and {len(found) - NAMED} more {SEVERAL[first.after].removesuffix(' for')}"
    rule = f" [{first.rule}]" if first.rule else "; `trainyard rerun` begins one"
    yield f"{first.cluster}: {what}; the first: {first.detail}{rule}"


def told(found: Sequence[Decision], *, everything: bool) -> Iterator[str]:
    """Yield the lines about runs of which the same is decided."""
    if everything or len(found) <= NAMED:
        yield from (f"{each.cluster}: {each.team}/{each.run} {decided(each)}" for each in found)
        return
    first = found[0]
    names = ", ".join(f"{each.team}/{each.run}" for each in found[:NAMED])
    before = f"{SEVERAL[first.before].removesuffix(' for')} -> " if first.before else ""
    what = f"{before}{SEVERAL[first.after]}"
    if {each.detail for each in found} == {first.detail}:
        what = joined(what, reason(first))
    elif first.after != "fits":
        what = f"{what.removesuffix(' for')}; the first: {reason(first)}"
    yield f"{first.cluster}: {names} and {len(found) - NAMED} more {what}{broken(first)}"


def decided(decision: Decision) -> str:
    """Return what is decided about one run, without its name."""
    return joined(f"{turned(decision)}{decision.after}", reason(decision)) + broken(decision)


def broken(decision: Decision) -> str:
    """Return the rule that a run breaks, as it stands behind findings."""
    return f" [{decision.rule}]" if decision.rule else ""


def joined(what: str, why: str) -> str:
    """Return what is decided and why, where there is anything to say of that."""
    return f"{what}{'' if what.endswith((' for', ' preempting')) else ':'} {why}" if why else what


def turned(decision: Decision) -> str:
    """Return what was decided before the change, where the run was there."""
    return f"{decision.before} -> " if decision.before else ""


def reason(decision: Decision) -> str:
    """Return where a run goes or why it does not, and what those have to do again that stop for it."""
    lost = ((each.run, each.lost_gpu_hours) for each in decision.victims)
    again = [f"{run} repeats at most {hours:,.0f} GPU-hours" for run, hours in lost if hours is not None and hours >= 1]
    return "; ".join([decision.detail, *again])
