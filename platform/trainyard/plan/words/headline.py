"""A plan in one line, and what in it a reviewer must not miss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.findings import counted
from trainyard.plan.effects import Decision, Plan, RunEffect

NAMED = 3
"""Runs that a warning names."""


def headline(plan: Plan) -> str:
    """Return whether the change is refused and how many runs end and start; of a tree that nothing syncs, would."""
    errors = sum(finding.is_error for finding in plan.findings)
    refused = f"refused, {counted(errors, 'error')}" if errors else ""
    if plan.told == "refused":
        return refused or "what it does is not known"
    said = [each for each in (ending(plan), beginning(plan), others(plan)) if each] or ["changes nothing"]
    last = hopeless(plan) or ("" if refused else "nothing stands against it")
    return f"{f'{refused}: ' if refused else ''}{', '.join(said)}{f'; {last}' if last else ''}"


def ending(plan: Plan) -> str:
    """Return how many runs end."""
    ended = plan.of("stops", "replaces", "leaves")
    return f"{'ends' if plan.live else 'would end'} {counted(len(ended), 'run')}" if ended else ""


def beginning(plan: Plan) -> str:
    """Return how many runs begin, what they hold, and the most that they take."""
    begun = plan.of("starts", "returns", "replaces", "moves")
    gpus = sum(each.amount.gpus for each in begun)
    held = f" on {counted(gpus, 'GPU')}{hours(begun)}" if gpus else ""
    return f"{'starts' if plan.live else 'would start'} {counted(len(begun), 'run')}{held}" if begun else ""


def others(plan: Plan) -> str:
    """Return how much of the platform changes, by its specs, or by its objects where no spec says it."""
    edited = plan.of("changes")
    if edited:
        return (
            f"{'edits' if plan.live else 'renders'} {counted(len(edited), 'run')}{'' if plan.live else ' differently'}"
        )
    if plan.platform:
        return f"changes the platform in {counted(len(plan.platform), 'way')}"
    return f"changes {counted(len(plan.objects), 'object')} of the platform" if plan.objects else ""


def never(plan: Plan) -> tuple[list[Decision], list[Decision]]:
    """Return what never fits: of the runs that begin, and of those that were there and fitted before."""
    found = [each for each in plan.decisions if each.after == "never fits"]
    return [each for each in found if each.before is None], [each for each in found if each.before is not None]


def perhaps(plan: Plan) -> tuple[list[Decision], list[Decision]]:
    """Return what finds nodes in some orders only: of the runs that begin, and of those that were there and fitted."""
    found = [each for each in plan.decisions if each.perhaps]
    stays = [each for each in found if each.before is not None and each.after == "may fit"]
    return [each for each in found if each.before is None], stays


def hopeless(plan: Plan) -> str:
    """Return how many runs never fit, and how many may not."""
    said = []
    for both, one, many in ((never(plan), "never fits", "never fit"), (perhaps(plan), "may not fit", "may not fit")):
        for found, verb, again in zip(both, ("start", "stay"), ("", " again"), strict=True):
            if found:
                word = f"that {verb}s {one}" if len(found) == 1 else f"that {verb} {many}"
                said.append(f"{counted(len(found), 'run')} {word}{again}")
    for verdict, one, many in (("never fits", "never fits", "never fit"), ("may fit", "may not fit", "may not fit")):
        if count := sum(each.after == verdict for each in plan.next_runs):
            said.append(f"the next run of 1 job {one}" if count == 1 else f"the next runs of {count} jobs {many}")
    return " and ".join(said)


def hours(begun: Iterable[RunEffect]) -> str:
    """Return GPU-hours and cost of what begins, in brackets: the most, and whether some have no end."""
    held = [each.amount for each in begun if each.amount.gpus]
    known = [each.gpu_hours for each in held if each.gpu_hours is not None]
    costs = [each.cost for each in held if each.cost is not None]
    said = [f"at most {sum(known):,.0f} GPU-hours"] if known else []
    said += [f"{sum(costs):,.2f} in money"] if costs else []
    endless = len(held) - len(known)
    said += [f"{counted(endless, 'run')} without a deadline"] if endless else []
    return f" ({', '.join(said)})" if said else ""


def warnings(plan: Plan) -> Iterator[str]:
    """Yield what is lost, drained, ended, loosened or goes back, the gravest first."""
    lost = [each for each in plan.runs if each.lost == "all"]
    if lost:
        yield f"lost: all work of {names(lost)}{spent(lost)}"
    if hopeless := [f"{each.team}/{each.run}" for found in never(plan) for each in found]:
        yield f"never fits: {first(hopeless)}"
    if doubtful := [f"{each.team}/{each.run}" for found in perhaps(plan) for each in found]:
        yield f"may not fit, as the scheduler chooses nodes: {first(doubtful)}"
    if following := [f"{each.team}/{each.job}" for each in plan.next_runs if each.rule]:
        yield f"next runs that never or may not fit: {first(following)}"
    drained = sorted({each.cluster for each in plan.objects if each.folder.startswith("hardware")})
    if drained:
        yield f"drained: nodes of {', '.join(drained)}, when a person syncs its hardware"
    yield from plan.dangers
    for word, what in (("security", "outside of what the strictest level lets pass"), ("patch", "patched")):
        marked = [
            each
            for each in plan.runs
            if any(mark.word == word and mark.was in {"new", "unknown"} for mark in each.marks)
        ]
        if marked:
            yield f"{what}: {names(marked)}"


def names(effects: list[RunEffect]) -> str:
    """Return the first few runs by name; of one in whose place another comes, the one that ends."""
    found = [
        f"{each.team}/{each.before if each.lost == 'all' and each.before and each.word != 'leaves' else each.run}"
        for each in effects
    ]
    return first(found)


def first(found: list[str]) -> str:
    """Return the first few names, and how many others there are."""
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f"{', '.join(found[:NAMED])}{more}"


def spent(lost: list[RunEffect]) -> str:
    """Return how much that is at most, where it is known of all."""
    known = [each.lost_gpu_hours for each in lost if each.lost_gpu_hours is not None]
    return f", at most {sum(known):,.0f} GPU-hours" if known and len(known) == len(lost) and sum(known) else ""
