"""Renders clusters and runs, on all cores where there is much to do."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

from trainyard.base.system import progress, reads
from trainyard.base.system.pool import split_off
from trainyard.base.system.reads import Seen
from trainyard.base.system.repository import cluster_file
from trainyard.change.synth.render.plain_runs import run_folder
from trainyard.change.synth.render.text import Rendered
from trainyard.render.kinds import Resolved
from trainyard.specs.sources import Specs

CLUSTER = 100
"""A cluster's folders take about as long as this many runs."""

SMALL = 300
"""So many runs are rendered sooner than another process with Node is ready."""

LARGE = 1000
"""Node keeps every construct that it ever made; after so many runs another process goes on."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one process renders."""

    clusters: tuple[str, ...] = ()
    runs: tuple[Resolved, ...] = ()

    @property
    def weight(self) -> int:
        """How long it takes, in runs."""
        return CLUSTER * len(self.clusters) + len(self.runs)


@dataclass(frozen=True, slots=True)
class Rendering:
    """What there is to render from; a cluster is rendered from its own file, the teams and the repository alone."""

    specs: Specs
    root: Path
    """Where programs of one's own are."""
    policies: Sequence[Mapping[str, Any]] = ()
    looking: bool = False
    """Whether nobody writes what is rendered, so that runs need no Node."""

    def render(self, clusters: Sequence[str], runs: Sequence[Resolved]) -> list[Rendered]:
        """Return every folder of the clusters, runs' own apart, and of the runs."""
        found: list[Rendered] = []
        asked = {f"runs/{run.run.team_name}/{run.run.name}" for run in runs}
        begun: set[str] = set()
        ready = 0
        for folder in self.folders(clusters, runs):
            found.append(folder)
            if folder.folder in asked:
                ready += 1
            else:
                begun.add(folder.cluster)
            progress.tell("rendering", ready + len(begun), len(runs) + len(clusters), "runs and clusters")
        return found

    def folders(self, clusters: Sequence[str], runs: Sequence[Resolved]) -> Iterator[Rendered]:
        """Yield the same one by one."""
        whole = Part(tuple(clusters), tuple(runs))
        if not whole.weight:
            return
        workers = os.cpu_count() or 1
        if whole.weight <= SMALL or workers == 1 or not can_fork():
            yield from self.part(whole)
            return
        rounds = ceil(whole.weight / workers / LARGE)
        parts = split(whole, ceil(whole.weight / workers / rounds))
        gc.freeze()  # a collection in a process that was split off would copy all memory that they share
        try:
            with split_off(_begin, self, parts, reads.digests(), tasks=1) as pool:
                for found, seen in pool.imap(_render, range(len(parts)), chunksize=1):
                    reads.join(seen)
                    yield from found
        finally:
            gc.unfreeze()

    def part(self, part: Part) -> Iterator[Rendered]:
        """Yield the folders of one part, in this process."""
        for name in part.clusters:
            with reads.about(cluster_file(name)):
                specs = replace(self.specs, jobs=())
                rendered = list(_load().cluster_folders(specs, name, self.policies, self.root))
            yield from rendered
        made = iter(()) if self.looking or not part.runs else _load().run_folders(part.runs)
        for run in part.runs:
            with reads.about(run.run.source.file):
                folder = self.looked_at(run) if self.looking else next(made)
            yield folder

    def looked_at(self, run: Resolved) -> Rendered:
        """Return the folder of a run that nobody writes."""
        folder: Rendered = run_folder(run) or next(_load().run_folders([run]))
        return folder


def split(whole: Part, weight: int) -> list[Part]:
    """Return parts of about that weight."""
    parts: list[Part] = []
    clusters: list[str] = []
    runs: list[Resolved] = []
    for name in whole.clusters:
        clusters.append(name)
        if CLUSTER * len(clusters) >= weight:
            parts.append(Part(tuple(clusters)))
            clusters = []
    for run in whole.runs:
        runs.append(run)
        if CLUSTER * len(clusters) + len(runs) >= weight:
            parts.append(Part(tuple(clusters), tuple(runs)))
            clusters, runs = [], []
    return [*parts, Part(tuple(clusters), tuple(runs))] if clusters or runs else parts


def make_ready(weight: int) -> None:
    """Start Node beside what else there is to do, where this process will render that much; it takes half a second."""
    if 0 < weight <= SMALL:
        threading.Thread(target=_try).start()


_starting = threading.Lock()
"""Held by whoever starts Node: a second import beside one that fails sees half a module and hides what is wrong."""


def _try() -> None:
    with suppress(Exception):  # what is wrong is said where the module is needed
        _load()


def _load() -> Any:
    """Return the module that renders; raises ToolError where Node does not start."""
    with _starting:
        return importlib.import_module("trainyard.change.synth.render.folders")


def can_fork() -> bool:
    """Say whether processes can be split off with all that they know, which they cannot once Node has been started."""
    return sys.platform == "linux" and "jsii" not in sys.modules


_shared: tuple[Rendering, list[Part], reads.Digests | None] | None = None


def _begin(rendering: Rendering, parts: list[Part], digests: reads.Digests | None) -> None:
    global _shared  # noqa: PLW0603 - how a forked process gets what cannot be sent to it cheaply
    _shared = rendering, parts, digests
    gc.enable()


def _render(number: int) -> tuple[list[Rendered], Seen | None]:
    assert _shared is not None
    rendering, parts, digests = _shared
    if digests is None:
        return list(rendering.part(parts[number])), None
    with reads.recording(digests) as record:
        found = list(rendering.part(parts[number]))
    return found, (record.common, record.by_subject)
