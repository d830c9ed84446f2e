"""A plan in one line, and what in it a reviewer must not miss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.base.findings import arrange, count_of
from trainyard.change.plan.effects import Decision, Plan, RunEffect

NAMED = 3
"""Runs that a warning names."""


def headline(plan: Plan) -> str:
    """Return whether the change is refused and how many runs end and start; of a tree that nothing syncs, would."""
    errors = sum(finding.is_error for finding, _ in arrange(plan.findings))
    refused = f"cannot be merged, {count_of(errors, 'error')}" if errors else ""
    if plan.told == "refused":
        return refused or "the effect of this change is unknown"
    runs = run_counts(plan)
    effects = [*([runs] if runs else []), *others(plan)] or ["changes nothing"]
    last = misfits(plan) or ("" if refused else problems(plan))
    return "; ".join(part for part in (refused, *effects, last) if part)


def problems(plan: Plan) -> str:
    """Return the number of warnings of a change without errors: those of the plan itself, and its findings."""
    warned = len(list(warnings(plan))) + sum(not finding.is_error for finding, _ in arrange(plan.findings))
    return f"no errors, {count_of(warned, 'warning')}" if warned else "no problems found"


def run_counts(plan: Plan) -> str:
    """Return how many runs stop, are replaced, move and start, and the GPUs, hours and cost of the new ones."""
    counts = [
        ("stop", len(plan.of("stops"))),
        ("replace", len(plan.of("replaces"))),
        ("move", len(plan.of("moves"))),
        ("start", len(plan.of("starts", "returns"))),
    ]
    said = [f"{verb}{'s' if plan.live else ''} {count_of(count, 'run')}" for verb, count in counts if count]
    would = "" if plan.live or not said else "would "
    new = plan.of("starts", "returns", "replaces", "moves")
    gpus = sum(effect.amount.gpus for effect in new)
    held = f" ({count_of(gpus, 'GPU')}{hours(new)})" if gpus else ""
    return f"{would}{', '.join(said)}{held}"


def others(plan: Plan) -> Iterator[str]:
    """Yield how many runs are edited, or the number of platform changes: of specs, or else of objects."""
    edited = plan.of("changes")
    if edited:
        count = count_of(len(edited), "run")
        yield f"edits files of {count}" if plan.live else f"renders {count} differently"
    elif plan.platform:
        yield f"makes {count_of(len(plan.platform), 'platform change')}"
    elif plan.objects:
        yield f"changes {count_of(len(plan.objects), 'platform object')}"


def never(plan: Plan) -> tuple[list[Decision], list[Decision]]:
    """Return the new runs that never fit, and the existing ones that no longer do."""
    found = [decision for decision in plan.decisions if decision.after == "never fits"]
    new = [decision for decision in found if decision.before is None]
    return new, [decision for decision in found if decision.before is not None]


def perhaps(plan: Plan) -> tuple[list[Decision], list[Decision]]:
    """Return the runs that find nodes in some orders only: new ones, and existing ones that fitted before."""
    found = [decision for decision in plan.decisions if decision.perhaps]
    stays = [decision for decision in found if decision.before is not None and decision.after == "may fit"]
    return [decision for decision in found if decision.before is None], stays


def misfits(plan: Plan) -> str:
    """Return how many runs never fit, and how many may not."""
    said = []
    for both, one, many in ((never(plan), "never fits", "never fit"), (perhaps(plan), "may not fit", "may not fit")):
        for found, which, again in zip(both, ("new", "existing"), ("", " again"), strict=True):
            if found:
                said.append(f"{count_of(len(found), f'{which} run')} {one if len(found) == 1 else many}{again}")
    for verdict, one, many in (("never fits", "never fits", "never fit"), ("may fit", "may not fit", "may not fit")):
        if count := sum(run.after == verdict for run in plan.next_runs):
            said.append(f"the next run of 1 job {one}" if count == 1 else f"the next runs of {count} jobs {many}")
    return " and ".join(said)


def hours(begun: Iterable[RunEffect]) -> str:
    """Return the most GPU-hours of new runs, what they cost, and how many have no deadline, to stand behind GPUs."""
    held = [effect.amount for effect in begun if effect.amount.gpus]
    known = [amount.gpu_hours for amount in held if amount.gpu_hours is not None]
    costs = [amount.cost for amount in held if amount.cost is not None]
    said = [f"at most {sum(known):,.0f} GPU-hours"] if known else []
    said += [f"cost {sum(costs):,.2f}"] if costs else []
    endless = len(held) - len(known)
    if endless:
        said.append("no deadline" if endless == len(held) else f"{count_of(endless, 'run')} without a deadline")
    return "".join(f", {part}" for part in said)


def warnings(plan: Plan) -> Iterator[str]:
    """Yield the warnings of a plan, the gravest first: lost work, misfits, drained nodes, loosened security."""
    lost = [run for run in plan.runs if run.lost == "all"]
    if lost:
        yield f"all work is lost: {names(lost)}{spent(lost)}"
    if hopeless := [f"{decision.team}/{decision.run}" for found in never(plan) for decision in found]:
        yield f"never fits: {first(hopeless)}"
    if doubtful := [f"{decision.team}/{decision.run}" for found in perhaps(plan) for decision in found]:
        yield f"may not fit, depending on the nodes that the scheduler picks: {first(doubtful)}"
    if following := [f"{run.team}/{run.job}" for run in plan.next_runs if run.rule]:
        yield f"the next run never fits or may not fit: {first(following)}"
    drained = sorted({obj.cluster for obj in plan.objects if obj.folder.startswith("hardware")})
    if drained:
        yield f"nodes are drained once somebody syncs folder hardware: {', '.join(drained)}"
    if stuck := [f"{run.team}/{run.run}" for one in plan.maintenance for run in one.runs if run.stuck]:
        yield f"nodes stay cordoned, as pods do not leave them: {first(list(dict.fromkeys(stuck)))}"
    yield from plan.dangers
    for word, what in (("security", "weaker pod security"), ("patch", "patched")):
        marked = [
            run for run in plan.runs if any(mark.word == word and mark.was in {"new", "unknown"} for mark in run.marks)
        ]
        if marked:
            yield f"{what}: {names(marked)}"


def names(effects: list[RunEffect]) -> str:
    """Return the names of the first few runs: of a replaced run whose work is lost, the old name."""
    return first([f"{effect.team}/{old_name(effect) or effect.run}" for effect in effects])


def old_name(effect: RunEffect) -> str | None:
    """Return the name of the run whose work is lost, where another one replaces it."""
    return effect.before if effect.lost == "all" and effect.word != "leaves" else None


def first(found: list[str]) -> str:
    """Return the first few names, and how many others there are."""
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f"{', '.join(found[:NAMED])}{more}"


def spent(lost: list[RunEffect]) -> str:
    """Return how much that is at most, where it is known of all."""
    known = [effect.lost_gpu_hours for effect in lost if effect.lost_gpu_hours is not None]
    return f" (at most {sum(known):,.0f} GPU-hours)" if known and len(known) == len(lost) and sum(known) else ""
