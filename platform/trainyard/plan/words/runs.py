"""What happens to runs, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from trainyard.findings import counted
from trainyard.plan.effects import Changed, Mark, RunEffect, RunWord
from trainyard.plan.words.groups import Group

SHOWN = 4
"""Runs of a group, and fields of a change, that are named."""

TITLES = {
    "patch": "patch",
    "waiver": "waives",
    "outside": "beside our containers",
    "security": "loosened",
    "unread": "not told",
}
"""What each sort of mark is called."""

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
        yield from (f"  {line}" for line in mark_lines(group.first.marks))
        return
    yield group_line(group, live=live)
    counts = Counter(mark for each in group.effects for mark in each.marks)
    for mark, count in counts.most_common():
        share = "" if count == len(group.effects) else f" ({counted(count, 'run')})"
        yield from (f"  {line}{share}" for line in mark_lines([mark]))


def run_line(effect: RunEffect, *, live: bool = True) -> str:
    """Return what happens to one run."""
    name = f"{effect.team}/{effect.run}"
    about = f": {effect.shape}" if effect.shape else ""
    about += time(effect)
    state = f"; {effect.state}" if effect.state else ""
    state += f"; it {effect.decided}" if effect.decided in {"never fits", "may fit"} else ""
    verb = VERBS.get(effect.word, ("", ""))[0 if live else 1]
    match effect.word:
        case "starts":
            return f"{verb} {name}{about}{state}"
        case "returns":
            instead = f" in place of {effect.before}" if effect.before else ""
            return f"brings back {name}{instead}, whose name was used up, which is refused{about}"
        case "replaces":
            return f"{verb} {effect.team}/{effect.before} by {effect.run}{reason(effect.because)}{about}{state}"
        case "moves":
            return f"starts {name} in place of {effect.before} on {effect.before_cluster}{about}{state}"
        case "leaves":
            return f"stops {name}, since its job moves to {effect.before_cluster}{about}{state}"
        case "stops":
            return f"{verb} {name}{about}{state}"
        case "changes":
            return f"edits files of {name}, which is frozen and refused" if live else f"renders {name} differently"
        case "keeps":
            return f"leaves {name} alone"


def time(effect: RunEffect) -> str:
    """Return for how long a run that begins holds its GPUs, and what that costs."""
    if effect.word in {"stops", "leaves"} or not effect.amount.gpus:
        return ""
    amount = effect.amount
    if amount.hours is None or amount.gpu_hours is None:
        rate = f", {amount.price:,.2f} an hour" if amount.price is not None else ""
        return f", without a deadline{rate}"
    cost = f", {amount.cost:,.2f} in money" if amount.cost is not None else ""
    return f", at most {amount.hours:g} h: {amount.gpu_hours:,.0f} GPU-hours{cost}"


def reason(because: Iterable[Changed]) -> str:
    """Return which fields changed and how, the first few."""
    found = list(because)
    said = [change(each) for each in found[:SHOWN]]
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return f", because {', '.join(said)}{more} changed" if said else ""


def change(each: Changed) -> str:
    """Return a field with its value before and after."""
    if each.before is None and each.after is None:
        return each.field
    if each.before is None or each.after is None:
        return f"{each.field} ({f'{each.after} added' if each.before is None else f'{each.before} removed'})"
    return f"{each.field} ({each.before} -> {each.after})"


def group_line(group: Group, *, live: bool) -> str:
    """Return what happens to runs that are told as one, with their sums."""
    first, count = group.first, len(group.effects)
    verb = VERBS.get(first.word, (first.word, f"would {first.word.removesuffix('s')}"))[0 if live else 1]
    of = f" of {group.program}" if group.program else ""
    named = [f"{each.team}/{each.before if first.word == 'replaces' else each.run}" for each in group.effects]
    more = f" and {count - SHOWN} more" if count > SHOWN else ""
    twins = sum(bool(each.twin) for each in group.effects)
    causes = {each.because for each in group.effects}
    cause = reason(first.because) if len(causes) == 1 else fields(group.effects)
    said = f"{verb} {counted(count, 'run')}{of}{cause}: {', '.join(named[:SHOWN])}{more}"
    if twins:
        looks = "looks like a job that ends" if twins == 1 else "look like jobs that end"
        said += f"; {twins} of them {looks}, under another name: `trainyard plan --all` says how to keep checkpoints"
    hopeless = f"; {group.never} of them never {'fits' if group.never == 1 else 'fit'}" if group.never else ""
    return said + sums(group) + hopeless + (f"; {group.may} of them may fit" if group.may else "")


def fields(effects: Iterable[RunEffect]) -> str:
    """Return which fields changed, of runs that have different values in them."""
    names = list(dict.fromkeys(each.field for effect in effects for each in effect.because))
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f", because {', '.join(names[:SHOWN])}{more} changed" if names else ""


def sums(group: Group) -> str:
    """Return what runs hold together, and what of their work is lost."""
    shapes = Counter(each.shape for each in group.effects if each.shape)
    said = f"; each {next(iter(shapes))}" if len(shapes) == 1 else ""
    if group.gpus:
        said += f"; together {counted(group.gpus, 'GPU')}"
        said += f", at most {group.gpu_hours:,.0f} GPU-hours" if group.gpu_hours is not None else ""
        said += f", {group.cost:,.2f} in money" if group.cost is not None else ""
    if group.first.lost == "all":
        said += "; all work of those that end is lost"
    elif group.first.lost == "some":
        again = "" if group.lost_gpu_hours is None else f"at most {group.lost_gpu_hours:,.0f} GPU-hours of "
        ends = group.first.word == "stops"
        said += f"; {again}their work since the last checkpoint is {'lost' if ends else 'repeated'}"
    return said


def mark_lines(marks: Iterable[Mark]) -> Iterator[str]:
    """Yield a line for each mark that is new or gone; of those that were there before, how many."""
    found = list(marks)
    for each in found:
        if each.was != "as before":
            reason = f", since: {each.reason}" if each.reason else ""
            yield f"{TITLES[each.word]}{' no more' if each.was == 'gone' else ''}: {each.what}{reason}"
    stays = Counter(TITLES[each.word] for each in found if each.was == "as before")
    if stays:
        said = ", ".join(f"{name} ({count})" if count > 1 else name for name, count in stays.items())
        yield f"as before: {said}; `trainyard explain` says what"
