"""The pictures of a cluster: its hosts with the jobs on them, and its quota."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trainyard.faces.pictures import bars, hosts, legend
from trainyard.faces.pictures.boxes import Box, stacked
from trainyard.faces.pictures.decided import Decided
from trainyard.faces.pictures.look import style
from trainyard.faces.pictures.quotas import Branch, quotas
from trainyard.faces.pictures.scene import Scene
from trainyard.faces.pictures.scenes import scene
from trainyard.faces.pictures.svg import document, fitting, rect, text, wide

MARGIN = 20.0


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture, and what it is called."""

    cluster: str
    name: str
    """What is drawn: `hosts` or `quota`."""
    title: str
    """What matters of it, in one line."""
    svg: str

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.cluster}.{self.name}.svg"


def pictures(cluster: str, before: Decided | None, now: Decided, *, compared: bool) -> Iterator[Picture]:
    """Yield the pictures of a cluster; `compared` says that the state before is known, if only an empty one."""
    seen = scene(cluster, before, now, compared=compared)
    yield Picture(cluster, "hosts", legend.headline(seen), of_hosts(seen))
    if branches := quotas(before, now, compared=compared):
        yield Picture(cluster, "quota", bars.headline(cluster, branches), of_quota(cluster, branches))


def of_hosts(seen: Scene) -> str:
    """Return the picture of a cluster's hosts."""
    said = legend.summary(seen)
    boxes = [heading(legend.headline(seen), said)]
    boxes += [
        legend.changed_jobs(seen),
        hosts.drawn(seen),
        legend.key(seen),
        legend.waiting_jobs(seen),
        legend.others(seen),
    ]
    boxes.append(notes(list(legend.assumptions(seen))))
    return page(boxes, legend.headline(seen), f"{', '.join(said)}. {legend.spoken(seen)}")


def of_quota(cluster: str, branches: tuple[Branch, ...]) -> str:
    """Return the picture of a cluster's quota."""
    boxes = [heading(bars.headline(cluster, branches)), bars.key(branches), bars.draw_branches(branches)]
    boxes.append(notes([item for item in (bars.SCALES, bars.idle(branches)) if item]))
    return page(boxes, bars.headline(cluster, branches), bars.spoken(branches))


def heading(title: str, said: Sequence[str] = ()) -> Box:
    """Return the lines at the top: a title, and what is said below it in as many lines as it takes."""
    lines: list[str] = []
    for item in said:
        longer = f"{lines[-1]}, {item}" if lines else item
        lines = [*lines[:-1], longer] if wide(longer, 14.5) <= hosts.WIDTH or not lines else [*lines, item]
    parts = [
        text(0, 20, fitting(title, hosts.WIDTH, 20), "h1"),
        *(text(0, 42 + 20 * at, line, "big") for at, line in enumerate(lines)),
    ]
    return Box(hosts.WIDTH, 26 + 20 * len(lines), parts)


def notes(lines: list[str]) -> Box:
    """Return the small lines at the bottom."""
    return Box(hosts.WIDTH, 14 * len(lines), [text(0, 11 + 14 * at, line, "s f") for at, line in enumerate(lines)])


def page(boxes: list[Box], title: str, description: str) -> str:
    """Return boxes below each other on a sheet of their own, which covers whatever is behind."""
    body = stacked([box for box in boxes if box.parts], 14)
    width, height = hosts.WIDTH + 2 * MARGIN, body.height + 2 * MARGIN
    parts = [rect(0, 0, width, height, "p", rx=6), body.at(MARGIN, MARGIN)]
    return document(width, height, parts, title=title, description=description, style=style())
