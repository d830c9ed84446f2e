"""A plan as text: what stands against the change first, then one sentence an effect, cluster by cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from trainyard.findings import Finding, counted
from trainyard.plan.decide.queues import verdict
from trainyard.plan.effects import Plan, QueueRow, Rebuild
from trainyard.plan.words.decisions import decision_lines, next_lines
from trainyard.plan.words.groups import groups
from trainyard.plan.words.headline import headline, warnings
from trainyard.plan.words.objects import object_lines, platform_lines
from trainyard.plan.words.runs import group_lines

ERRORS = 40
"""Errors that are told; the commands that find them tell all."""

ENDS = frozenset({"stops", "leaves"})
"""What happens to a run that is not there any more."""

MOST = 40
"""Lines about the runs of a cluster, and as many about its objects, unless all are asked for."""

DANGERS = 12
"""Warnings that are told by themselves."""

ASKED = "asked: by all active runs, those that finished too; Kueue decides as if all of them were there"
"""What the numbers of queues are."""


def render(plan: Plan, *, everything: bool = False) -> str:
    """Return the plan as text, the same bytes for the same plan; what is long is counted unless everything is asked."""
    lines = [*opening(plan), *states(plan)]
    marked = [f"! {each}" for each in limited(list(warnings(plan)), DANGERS, everything=everything)]
    leading = [headline(plan), *marked]
    lines += ["", *leading] if leading else []
    if plan.queues:
        lines += ["", *queue_lines(plan.queues)]
    if plan.decisions:
        found = decision_lines(plan.decisions, everything=everything)
        lines += ["", *limited(found, MOST, everything=everything)]
    if plan.next_runs:
        found = next_lines(plan.next_runs, everything=everything)
        lines += ["", *limited(found, MOST, everything=everything)]
    for cluster in clusters(plan):
        runs = [
            line
            for group in groups(plan, cluster, everything=everything)
            for line in group_lines(group, live=plan.live)
        ]
        found = [*limited(runs, MOST, everything=everything), *platform_lines(plan, cluster)]
        found += limited(list(object_lines(plan, cluster, everything=everything)), MOST, everything=everything)
        if found:
            lines += ["", cluster, *(f"  {line}" for line in found)]
    if common := list(platform_lines(plan, "")):
        lines += ["", "all clusters", *(f"  {line}" for line in common)]
    lines += ["", closing(plan)]
    lines += rebuilding(plan.rebuild) if plan.rebuild else []
    return "\n".join(lines) + "\n"


def clusters(plan: Plan) -> list[str]:
    """Return the clusters of which there is anything to say."""
    named = {each.cluster for each in plan.runs} | {each.cluster for each in plan.objects}
    return sorted(named | {name for each in plan.platform for name in each.clusters})


def limited(lines: Sequence[str], most: int, *, everything: bool) -> list[str]:
    """Return lines, of too many the first and how many are left."""
    if everything or len(lines) <= most:
        return list(lines)
    return [*lines[: most - 1], f"and {len(lines) - most + 1} more lines, which `trainyard plan --all` shows"]


def opening(plan: Plan) -> Iterator[str]:
    """Yield what stands against the change, and what it is compared with."""
    if plan.refused:
        yield from refusals([finding for finding in plan.findings if finding.is_error])
    yield f"compared with {plan.compared}"


def states(plan: Plan) -> Iterator[str]:
    """Yield of which tree the rest is told, and whether clusters follow it."""
    if plan.told == "synth":
        yield "generated/ is not what the specs say; what follows is what `trainyard synth` would make of it"
    if plan.told == "refused":
        yield "what follows is told of generated/ at hand; what a merge would do is not known while synth refuses"
    if not plan.live:
        yield "live is false: no cluster syncs this repository, so nothing of what follows happens yet"
    if plan.switched == "off":
        yield "live goes from true to false, but clusters sync this repository: what follows happens all the same"
    if plan.switched == "on":
        active = sum(each.word not in ENDS for each in plan.runs)
        runs = "its run starts" if active == 1 else f"all {active} runs start"
        yield f"live goes from false to true: once clusters sync this repository, {runs}, those left alone too"


def refusals(errors: Sequence[Finding]) -> Iterator[str]:
    """Yield that a change is refused, and by what: a place, a sentence and a remedy each."""
    count = "1 error stands" if len(errors) == 1 else f"{len(errors)} errors stand"
    yield f"refused: {count} against this change, which cannot be merged as it is"
    for each in errors[:ERRORS]:
        yield f"{each.location}: {each.severity}: {each.message} [{each.rule}]"
        if each.spec is not None and each.spec != each.location:
            yield f"  from {each.spec}"
        if each.fix:
            yield f"  fix: {each.fix}"
    if len(errors) > ERRORS:
        yield f"and {len(errors) - ERRORS} more, which `trainyard synth --check` and `trainyard validate` name"
    yield ""


HEAD = ("cluster", "queue", "pool", "", "quota", "asked", "Kueue decides")


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
    one, two = ("none" if each is None else f"{each:g}" if each < 1e6 else f"{each:,.0f}" for each in (before, after))
    return one if one == two else f"{one} -> {two}"


def closing(plan: Plan) -> str:
    """Return the last line: how much of everything; of a tree that a merge would not bring no run is left alone."""
    counts = [
        (len(plan.of("returns")), "comes back", "come back"),
        (len(plan.of("starts")), "starts", "start"),
        (len(plan.of("replaces", "moves")), "is replaced", "are replaced"),
        (len(plan.of("stops")), "stops", "stop"),
        (len(plan.of("changes")), "is rendered differently", "are rendered differently"),
        (len(plan.of("keeps")) if plan.told != "refused" else 0, "is left alone", "are left alone"),
    ]
    said = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
    changed = len(plan.objects)
    if plan.told == "refused" and not said and not changed:
        return "generated/ is as at the base, and says nothing of this change"
    runs = f"runs: {', '.join(said)}" if said else "no runs"
    return f"{runs}; {changed} {'other object changes' if changed == 1 else 'other objects change'}"


def rebuilding(rebuild: Rebuild) -> Iterator[str]:
    """Yield what a cluster that is built anew would start, of which a person may not think before it does."""
    if rebuild.runs:
        runs = counted(rebuild.runs, "active run")
        gpus = f" on {counted(rebuild.gpus, 'GPU')}" if rebuild.gpus else ""
        yield f"on empty clusters {runs} would train{gpus}, finished ones too; `trainyard retire --finished` ends those"
