"""The pictures of a cluster: its hosts with the jobs on them, and its quota."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trainyard.faces.pictures import bars, hosts, jobs
from trainyard.faces.pictures.boxes import WIDTH, Box, cell, column, paragraph
from trainyard.faces.pictures.decided import Decided
from trainyard.faces.pictures.look import style
from trainyard.faces.pictures.quotas import Branch, quotas
from trainyard.faces.pictures.scene import Scene
from trainyard.faces.pictures.scenes import scene
from trainyard.faces.pictures.svg import document

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
    yield Picture(cluster, "hosts", jobs.headline(seen), of_hosts(seen))
    if branches := quotas(before, now, compared=compared):
        yield Picture(cluster, "quota", bars.headline(cluster, branches), of_quota(cluster, branches))


def of_hosts(seen: Scene) -> str:
    """Return the picture of a cluster's hosts."""
    said = ", ".join(jobs.summary(seen))
    boxes = [jobs.changed(seen), hosts.drawn(seen), hosts.key(seen), jobs.held_back(seen), jobs.others(seen)]
    description = f"{said}. {jobs.spoken(seen)}"
    return page(boxes, jobs.headline(seen), said, jobs.assumptions(seen), description)


def of_quota(cluster: str, branches: tuple[Branch, ...]) -> str:
    """Return the picture of a cluster's quota."""
    boxes, notes = [bars.key(branches), bars.drawn(branches)], [bars.SCALES, bars.idle(branches)]
    return page(boxes, bars.headline(cluster, branches), "", notes, bars.spoken(branches))


def page(boxes: Iterable[Box], title: str, said: str, notes: Iterable[str], description: str) -> str:
    """Return boxes between a heading and notes, on a sheet of their own, which covers whatever is behind."""
    heading = column([paragraph(title, WIDTH, "h1"), paragraph(said, WIDTH, "big")], 2)
    body = column([heading, *boxes, column(paragraph(note, WIDTH, "s f") for note in notes)], 14)
    width, height = WIDTH + 2 * MARGIN, body.height + 2 * MARGIN
    parts = [*cell(width, height, "p", 6).at(0, 0), *body.at(MARGIN, MARGIN)]
    return document(width, height, parts, title=title, description=description, style=style())
