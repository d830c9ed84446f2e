"""A plan as text: errors and the verdict first, then the effects on queues and on each cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from trainyard.base.findings import Finding, arrange, count_of
from trainyard.change.plan.decide.queues import verdict
from trainyard.change.plan.effects import Plan, QueueRow, Rebuild
from trainyard.change.plan.words.decisions import decision_lines, next_lines
from trainyard.change.plan.words.groups import groups
from trainyard.change.plan.words.headline import headline, warnings
from trainyard.change.plan.words.maintenance import maintenance_lines
from trainyard.change.plan.words.objects import object_lines, platform_lines
from trainyard.change.plan.words.runs import group_lines
from trainyard.judge.causes.words import lines_below
from trainyard.judge.checks.result import place

ERRORS = 40
"""Errors that a plan lists; the commands that find them list all."""

ENDS = frozenset({"stops", "leaves"})
"""What happens to a run that is not there any more."""

MOST = 40
"""Lines about the objects of a cluster, and as many about its verdicts, unless all are asked for."""

OF_RUNS = 80
"""Lines about the runs of a cluster, of which each has up to four, unless all are asked for."""

DANGERS = 12
"""Warnings that get a line of their own."""

ASKED = "requested: all jobs that are not retired, also finished ones; verdict: if all of them are queued at once"
"""The note below the table of queues."""


def render(plan: Plan, *, everything: bool = False) -> str:
    """Return the plan as text, the same bytes for the same plan; what is long is counted unless everything is asked."""
    errors = [item for item in arrange(plan.findings) if item[0].is_error]
    marked = [f"! {warning}" for warning in shorten(list(warnings(plan)), DANGERS, everything=everything)]
    lines = [headline(plan), *error_lines(errors), *marked, "", f"compared with {plan.compared}", *states(plan)]
    if plan.queues:
        lines += ["", *queue_lines(plan.queues)]
    if plan.decisions:
        verdicts = shorten(decision_lines(plan.decisions, everything=everything), MOST, everything=everything)
        lines += ["", "new and changed verdicts", *(f"  {line}" for line in verdicts)]
    if plan.next_runs:
        verdicts = shorten(next_lines(plan.next_runs, everything=everything), MOST, everything=everything)
        lines += ["", "the next runs of existing jobs, each alone on its cluster", *(f"  {line}" for line in verdicts)]
    for cluster in clusters(plan):
        runs = [
            line
            for group in groups(plan, cluster, everything=everything)
            for line in group_lines(group, live=plan.live)
        ]
        found = [*shorten(runs, OF_RUNS, everything=everything), *platform_lines(plan, cluster)]
        found += maintenance_lines(plan, cluster, everything=everything)
        found += shorten(list(object_lines(plan, cluster, everything=everything)), MOST, everything=everything)
        if found:
            lines += ["", f"cluster {cluster}", *(f"  {line}" for line in found)]
    if common := list(platform_lines(plan, "")):
        lines += ["", "all clusters", *(f"  {line}" for line in common)]
    lines += ["", closing(plan)]
    lines += rebuilding(plan.rebuild) if plan.rebuild else []
    return "\n".join(lines) + "\n"


def clusters(plan: Plan) -> list[str]:
    """Return the clusters of which there is anything to say."""
    named = {run.cluster for run in plan.runs} | {obj.cluster for obj in plan.objects}
    named |= {one.cluster for one in plan.maintenance}
    return sorted(named | {name for change in plan.platform for name in change.clusters})


def shorten(lines: Sequence[str], most: int, *, everything: bool) -> list[str]:
    """Return lines, of too many the first and how many are left."""
    if everything or len(lines) <= most:
        return list(lines)
    return [*lines[: most - 1], f"and {len(lines) - most + 1} more lines; show them with `trainyard plan --all`"]


def states(plan: Plan) -> Iterator[str]:
    """Yield which tree the plan shows, and whether clusters sync it."""
    if plan.told == "synth":
        yield "generated/ is out of date: this plan shows what `trainyard synth` would write"
    if plan.told == "refused":
        yield (
            "this plan shows the files that are in generated/ now;"
            " the effect of a merge is unknown until the errors are fixed"
        )
    yield from plan.decided_as
    if not plan.live:
        yield "live is false: no cluster syncs this repository, so nothing below happens yet"
    if plan.switched == "off":
        yield "live changes from true to false, but clusters still sync this repository: everything below happens"
    if plan.switched == "on":
        active = sum(effect.word not in ENDS for effect in plan.runs)
        runs = "its run starts" if active == 1 else f"all {active} runs start"
        yield f"live changes from false to true: once clusters sync this repository, {runs}, also unchanged ones"


def error_lines(errors: Sequence[tuple[Finding, Sequence[Finding]]]) -> Iterator[str]:
    """Yield each error with its place, message and fix, and what follows from it."""
    for error, followers in errors[:ERRORS]:
        where = place(error)
        yield f"{where}: {error.severity}: {error.message} [{error.rule}]"
        if where != error.location:
            yield f"  seen at {error.location}"
        elif error.spec is not None and error.spec != where:
            yield f"  from {error.spec}"
        if error.fix:
            yield f"  fix: {error.fix}"
        yield from (f"  {line}" for line in lines_below(error, followers))
    if len(errors) > ERRORS:
        yield f"and {len(errors) - ERRORS} more; list them with `trainyard synth --check` and `trainyard validate`"


HEAD = ("cluster", "queue", "pool", "unit", "quota", "requested", "verdict")


def queue_lines(rows: Iterable[QueueRow]) -> Iterator[str]:
    """Yield the table of queues in which something changes."""
    table = [HEAD, *map(cells, rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(HEAD))]
    for row in table:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
    yield ASKED


def cells(row: QueueRow) -> tuple[str, ...]:
    """Return a row of the table of queues."""
    quota = step(row.quota_before, row.quota_after)
    asked = step(row.asked_before, row.asked_after)
    return row.cluster, row.queue, row.pool, row.unit, quota, asked, verdict(row)


def step(before: float | None, after: float | None) -> str:
    """Return a number before and after, once where it stays."""
    one, two = ("none" if item is None else f"{item:g}" if item < 1e6 else f"{item:,.0f}" for item in (before, after))
    return one if one == two else f"{one} → {two}"


def closing(plan: Plan) -> str:
    """Return the last line, the totals; runs of a tree that a merge would not bring are not counted as unchanged."""
    counts = [
        (len(plan.of("returns")), "brought back"),
        (len(plan.of("starts")), "new"),
        (len(plan.of("replaces", "moves")), "replaced"),
        (len(plan.of("stops")), "stopped"),
        (len(plan.of("changes")), "rendered differently"),
        (len(plan.of("keeps")) if plan.told != "refused" else 0, "unchanged"),
    ]
    said = [f"{count} {word}" for count, word in counts if count]
    changed = len(plan.objects)
    if plan.told == "refused" and not said and not changed:
        return "generated/ has not changed, so it does not show this change yet"
    return f"runs: {', '.join(said) or 'none'}; other objects: {changed or 'none'} changed"


def rebuilding(rebuild: Rebuild) -> Iterator[str]:
    """Yield how many runs would start again on rebuilt clusters, and the command that removes finished ones."""
    if rebuild.runs:
        runs = count_of(rebuild.runs, "run")
        gpus = f" ({count_of(rebuild.gpus, 'GPU')})" if rebuild.gpus else ""
        yield (
            f"if these clusters were rebuilt, {runs} would start again{gpus}, also finished ones;"
            " retire those with `trainyard retire --finished`"
        )
