"""An upgrade in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from trainyard.base.findings import count_of
from trainyard.change.upgrade.effects import Step, Upgrade

MOST = 12
"""Jobs and objects that are named, unless all are asked for."""

LEFT = "delete it after the sync, since its Application stays OutOfSync until then"


def lines(upgrade: Upgrade, *, everything: bool = False) -> Iterator[str]:
    """Yield the plan of an upgrade, a line each."""
    for number, step in enumerate(upgrade.steps, 1):
        yield from step_lines(step, f"{number}. " if len(upgrade.steps) > 1 else "")
    if len(upgrade.steps) > 1:
        yield from order_lines(upgrade)
    yield from taken_lines(upgrade)
    yield from files_of_others(upgrade)
    yield from job_lines(upgrade, everything=everything)
    yield from object_lines(upgrade, everything=everything)


def step_lines(step: Step, number: str) -> Iterator[str]:
    """Yield the lines on the move of one operator."""
    move = step.move
    word = "downgrade" if move.back else "upgrade"
    why = f" ({move.why})" if move.why else ""
    yield f"{number}{word} {move.operator} {move.before} → {move.after}{why}"
    if not move.managed:
        yield f"  others install it (managed: false): have {move.operator} {move.after} installed, then merge this"
    yield from titled_lines("first", step.before)
    yield from titled_lines("taken back" if move.back else "the new release", step.changes)
    yield from titled_lines("kinds", (f"{kind} is new" for kind in step.definitions.added))
    if not step.definitions.read:
        yield "  kinds: not compared, since the API types of one of the releases are unknown; read upstream's notes"
    yield from titled_lines("restarts", step.restarts)
    yield from titled_lines("left over", (f"{item}; {LEFT}" for item in step.left))
    if move.managed:
        yield f"  meanwhile: {step.meanwhile}"
    yield f"  running: {step.running} ({count_of(step.runs, 'run')} in generated/)"
    if step.drains:
        yield f"  ends: runs on {', '.join(step.drains)} once somebody syncs hardware/; they start from checkpoints"
    yield from titled_lines("cannot be undone", step.permanent)
    if not step.permanent:
        yield "  cannot be undone: nothing known; the old release in the file brings it back"


def titled_lines(title: str, items: Iterable[str]) -> Iterator[str]:
    """Yield a line for each item, each with the title."""
    yield from (f"  {title}: {item}" for item in items)


def order_lines(upgrade: Upgrade) -> Iterator[str]:
    """Yield the lines on the order of several steps."""
    names = [step.move.operator for step in upgrade.steps]
    if upgrade.together:
        yield f"order: {' and '.join(names)} need each other's new release, so merge both at once"
        return
    yield "order: Argo CD syncs what is merged at once; to have one after the other, run and merge each by itself:"
    yield from (
        f"  trainyard upgrade {upgrade.cluster} {step.move.operator} {step.move.after}" for step in upgrade.steps
    )


def taken_lines(upgrade: Upgrade) -> Iterator[str]:
    """Yield the nodes that are taken out; which runs end with it is said of the tree that has been written."""
    for one in upgrade.outages:
        yield f"{count_of(one.nodes, 'node')} of {', '.join(one.pools)}: {one.what}"
        yield f"  who: {one.who}" + (f", {count_of(one.at_a_time, 'node')} at a time" if one.at_a_time else "")
        yield f"  when: {one.when}"
        yield "  ends: after make synth, trainyard plan names the runs and what each repeats"


def files_of_others(upgrade: Upgrade) -> Iterator[str]:
    """Yield the clusters that get the release too, since it stands in the file that is their base."""
    for written in upgrade.written:
        others = [name for name in written.clusters if name != upgrade.cluster]
        if others:
            yield (
                f"also upgrades {', '.join(others)}: {written.operator} stands in {written.file}; "
                "to upgrade one alone, write the operator into its own file"
            )


def job_lines(upgrade: Upgrade, *, everything: bool) -> Iterator[str]:
    """Yield the jobs whose verdict changes."""
    yield from (f"note: {text}" for text in upgrade.decided_as)
    same = upgrade.judged - len(upgrade.jobs)
    if not upgrade.jobs:
        yield f"jobs: no verdict changes, of {count_of(upgrade.judged, 'job')}{reworded(upgrade)}"
        return
    verb = "changes" if len(upgrade.jobs) == 1 else "change"
    yield f"jobs: {count_of(len(upgrade.jobs), 'verdict')} {verb}, {same} stay{reworded(upgrade)}"
    shown = upgrade.jobs if everything else upgrade.jobs[:MOST]
    yield from (
        f"  {turn.cluster} {turn.job}: {turn.before} → {turn.after}: {turn.detail}".rstrip(": ") for turn in shown
    )
    yield from rest(upgrade.jobs, shown)


def reworded(upgrade: Upgrade) -> str:
    """Return the number of jobs that keep their verdict for another reason or on other nodes, in words."""
    if not upgrade.reworded:
        return ""
    return f"; {upgrade.reworded} on other nodes or for another reason"


def object_lines(upgrade: Upgrade, *, everything: bool) -> Iterator[str]:
    """Yield the objects that come, change or go."""
    if not upgrade.objects:
        yield "objects: none of the cluster's own changes"
        return
    yield f"objects: {counted(upgrade)}"
    shown = upgrade.objects if everything else upgrade.objects[:MOST]
    for turn in shown:
        what = "; ".join(turn.fields) + (f" and {turn.more} more" if turn.more else "")
        yield f"  {turn.word} {turn.cluster}/{turn.folder} {turn.object}" + (f": {what}" if what else "")
    yield from rest(upgrade.objects, shown)


def counted(upgrade: Upgrade) -> str:
    """Return the numbers of objects that come, change and go, in words."""
    words = [turn.word for turn in upgrade.objects]
    named = {"adds": "added", "changes": "changed", "removes": "removed"}
    return ", ".join(f"{words.count(word)} {past}" for word, past in named.items() if word in words)


def rest(found: Sequence[Any], shown: Sequence[Any]) -> Iterator[str]:
    """Yield the number of those that are not named."""
    if len(found) > len(shown):
        yield f"  and {len(found) - len(shown)} more; use --all"
