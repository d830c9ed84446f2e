"""Hosts in their racks: with names, GPUs and letters, or as one cell each where there are many."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from trainyard.faces.pictures.boxes import (
    WIDTH,
    Box,
    blank,
    cell,
    column,
    flow,
    framed,
    grid,
    legend,
    lettered,
    paragraph,
    row,
    stacked,
    titled,
)
from trainyard.faces.pictures.look import fill_class
from trainyard.faces.pictures.scene import Host, Job, Pool, Rack, Scene
from trainyard.faces.pictures.words import amount, many, step

LETTERS = 9
"""The least side of a cell with letters on it."""


THIN = 4
"""The side of a cell that a line around it would hide."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How large things are."""

    gpu: float
    """Side of a GPU; 0: a host is one cell."""
    gap: float
    host: float
    """Side of a host that is one cell, or has no GPUs."""


SCALES = ((20, Scale(20, 2, 46)), (64, Scale(14, 2, 34)), (400, Scale(0, 2, 16)), (math.inf, Scale(0, 1, 9)))
"""By the most hosts that are drawn so."""


@dataclass(frozen=True)
class Map:
    """The hosts of a scene at a scale."""

    scene: Scene
    scale: Scale

    def seat(self, number: int | None, size: tuple[float, float], *, quota: bool, rx: float | None = None) -> Box:
        """Return a GPU, or a share of a host: who has it by its colour, and by letters where there is room."""
        if number is None:
            return cell(*size, "e" if quota else "q", rx)
        job = self.scene.jobs[number]
        box = cell(*size, looks(job) if min(size) > THIN else looks(job).split()[0], rx)
        if not self.scale.gpu or min(size) < LETTERS:
            return box
        return lettered(box, job.tag, letters_class(job, "m" if min(size) >= 12 else "i"))

    def whom(self, host: Host) -> str:
        """Return who is on a host, in words."""
        seated = Counter(number for numa in host.numa for number in numa)
        jobs = self.scene.jobs
        said = [
            f"{jobs[number].name} {'gave back' if jobs[number].gone else 'has'} {count}"
            for number, count in seated.items()
            if number is not None
        ]
        said += [f"{jobs[number].name} {share:.0%} of CPUs" for number, share in host.shares if number not in seated]
        free = [f"{seated[None]} free"] if seated[None] else []
        return f"{host.name}: {', '.join([*said, *free]) or 'free'}"


def looks(job: Job) -> str:
    """Return the classes of what a job has: what fills it, and the line around it, which says what is special."""
    if job.gone:
        return "g"
    outline = "d" if job.perhaps else "o" if job.begins else "w" if job.stuck else ""
    return f"{fill_class(job.colour, begun=job.begins)} {outline}"


def letters_class(job: Job, size: str) -> str:
    """Return the class of the letters of a job on what it has."""
    return f"{size} l" if job.gone else f"{size} on" if job.begins else size


def swatch(job: Job) -> Box:
    """Return the letters of a job on its colour, and an empty frame for one that is on no host."""
    box = cell(22, 14, looks(job) if job.tag else "w", 2)
    return lettered(box, job.tag, letters_class(job, "m")) if job.tag else box


def drawn(scene: Scene) -> Box:
    """Return the pools of a scene, as large as there is room for."""
    count = sum(pool.hosts for pool in scene.pools)
    view = Map(scene, next(scale for most, scale in SCALES if count <= most))
    return flow((pool_box(view, pool) for pool in scene.pools), WIDTH, 28, 18)


def pool_box(view: Map, pool: Pool) -> Box:
    """Return a pool: how much of it is in use, and its blocks with their racks."""
    names = [host.name for rack in pool.racks for host in rack.hosts]
    span = "" if view.scale.gpu or len(names) < 2 else f" {names[0]} to {names[-1]}"
    words = " · ".join((many(pool.hosts, "host") + span, usage(view.scene, pool)))
    head = flow([paragraph(pool.name, WIDTH / 3, "h2"), paragraph(words, WIDTH, "f")], WIDTH, 8, 2, align=0.7)
    blocks = [(name, list(racks)) for name, racks in groupby(pool.racks, lambda rack: rack.block)]
    inside = [block_box(view, pool, name if len(blocks) > 1 else "", racks) for name, racks in blocks]
    return column([head, flow(inside, WIDTH, 12)], 6)


def usage(scene: Scene, pool: Pool) -> str:
    """Return how much of a pool is in use, in words."""
    kind = "parts of GPUs" if pool.parts else "GPUs"
    if not pool.quota:
        what = f"{amount(pool.gpus)} {kind}, of which" if pool.gpus else "of which"
        return f"{what} no queue has quota"
    if not pool.gpus:
        return "no GPUs"
    change = step(pool.before if scene.compared else None, pool.after)
    return f"{change} of {amount(pool.gpus)} {kind} in use, {amount(pool.gpus - pool.after)} free"


def block_box(view: Map, pool: Pool, name: str, racks: Sequence[Rack]) -> Box:
    """Return the racks of a block, below its name where there are several."""
    return column([paragraph(name, WIDTH, "s f"), flow((rack_box(view, pool, rack) for rack in racks), WIDTH, 8)], 4)


def rack_box(view: Map, pool: Pool, rack: Rack) -> Box:
    """Return a rack with its hosts, and with the letters of its jobs where hosts have none."""
    boxes = [host_box(view, pool, host) for host in rack.hosts]
    across = min(len(boxes), 4) if view.scale.gpu else max(2, math.ceil(math.sqrt(len(boxes) * 1.2)))
    inside = grid(boxes, across, view.scale.gap * (3 if view.scale.gpu else 1))
    width = max(inside.width, 50)
    jobs = Counter(number for host in rack.hosts for number in on(host))
    named = [] if view.scale.gpu else [swatch(view.scene.jobs[number]) for number, _ in jobs.most_common()]
    return framed(column([paragraph(rack.name, width, "s f"), inside, flow(named, width, 3)], 3), "x", 5, 3)


def on(host: Host) -> list[int]:
    """Return the jobs on a host, and those that have left it."""
    seated = [number for numa in host.numa for number in numa if number is not None]
    return list(dict.fromkeys([*seated, *(number for number, _ in host.shares)]))


def host_box(view: Map, pool: Pool, host: Host) -> Box:
    """Return a host: its GPUs by NUMA node, or else what its jobs have of it, from the left or from below."""
    if not host.numa:
        box = filled(view, pool, host)
    elif view.scale.gpu:
        box = row((numa_box(view, pool, numa) for numa in host.numa), view.scale.gap)
    else:
        box = row(bands(view, pool, host))
    name = [paragraph(host.name, max(box.width, 52), "s f")] if view.scale.gpu else []
    return titled(column([*name, box], 1), view.whom(host))


def numa_box(view: Map, pool: Pool, numa: Sequence[int | None]) -> Box:
    """Return the GPUs of a NUMA node in a frame."""
    size, gap = max(4.0, view.scale.gpu * (0.7 if pool.parts else 1)), view.scale.gap
    across = 4 if len(numa) == 8 else max(1, math.ceil(math.sqrt(len(numa))))
    return framed(
        grid([view.seat(number, (size, size), quota=pool.quota) for number in numa], across, gap), "z", gap, 2
    )


def bands(view: Map, pool: Pool, host: Host) -> Iterator[Box]:
    """Yield the GPUs of a host as bands from its left to its right, those of one job beside each other as one."""
    side, every = view.scale.host, [number for numa in host.numa for number in numa]
    for number, seats in groupby(every):
        yield view.seat(number, (side * len(list(seats)) / len(every), side), quota=pool.quota)


def filled(view: Map, pool: Pool, host: Host) -> Box:
    """Return a host without GPUs as a round cell that its jobs fill from below."""
    side = view.scale.host
    heights = [max(1.0, min(share, 1.0) * side) for _, share in host.shares]
    shares = [
        view.seat(number, (side, height), quota=True, rx=min(2.0, side / 4))
        for (number, _), height in zip(host.shares, heights, strict=True)
    ]
    free = blank(side, max(0.0, side - sum(heights)))
    return stacked(cell(side, side, "c" if pool.quota else "q", side / 3), column([free, *reversed(shares)]))


def key(scene: Scene) -> Box:
    """Return the key of the hosts, of the colours and lines that the picture has."""
    hosts = [host for pool in scene.pools for rack in pool.racks for host in rack.hosts]
    left = {number for host in hosts for numa in host.numa for number in numa if number is not None}
    whole = any(host.numa for host in hosts)
    rows = [
        ("n0 o", "starts with this change", any(job.begins for job in scene.jobs)),
        ("j0", "unchanged", scene.compared and any(job.state == "placed" and not job.touched for job in scene.jobs)),
        ("g", "freed by this change", any(scene.jobs[number].gone for number in left)),
        ("j0 d", "may fit", bool(scene.doubtful)),
        ("j0 w", "has quota, waits for nodes", any(job.stuck for job in scene.jobs)),
        ("e", "free GPU" if whole else "free", True),
        ("z", "frame: NUMA node", len(hosts) <= SCALES[1][0] and any(len(host.numa) > 1 for host in hosts)),
        ("c", "host without GPUs: CPUs in use", any(not host.numa for host in hosts)),
        ("q", "no quota", not all(pool.quota for pool in scene.pools)),
    ]
    return legend((cell(13, 13, class_, 5 if class_ == "c" else 2), words) for class_, words, shown in rows if shown)
