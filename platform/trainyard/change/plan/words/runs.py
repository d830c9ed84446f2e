"""Changes of runs, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from trainyard.base.findings import count_of
from trainyard.change.plan.effects import Changed, Mark, RunEffect, RunWord
from trainyard.change.plan.words.groups import Group

SHOWN = 4
"""Runs of a group, and fields of a change, that are named."""

TITLES = {
    "patch": "patch",
    "waiver": "waives",
    "outside": "extra",
    "security": "weaker pod security",
    "unread": "not shown",
}
"""The title of each sort of mark."""

VERBS: dict[RunWord, tuple[str, str]] = {
    "starts": ("starts", "would start"),
    "replaces": ("replaces", "would replace"),
    "stops": ("stops", "would stop"),
}
"""What happens, and what would if clusters synced the repository."""


def group_lines(group: Group, *, live: bool) -> Iterator[str]:
    """Yield a line for a run, or for all runs of a group, and one for each mark."""
    if len(group.effects) == 1:
        yield run_line(group.first, live=live)
        yield from (f"  {line}" for line in (*run_details(group.first), *mark_lines(group.first.marks)))
        return
    yield group_line(group, live=live)
    yield from (f"  {line}" for line in group_details(group))
    counts = Counter(mark for effect in group.effects for mark in effect.marks)
    for mark, count in counts.most_common():
        share = "" if count == len(group.effects) else f" ({count_of(count, 'run')})"
        yield from (f"  {line}{share}" for line in mark_lines([mark]))


def run_line(effect: RunEffect, *, live: bool = True) -> str:
    """Return the effect on one run."""
    name = f"{effect.team}/{effect.run}"
    verb = VERBS.get(effect.word, ("", ""))[0 if live else 1]
    match effect.word:
        case "starts" | "stops":
            return f"{verb} {name}"
        case "returns":
            instead = f" instead of {effect.before}" if effect.before else ""
            return f"brings back {name}{instead}, which is refused: a run's name is never used twice"
        case "replaces":
            return f"{verb} {effect.team}/{effect.before} with {effect.run}"
        case "moves":
            return f"starts {name}, which replaces {effect.before} on {effect.before_cluster}"
        case "leaves":
            return f"stops {name}: its job moves to {effect.before_cluster}"
        case "changes":
            return (
                f"edits files of {name}, which is refused: the run is frozen" if live else f"renders {name} differently"
            )
        case "keeps":
            return f"keeps {name} as it is"


def run_details(effect: RunEffect) -> Iterator[str]:
    """Yield the fields that changed, the shape of a run with its hours and cost, and the fate of its work."""
    if effect.word in {"changes", "keeps"}:
        return
    if effect.because and effect.word == "replaces":
        yield f"changed: {reason(effect.because)}"
    if effect.shape:
        yield f"{effect.shape}{time(effect)}"
    if effect.word == "returns":
        return
    if effect.state:
        yield effect.state
    yield from effect.costs
    if effect.decided in {"never fits", "may fit"}:
        yield f"verdict: it {effect.decided}"
    if effect.word not in {"stops", "leaves"}:
        yield from (f"{page}: {address}" for page, address in effect.links)


def time(effect: RunEffect) -> str:
    """Return for how many hours a new run may hold its GPUs, and the cost."""
    if effect.word in {"stops", "leaves"} or not effect.amount.gpus:
        return ""
    amount = effect.amount
    if amount.hours is None or amount.gpu_hours is None:
        rate = f", cost {amount.price:,.2f} per hour" if amount.price is not None else ""
        return f"; no deadline{rate}"
    cost = f", cost {amount.cost:,.2f}" if amount.cost is not None else ""
    return f"; at most {amount.hours:g} h, {amount.gpu_hours:,.0f} GPU-hours{cost}"


def reason(because: Iterable[Changed]) -> str:
    """Return the first few fields that changed, with their values."""
    fields = list(because)
    more = f" and {len(fields) - SHOWN} more" if len(fields) > SHOWN else ""
    return ", ".join(map(change, fields[:SHOWN])) + more


def change(changed: Changed) -> str:
    """Return a field with its value before and after."""
    if changed.before is None and changed.after is None:
        return changed.field
    if changed.before is None or changed.after is None:
        return (
            f"{changed.field} ({f'{changed.after} added' if changed.before is None else f'{changed.before} removed'})"
        )
    return f"{changed.field} ({changed.before} → {changed.after})"


def group_line(group: Group, *, live: bool) -> str:
    """Return the effect on runs that share a line, with the first few names."""
    first, count = group.first, len(group.effects)
    verb = VERBS.get(first.word, (first.word, f"would {first.word.removesuffix('s')}"))[0 if live else 1]
    program = f" of {group.program}" if group.program else ""
    names = [
        f"{effect.team}/{effect.before if first.word == 'replaces' else effect.run}" for effect in group.effects[:SHOWN]
    ]
    more = f" and {count - SHOWN} more" if count > SHOWN else ""
    return f"{verb} {count_of(count, 'run')}{program}: {', '.join(names)}{more}"


def group_details(group: Group) -> Iterator[str]:
    """Yield the fields that changed, the sums of GPUs and cost, the fate of the work, and verdicts of a group."""
    causes = {effect.because for effect in group.effects}
    if changed := reason(group.first.because) if len(causes) == 1 else fields(group.effects):
        yield f"changed: {changed}"
    if held := sums(group):
        yield held
    if lost := work_lost(group):
        yield lost
    if twins := sum(bool(effect.twin) for effect in group.effects):
        looks = "looks like a stopped job" if twins == 1 else "look like stopped jobs"
        yield f"{twins} of them {looks} under another name; `trainyard plan --all` shows how to keep checkpoints"
    if group.never:
        yield f"verdict: {group.never} of them never {'fits' if group.never == 1 else 'fit'}"
    if group.may:
        yield f"verdict: {group.may} of them may fit"


def fields(effects: Iterable[RunEffect]) -> str:
    """Return the first few fields that changed, of runs that have different values in them."""
    names = list(dict.fromkeys(change.field for effect in effects for change in effect.because))
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"


def sums(group: Group) -> str:
    """Return the shape of all runs where it is the same, and their GPUs, GPU-hours and cost together."""
    shapes = {effect.shape for effect in group.effects if effect.shape}
    parts = [f"each {next(iter(shapes))}"] if len(shapes) == 1 else []
    if group.gpus:
        held = f"together {count_of(group.gpus, 'GPU')}"
        held += f", at most {group.gpu_hours:,.0f} GPU-hours" if group.gpu_hours is not None else ""
        held += f", cost {group.cost:,.2f}" if group.cost is not None else ""
        parts.append(held)
    return "; ".join(parts)


def work_lost(group: Group) -> str:
    """Return how much work the old runs of a group lose or repeat, empty where they lose none."""
    if group.first.lost == "all":
        return "all work of the old runs is lost"
    if group.first.lost != "some":
        return ""
    most = "" if group.lost_gpu_hours is None else f" (at most {group.lost_gpu_hours:,.0f} GPU-hours)"
    return f"work since the last checkpoint{most} is {'lost' if group.first.word == 'stops' else 'repeated'}"


def mark_lines(marks: Iterable[Mark]) -> Iterator[str]:
    """Yield a line for each mark that is new or gone; of those that were there before, how many."""
    found = list(marks)
    for mark in found:
        if mark.was != "as before":
            reason = f" (reason: {mark.reason})" if mark.reason else ""
            yield f"{'no longer ' if mark.was == 'gone' else ''}{TITLES[mark.word]}: {mark.what}{reason}"
    stays = Counter(TITLES[mark.word] for mark in found if mark.was == "as before")
    if stays:
        said = ", ".join(f"{name} ({count})" if count > 1 else name for name, count in stays.items())
        yield f"as before: {said}; details: `trainyard explain`"
