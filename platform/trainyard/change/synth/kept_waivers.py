"""The waivers of job files that need not be opened again, with what came of them when their jobs were checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from trainyard.base.documents import Path as Field
from trainyard.base.findings import Location
from trainyard.base.system import files
from trainyard.judge.preflight import Waivers
from trainyard.judge.preflight.waivers import Waiver
from trainyard.specs.reading import document
from trainyard.specs.sources import Source


class KeptWaiver(NamedTuple):
    """A waiver of a job."""

    rule: str
    job: str
    cluster: str
    line: int
    """Where a program makes the job."""
    used: bool
    """Whether it took a finding off."""
    refused: bool
    """Whether it would have taken off an error."""


@dataclass(frozen=True, slots=True)
class Unopened(Source):
    """A job's file that was not opened: it is read where somebody asks for a place in it."""

    root: Path = Path()

    def location(self, path: Field = (), *, key: bool = False) -> Location:
        """Return where a field stands."""
        source = None if self.job else document.read(self.file, files.read(self.root / self.file) or b"")[0]
        return Source.location(source or self, path, key=key)


def waivers_by_file(waivers: Waivers) -> dict[str, list[KeptWaiver]]:
    """Return the waivers of jobs to keep, by the jobs' files."""
    found: dict[str, list[KeptWaiver]] = {}
    for waiver in waivers.waivers:
        if waiver.job is not None:
            source, came = waiver.source, (waiver.key in waivers.used, waiver.key in waivers.refused)
            kept = KeptWaiver(waiver.rule, waiver.job[1], waiver.cluster or "", source.line, *came)
            found.setdefault(source.file, []).append(kept)
    return found


def join_waivers(waivers: Waivers, root: Path, kept: Mapping[str, Sequence[KeptWaiver]]) -> Waivers:
    """Return waivers together with those that were kept, by their files."""
    found = [(waiver_of(file, one, root), one) for file, several in kept.items() for one in several]
    return Waivers(
        (*waivers.waivers, *(waiver for waiver, _ in found)),
        waivers.root,
        waivers.own,
        {*waivers.used, *(waiver.key for waiver, one in found if one.used)},
        {*waivers.refused, *(waiver.key for waiver, one in found if one.refused)},
        own_reads=waivers.own_reads,
    )


def waiver_of(file: str, kept: KeptWaiver, root: Path) -> Waiver:
    """Return a waiver that was kept."""
    source = Unopened(file, line=kept.line, job=kept.job if file.endswith(".py") else "", root=root)
    return Waiver(kept.rule, source, kept.cluster, (file.split("/")[1], kept.job))
