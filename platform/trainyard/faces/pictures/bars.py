"""Quota as bars: what is nominal, used, borrowed, lent and waited for, as a tree of cohorts and queues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from trainyard.faces.pictures.boxes import Box, flow, stacked
from trainyard.faces.pictures.hosts import WIDTH
from trainyard.faces.pictures.quotas import Branch, Row
from trainyard.faces.pictures.svg import fitting, line, rect, said_in_one, text, wide
from trainyard.faces.pictures.words import amount, step
from trainyard.upstream.pods.resources import AMD_GPU, CPU, NVIDIA_GPU

LEFT, BAR, HIGH = 300.0, 310.0, 24.0
"""Where bars begin, how long the longest is, and how high a row is."""

NAME = 165.0
"""How much room names have."""

INDENT = 18.0

SCALES = "all queues share one scale per flavor; a cohort has its own scale and adds up its queues"

NAMES = {NVIDIA_GPU: "GPUs", AMD_GPU: "GPUs", CPU: "CPUs"}


def headline(cluster: str, branches: Sequence[Branch]) -> str:
    """Return the headline: the GPUs that queues use, borrow and wait for."""
    rows = [row for queue in queues(branches) for row in queue.rows if unit(row) == "GPUs"] or [
        row for queue in queues(branches) for row in queue.rows
    ]
    what = unit(rows[0]) if rows else "GPUs"
    mine = [row for row in rows if unit(row) == what]
    nominal = sum(row.now.nominal for branch in branches for row in branch.rows if unit(row) == what)
    before = [row.before.used for row in mine if row.before is not None]
    used, borrowed = sum(row.now.used for row in mine), sum(row.borrowed for row in mine)
    waits = sum(row.waits for row in mine)
    said = [f"{step(sum(before) if before else None, used)} of {amount(nominal)} {what} of quota in use"]
    said += [f"{amount(borrowed)} borrowed"] if borrowed else []
    said += [f"{amount(waits)} wait"] if waits else []
    never = sum(row.now.never for row in mine)
    said += [f"{amount(never)} never fit"] if never else []
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


def draw_branches(branches: Sequence[Branch]) -> Box:
    """Return all trees below each other; queues share a scale, each cohort has its own."""
    most: dict[tuple[str, str], float] = {}
    for queue in queues(branches):
        for row in queue.rows:
            most[row.flavor, row.resource] = max(most.get((row.flavor, row.resource), 0), reach(row))
    return stacked((branch_box(branch, 0, most) for branch in branches), 10)


def reach(row: Row) -> float:
    """Return the greatest number of a row that is drawn: of what is asked for, no more than half as much again."""
    sides = [row.now, *([row.before] if row.before else [])]
    most = max(max(side.nominal, side.used) for side in sides)
    asked = max(side.asked for side in sides)
    return min(asked, most * 1.5) if asked > most > 0 else max(most, asked)


def busy(row: Row) -> bool:
    """Whether anything is used or asked of a row, or its quota changes."""
    sides = [row.now, *([row.before] if row.before else [])]
    return any(side.used or side.asked for side in sides) or len({side.nominal for side in sides}) > 1


def idle(branches: Sequence[Branch]) -> str:
    """Return the note on resources that no job requests, empty where there are none."""
    every = {(row.flavor, row.resource): row for queue in queues(branches) for row in queue.rows}
    used = {(row.flavor, row.resource) for queue in queues(branches) for row in queue.rows if busy(row)}
    names = [f"{row.flavor} {unit(row)}" for place, row in every.items() if place not in used]
    return f"no job requests {', '.join(names)}" if names else ""


def branch_box(branch: Branch, depth: int, most: dict[tuple[str, str], float]) -> Box:
    """Return a queue or a cohort with what is below it."""
    left = depth * INDENT
    room = NAME - left - (54 if branch.cohort else 0)
    name = fitting(branch.name, room, 15 if branch.cohort else 13)
    kind = [("cohort", "s f")] if branch.cohort else []
    words = [said_in_one(left, 16, (name, "h2" if branch.cohort else "b"), *kind)]
    if branch.held:
        words.append(text(left, 28, "admits nothing now", "s a"))
    rows = []
    shown = [row for row in branch.rows if busy(row)] or list(branch.rows[:1])
    for number, row in enumerate(shown):
        scale = max(reach(row), 1) if branch.cohort else max(most[row.flavor, row.resource], 1)
        rows.append(Box(WIDTH, HIGH, [*(words if not number else []), *bar(row, BAR / scale, whole=branch.cohort)]))
    inside = stacked(rows or [Box(WIDTH, HIGH, words)], 2)
    below = [branch_box(one_branch, depth + 1, most) for one_branch in branch.below]
    box = stacked([inside, *below], 6)
    rule = [line(left + 5, 24, left + 5, box.height, "t")] if branch.below else []
    return Box(WIDTH, box.height, [*rule, *box.parts])


def bar(row: Row, pixel: float, *, whole: bool) -> Iterator[str]:
    """Yield the bar of a row, what was before above it, and its numbers."""
    now, top = row.now, 7.0
    yield text(LEFT - 8, 16, fitting(f"{row.flavor} {unit(row)}", LEFT - NAME, 11), "f", anchor="end")
    yield rect(LEFT, top, now.nominal * pixel, 12, "r")
    inside = min(now.used, now.nominal)
    if inside:
        yield rect(LEFT, top, inside * pixel, 12, "u")
    if row.borrowed:
        yield rect(LEFT + now.nominal * pixel, top, row.borrowed * pixel, 12, "v")
    begin = now.used * pixel
    for much, class_ in ((row.waits, "w"), (now.never, "q")):
        end = min(begin + much * pixel, BAR)
        if end > begin:
            yield rect(LEFT + begin, top + 2, end - begin, 8, class_)
            begin = end
    if (row.waits or now.never) and now.asked * pixel > BAR + 1:
        yield text(LEFT + BAR + 2, 17, "›", "a")
    if row.before is not None:
        yield rect(LEFT, top - 5, max(row.before.used * pixel, 0.5), 3, "y")
        x = LEFT + min(row.before.asked * pixel, BAR)
        yield line(x, top - 6, x, top - 1, "t")
    yield line(LEFT + now.nominal * pixel, top - 2, LEFT + now.nominal * pixel, top + 14, "k")
    yield text(LEFT + BAR + 12, 17, fitting(row_words(row, whole=whole), WIDTH - LEFT - BAR - 12, 12))


def row_words(row: Row, *, whole: bool) -> str:
    """Return the numbers of a row in words."""
    now, before = row.now, row.before
    used = step(before.used if before else None, now.used)
    nominal = amount(now.nominal)
    if before and before.nominal != now.nominal:
        nominal = f"{amount(now.nominal)} (was {amount(before.nominal)})"
    words = [f"{used} of {nominal}"]
    words += [f"borrows {amount(row.borrowed)}"] if row.borrowed else []
    words += [lends(row)] if row.most_lent and not whole else []
    words += [f"{amount(row.waits)} wait"] if row.waits else []
    words += [f"{amount(now.never)} never fit"] if now.never else []
    return " · ".join(words)


def lends(row: Row) -> str:
    """Return the quota of a row that other queues use."""
    if row.least_lent == row.most_lent:
        return f"lends {amount(row.most_lent)}"
    least = f"at least {amount(row.least_lent)}, at most " if row.least_lent else "up to "
    return f"lends {least}{amount(row.most_lent)}"


def key(branches: Sequence[Branch]) -> Box:
    """Return the key of the bars."""
    compared = any(row.before for branch in branches for row in branch.rows)
    rows = [("u", "in use", 12.0), ("r", "unused quota", 12.0), ("v", "borrowed", 12.0)]
    rows += [("w", "requested, waits", 8.0)]
    rows += (
        [("q", "requested, never fits", 8.0)]
        if any(row.now.never for queue in queues(branches) for row in queue.rows)
        else []
    )
    rows += [("y", "in use before", 3.0)] if compared else []
    boxes = [
        Box(wide(words, 11) + 38, 16, [rect(1, 8 - high / 2, 22, high, class_), text(28, 12, words, "f")])
        for class_, words, high in rows
    ]
    ticks = [("k", "nominal quota", 0.0), *([("t", "requested before", 4.0)] if compared else [])]
    boxes += [
        Box(wide(words, 11) + 22, 16, [line(6, top, 6, 16 - top, class_), text(12, 12, words, "f")])
        for class_, words, top in ticks
    ]
    return flow(boxes, WIDTH, 10)


def spoken(branches: Sequence[Branch]) -> str:
    """Return the picture in words, for those who do not see it."""
    return "; ".join(
        f"queue {queue.name}, {row.flavor} {unit(row)}: {row_words(row, whole=False)}"
        for queue in queues(branches)
        for row in queue.rows
    )
