"""Hosts in their racks, in three sizes: with names and letters, with GPUs, or as one cell each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from trainyard.faces.pictures.boxes import Box, Sheet, flow, stacked, titled
from trainyard.faces.pictures.letters import Spot, letters
from trainyard.faces.pictures.look import fill_class
from trainyard.faces.pictures.scene import Host, Job, Pool, Rack, Scene
from trainyard.faces.pictures.svg import fitting, rect, said_in_one, text, wide
from trainyard.faces.pictures.words import amount, many, step

WIDTH = 960.0
LETTERS = 9
"""The least side of a GPU with letters on it."""

LEAST = 4
"""Hosts of a job that is named in a cell's size; those of the change are named always."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How large things are."""

    gpu: float
    """Side of a GPU; 0: a host is one cell."""
    gap: float
    cell: float
    """Side of a host that is one cell, or has no GPUs."""
    named: bool = False


SCALES = (
    (20, Scale(20, 2, 46, named=True)),
    (64, Scale(14, 2, 34, named=True)),
    (400, Scale(5, 1, 12)),
    (math.inf, Scale(0, 1, 9)),
)
"""By the most hosts that are drawn so."""


@dataclass(frozen=True)
class Map:
    """How a scene's hosts are drawn: at which scale, and in which rack each job is named."""

    scene: Scene
    scale: Scale
    homes: Mapping[int, tuple[str, Rack]]

    def job(self, number: int) -> Job:
        """Return a job by its number."""
        return self.scene.jobs[number]

    def fill(self, number: int | None, *, quota: bool = True) -> tuple[str, str]:
        """Return the class of what a job has, and that of the line around it."""
        if number is None:
            return "e" if quota else "q", ""
        return marked(self.job(number))


def marked(job: Job) -> tuple[str, str]:
    """Return the class of what a job has, and that of the line around it, which says what is special."""
    if job.gone:
        return "g", ""
    return fill_class(
        job.colour, begun=job.begins
    ), "d" if job.perhaps else "o" if job.begins else "w" if job.stuck else ""


def drawn(scene: Scene) -> Box:
    """Return the pools of a scene below each other."""
    view = Map(scene, scale_of(scene), homes(scene))
    return flow((pool_box(view, pool) for pool in scene.pools), WIDTH, 28, between=18)


def scale_of(scene: Scene) -> Scale:
    """Return how large things are that there are so many of."""
    total = sum(pool.hosts for pool in scene.pools)
    return next(scale for most, scale in SCALES if total <= most)


def homes(scene: Scene) -> dict[int, tuple[str, Rack]]:
    """Return the rack in which each job has most of its hosts."""
    found: dict[int, tuple[int, tuple[str, Rack]]] = {}
    for pool in scene.pools:
        for rack in pool.racks:
            for number, count in Counter(one for host in rack.hosts for one in on(host)).items():
                if count > found.get(number, (0, None))[0]:
                    found[number] = count, (pool.name, rack)
    return {number: place for number, (_, place) in found.items()}


def on(host: Host) -> list[int]:
    """Return the jobs on a host, and those that have left it."""
    seated = [number for numa in host.numa for number in numa if number is not None]
    return list(dict.fromkeys([*seated, *(number for number, _ in host.shares)]))


def pool_box(view: Map, pool: Pool) -> Box:
    """Return a pool: how much of it is in use, and its blocks with their racks."""
    said = " · ".join(item for item in (many(pool.hosts, "host"), pool_usage(view, pool)) if item)
    name = fitting(pool.name, WIDTH / 3, 15)
    head = said_in_one(0, 14, (name, "h2"), (said, "f"))
    blocks: dict[str, list[Rack]] = {}
    for rack in pool.racks:
        blocks.setdefault(rack.block, []).append(rack)
    several = len(blocks) > 1
    inside = [block_box(view, pool, name if several else "", racks) for name, racks in blocks.items()]
    width = wide(name, 15) + 10 + wide(said, 11.5)
    return stacked([Box(width, 16, [head]), flow(inside, WIDTH, 12)], 6)


def pool_usage(view: Map, pool: Pool) -> str:
    """Return how much of a pool is in use, in words."""
    kind = "parts of GPUs" if pool.parts else "GPUs"
    if not pool.quota:
        what = f"{amount(pool.gpus)} {kind}, of which" if pool.gpus else "of which"
        return f"{what} no queue has quota"
    if not pool.gpus:
        return "no GPUs"
    change = step(pool.before if view.scene.compared else None, pool.after)
    return f"{change} of {amount(pool.gpus)} {kind} in use, {amount(pool.gpus - pool.after)} free"


def block_box(view: Map, pool: Pool, name: str, racks: Iterable[Rack]) -> Box:
    """Return the racks of a block."""
    inside = flow((rack_box(view, pool, rack) for rack in racks), WIDTH, 8)
    return stacked([Box(inside.width, 10, [text(0, 9, name, "s f")]), inside], 4) if name else inside


def rack_box(view: Map, pool: Pool, rack: Rack) -> Box:
    """Return a rack with its hosts."""
    scale = view.scale
    if scale.gpu:
        boxes = [host_box(view, pool, host) for host in rack.hosts]
        across = min(len(boxes), 4) if scale.named else round_columns(len(boxes))
        gap = scale.gap * 3
        inside = flow(boxes, across * (boxes[0].width + gap), gap)
        parts = [*inside.parts, *labels(view, pool, rack, boxes[0], across, gap)]
        inside = Box(inside.width, inside.height, parts)
    else:
        inside = cells(view, pool, rack)
    named = fitting(rack.name, max(inside.width, 48), 10)
    top = 16 if rack.name else 5
    width, height = max(inside.width, wide(named, 10)) + 10, inside.height + top + 5
    frame = [rect(0, 0, width, height, "x", rx=3), *([text(5, 11, named, "s f")] if named else [])]
    box = Box(width, height, [*frame, inside.at(5, top)])
    return titled(box, rack_title(view, rack)) if not scale.gpu else box


def round_columns(count: int) -> int:
    """Return how many of equal things stand side by side, for a box that is a little wider than high."""
    return max(1, math.ceil(math.sqrt(count * 1.2)))


def rack_title(view: Map, rack: Rack) -> str:
    """Return the jobs in a rack, in words."""
    jobs = Counter(one for host in rack.hosts for one in on(host))
    free = sum(not on(host) for host in rack.hosts)
    said = [f"{view.job(number).name} on {many(count, 'host')}" for number, count in jobs.items()]
    return f"{rack.name}: {', '.join([*said, *([f'{free} free'] if free else [])])}"


def host_box(view: Map, pool: Pool, host: Host) -> Box:
    """Return a host with its GPUs by NUMA node, or with its CPUs where it has none."""
    sheet, scale = Sheet(), view.scale
    top = 13 if scale.named else 0
    if host.numa:
        width, height = seats(view, pool, host, sheet, top)
        lines = dict.fromkeys(view.fill(number)[1] for number in on(host))
        for line in (one_line for one_line in lines if one_line and not scale.named):
            sheet.others.append(rect(-0.5, -0.5, width + 1, height + 1, line))
    else:
        width = height = scale.cell
        shares(view, host, sheet, top, scale.cell, quota=pool.quota)
    if scale.named:
        number = host.name.removeprefix(f"{pool.name}-")
        sheet.words.append(text(0, 9, fitting(number, width, 10), "s f"))
    return titled(Box(width, height + top, list(sheet.parts())), whom(view, host))


def whom(view: Map, host: Host) -> str:
    """Return the jobs on a host, in words."""
    seated = Counter(number for numa in host.numa for number in numa)
    said = [
        f"{view.job(number).name} {'gave back' if view.job(number).gone else 'has'} {count}"
        for number, count in seated.items()
        if number is not None
    ]
    said += [f"{view.job(number).name} {share:.0%} of CPUs" for number, share in host.shares if number not in seated]
    free = [f"{seated[None]} free"] if seated[None] else []
    return f"{host.name}: {', '.join([*said, *free]) or 'free'}"


def seats(view: Map, pool: Pool, host: Host, sheet: Sheet, top: float) -> tuple[float, float]:
    """Draw the GPUs of a host, a block a NUMA node, and return width and height."""
    scale = view.scale
    size = scale.gpu if not pool.parts else max(4.0, scale.gpu * 0.7)
    step, pad, x, height = size + scale.gap, scale.gap * 1.5 if scale.named else 0.0, 0.0, 0.0
    for numa in host.numa:
        across = 4 if len(numa) == 8 else max(1, math.ceil(math.sqrt(len(numa))))
        down = math.ceil(len(numa) / across)
        wide_, high = across * step - scale.gap + 2 * pad, down * step - scale.gap + 2 * pad
        if scale.named:
            sheet.behind.append(rect(x, top, wide_, high, "z", rx=2))
        for index, number in enumerate(numa):
            left, y = x + pad + index % across * step, top + pad + index // across * step
            seat(view, number, sheet, (left, y, size), quota=pool.quota)
        x += wide_ + scale.gap
        height = max(height, high)
    return x - scale.gap, height


def seat(view: Map, number: int | None, sheet: Sheet, place: tuple[float, float, float], *, quota: bool) -> None:
    """Draw one GPU, with the letters of its job where there is room."""
    x, y, size = place
    class_, line = view.fill(number, quota=quota)
    sheet.square(class_, x, y, size, outline=line if size >= LETTERS else "")
    if view.scale.named and number is not None and size >= LETTERS:
        job, small = view.job(number), "m" if size >= 12 else "i"
        class_ = "l" if job.gone else f"on {small}" if job.begins else small
        sheet.words.append(text(x + size / 2, y + size / 2 + 3, job.tag, class_, anchor="middle"))


def shares(view: Map, host: Host, sheet: Sheet, top: float, size: float, *, quota: bool, x: float = 0.0) -> None:
    """Draw a host without GPUs as a round cell that its jobs fill from below."""
    sheet.others.append(rect(x, top, size, size, "c" if quota else "q", rx=size / 3))
    bottom = top + size
    for number, share in host.shares:
        height = max(1.0, min(share, 1.0) * size)
        bottom -= height
        class_, line = view.fill(number)
        sheet.others += [rect(x, bottom, size, height, item, rx=min(2.0, size / 4)) for item in (class_, line) if item]
        if view.scale.named and height >= 9:
            small = "on m" if view.job(number).begins else "m"
            sheet.words.append(
                text(x + size / 2, bottom + height / 2 + 3.2, view.job(number).tag, small, anchor="middle")
            )


def cells(view: Map, pool: Pool, rack: Rack) -> Box:
    """Return the hosts of a rack, each one cell, in bands of those who have its GPUs."""
    sheet, scale = Sheet(), view.scale
    across, step = round_columns(len(rack.hosts)), scale.cell + scale.gap
    middle: dict[int, list[Spot]] = {}
    for index, host in enumerate(rack.hosts):
        x, y = index % across * step, index // across * step
        for number in on(host):
            middle.setdefault(number, []).append((x + scale.cell / 2, y + scale.cell / 2))
        if host.numa:
            cell(view, pool, host, sheet, x, y)
        else:
            shares(view, host, sheet, y, scale.cell, quota=pool.quota, x=x)
    sheet.words.extend(letters(host_names(view, pool, rack, middle)))
    return Box(across * step - scale.gap, math.ceil(len(rack.hosts) / across) * step - scale.gap, list(sheet.parts()))


def cell(view: Map, pool: Pool, host: Host, sheet: Sheet, x: float, y: float) -> None:
    """Draw a host as one cell."""
    runs: list[tuple[int | None, int]] = []
    every = [number for numa in host.numa for number in numa]
    for number in sorted(every, key=lambda one: (one is None, one or 0)):
        runs = [*runs[:-1], (number, runs[-1][1] + 1)] if runs and runs[-1][0] == number else [*runs, (number, 1)]
    side, left = view.scale.cell, x
    for number, count in runs:
        class_, line = view.fill(number, quota=pool.quota)
        if len(runs) == 1:
            sheet.square(class_, x, y, side, outline=line)
        else:
            width = side * count / len(every)
            sheet.others += [rect(left, y, width, side, item) for item in (class_, line) if item]
        left += side * count / len(every)


def labels(view: Map, pool: Pool, rack: Rack, box: Box, across: int, gap: float) -> Iterator[str]:
    """Yield the letters of the jobs that are named in a rack."""
    if view.scale.named:
        return
    middle: dict[int, list[Spot]] = {}
    for index, host in enumerate(rack.hosts):
        x, y = index % across * (box.width + gap), index // across * (box.height + gap)
        for number in on(host):
            middle.setdefault(number, []).append((x + box.width / 2, y + box.height / 2))
    yield from letters(host_names(view, pool, rack, middle))


def host_names(view: Map, pool: Pool, rack: Rack, places: Mapping[int, list[Spot]]) -> dict[str, list[Spot]]:
    """Return the letters of the jobs that are named in a rack, each of which is so in one, with where its hosts are."""
    found: dict[str, list[Spot]] = {}
    for number, mine in places.items():
        job, (home, there) = view.job(number), view.homes[number]
        large = len(mine) >= LEAST or job.hosts >= LEAST or job.touched
        if job.tag and home == pool.name and there is rack and large:
            found[job.tag] = mine
    return found
