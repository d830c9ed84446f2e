"""Quota as bars: what is nominal, used, borrowed, lent and waited for, as a tree of cohorts and queues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainyard.faces.pictures import svg
from trainyard.faces.pictures.boxes import (
    WIDTH,
    Box,
    blank,
    cell,
    column,
    flow,
    label,
    legend,
    paragraph,
    row,
    sized,
    upright,
    wide,
)
from trainyard.faces.pictures.quotas import Branch, Place, Row
from trainyard.faces.pictures.words import amount, step
from trainyard.upstream.pods.resources import AMD_GPU, CPU, NVIDIA_GPU

BAR = 310.0
"""How long the longest bar is."""

MOST_NAME, GAP, INDENT = 200.0, 10.0, 18.0
"""How much room names have at most, the gap between columns, and how far a queue stands to the right of its cohort."""

SCALES = "all queues share one scale per flavor; a cohort has its own scale and adds up its queues"

NAMES = {NVIDIA_GPU: "GPUs", AMD_GPU: "GPUs", CPU: "CPUs"}


@dataclass(frozen=True)
class Table:
    """What all bars share: how wide the columns before them are, and the greatest amount of each resource."""

    queue: float
    resource: float
    most: Mapping[Place, float]

    @property
    def words(self) -> float:
        """How much room numbers have."""
        return WIDTH - self.queue - self.resource - BAR - 3 * GAP


def headline(cluster: str, branches: Sequence[Branch]) -> str:
    """Return the headline: the GPUs that queues use, borrow and wait for."""
    every = [row for queue in queues(branches) for row in queue.rows]
    what = "GPUs" if not every or any(unit(row) == "GPUs" for row in every) else unit(every[0])
    mine = [row for row in every if unit(row) == what]
    nominal = sum(row.now.nominal for branch in branches for row in branch.rows if unit(row) == what)
    before = [row.before.used for row in mine if row.before is not None]
    used = step(sum(before) if before else None, sum(row.now.used for row in mine))
    counts = {
        "borrowed": sum(row.now.borrowed for row in mine),
        "wait": sum(row.now.waits for row in mine),
        "never fit": sum(row.now.never for row in mine),
    }
    said = [f"{used} of {amount(nominal)} {what} of quota in use"]
    said += [f"{amount(count)} {verb}" for verb, count in counts.items() if count]
    return f"{cluster}: {', '.join(said)}"


def queues(branches: Iterable[Branch]) -> Iterator[Branch]:
    """Yield the queues of trees."""
    for branch in branches:
        if branch.cohort:
            yield from queues(branch.below)
        else:
            yield branch


def unit(row: Row) -> str:
    """Return the unit of a row, as people call it."""
    return NAMES.get(row.resource, row.resource.partition("/")[2] or row.resource)


def drawn(branches: Sequence[Branch]) -> Box:
    """Return all trees below each other; queues share a scale, each cohort has its own."""
    rows = [row for queue in queues(branches) for row in queue.rows]
    most: dict[Place, float] = {}
    for one in rows:
        most[one.place] = max(most.get(one.place, 0), reach(one))
    names = max((wide(name, "h2") + depth * INDENT for name, depth in branch_names(branches)), default=0.0)
    kinds = max((wide(f"{one.flavor} {unit(one)}") for one in rows), default=0.0)
    table = Table(min(names, MOST_NAME), min(kinds, MOST_NAME), most)
    return column((branch_box(branch, 0, table) for branch in branches), 10)


def branch_names(branches: Iterable[Branch], depth: int = 0) -> Iterator[tuple[str, int]]:
    """Yield the name of every branch, and how many cohorts are above it."""
    for branch in branches:
        yield f"{branch.name} cohort" if branch.cohort else branch.name, depth
        yield from branch_names(branch.below, depth + 1)


def reach(row: Row) -> float:
    """Return the greatest number of a row that is drawn: of what is asked for, no more than half as much again."""
    most = max(max(side.nominal, side.used) for side in row.sides)
    asked = max(side.asked for side in row.sides)
    return min(asked, most * 1.5) if asked > most > 0 else max(most, asked)


def busy(row: Row) -> bool:
    """Whether anything is used or asked of a row, or its quota changes."""
    return any(side.used or side.asked for side in row.sides) or len({side.nominal for side in row.sides}) > 1


def idle(branches: Sequence[Branch]) -> str:
    """Return the note on resources that no job requests, empty where there are none."""
    every = {row.place: row for queue in queues(branches) for row in queue.rows}
    used = {row.place for queue in queues(branches) for row in queue.rows if busy(row)}
    names = [f"{row.flavor} {unit(row)}" for place, row in every.items() if place not in used]
    return f"no job requests {', '.join(names)}" if names else ""


def branch_box(branch: Branch, depth: int, table: Table) -> Box:
    """Return a queue or a cohort with what is below it."""
    room = table.queue - depth * INDENT
    kind = [label("cohort", "s f")] if branch.cohort else []
    words = [flow([paragraph(branch.name, room, "h2" if branch.cohort else "b"), *kind], room, 6, 0, align=0.8)]
    words = [row([blank(0, 20), *words], align=0.5)]
    words += [label("admits nothing now", "s a")] if branch.held else []
    shown = [row for row in branch.rows if busy(row)] or list(branch.rows[:1])
    bars = column((bar_row(row, table, whole=branch.cohort) for row in shown), 4)
    inside = row([sized(column(words), room), bars], GAP)
    below = column((branch_box(one_branch, depth + 1, table) for one_branch in branch.below), 8)
    return column([inside, row([blank(5, 0), upright(below.height, "t"), blank(INDENT - 5, 0), below])], 8)


def bar_row(row_: Row, table: Table, *, whole: bool) -> Box:
    """Return one resource: what it is, its bar, and its numbers."""
    scale = BAR / max(reach(row_) if whole else table.most[row_.place], 1)
    name = paragraph(f"{row_.flavor} {unit(row_)}", table.resource, "f ra")
    numbers = paragraph(row_words(row_, whole=whole), table.words)
    return row([sized(name, table.resource), bar(row_, scale), numbers], GAP, align=0.5)


def bar(row: Row, scale: float) -> Box:
    """Return the bar of a row, with what was before above it; `scale` is pixels for each of what is counted."""

    def parts(x: float, y: float) -> Iterator[str]:
        now, top = row.now, y + 6
        end = x + BAR
        yield svg.rect(x, top, now.nominal * scale, 12, "r")
        if now.used:
            yield svg.rect(x, top, min(now.used, now.nominal) * scale, 12, "u")
        if now.borrowed:
            yield svg.rect(x + now.nominal * scale, top, now.borrowed * scale, 12, "v")
        begin = x + now.used * scale
        for much, class_ in ((now.waits, "w"), (now.never, "q")):
            if (until := min(begin + much * scale, end)) > begin:
                yield svg.rect(begin, top + 2, until - begin, 8, class_)
                begin = until
        if (now.waits or now.never) and now.asked * scale > BAR + 1:
            yield svg.text(end + 2, top + 10, "›", "a")
        if row.before is not None:
            yield svg.rect(x, top - 5, max(row.before.used * scale, 0.5), 3, "y")
            tick = min(x + row.before.asked * scale, end)
            yield svg.line(tick, top - 6, tick, top - 1, "t")
        yield svg.line(x + now.nominal * scale, top - 2, x + now.nominal * scale, top + 14, "k")

    return Box(BAR, 20, parts)


def row_words(row: Row, *, whole: bool) -> str:
    """Return the numbers of a row in words."""
    now, before = row.now, row.before
    used = step(before.used if before else None, now.used)
    nominal = amount(now.nominal)
    if before and before.nominal != now.nominal:
        nominal = f"{amount(now.nominal)} (was {amount(before.nominal)})"
    words = [f"{used} of {nominal}"]
    words += [f"borrows {amount(now.borrowed)}"] if now.borrowed else []
    words += [lends(row)] if row.most_lent and not whole else []
    words += [f"{amount(now.waits)} wait"] if now.waits else []
    words += [f"{amount(now.never)} never fit"] if now.never else []
    return " · ".join(words)


def lends(row: Row) -> str:
    """Return the quota of a row that other queues use."""
    if row.least_lent == row.most_lent:
        return f"lends {amount(row.most_lent)}"
    least = f"at least {amount(row.least_lent)}, at most " if row.least_lent else "up to "
    return f"lends {least}{amount(row.most_lent)}"


def key(branches: Sequence[Branch]) -> Box:
    """Return the key of the bars, of the parts that the picture has."""
    rows = [row for queue in queues(branches) for row in queue.rows]
    compared = any(row.before for row in rows)
    never = any(row.now.never for row in rows)
    samples = [("u", "in use", 12), ("r", "unused quota", 12), ("v", "borrowed", 12), ("w", "requested, waits", 8)]
    samples += [("q", "requested, never fits", 8)] if never else []
    samples += [("y", "in use before", 3)] if compared else []
    ticks = [("k", "nominal quota", 16), *([("t", "requested before", 8)] if compared else [])]
    boxes = [(cell(22, height, class_), words) for class_, words, height in samples]
    return legend([*boxes, *((upright(height, class_), words) for class_, words, height in ticks)])


def spoken(branches: Sequence[Branch]) -> str:
    """Return the picture in words, for those who do not see it."""
    return "; ".join(
        f"queue {queue.name}, {row.flavor} {unit(row)}: {row_words(row, whole=False)}"
        for queue in queues(branches)
        for row in queue.rows
    )
