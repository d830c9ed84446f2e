"""A change, read once: both trees, the specs on both sides, and what a synth makes of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from trainyard.base.errors import SpecError, ToolError
from trainyard.base.findings import Finding
from trainyard.base.memory import Memory
from trainyard.base.system import cache, files
from trainyard.base.system import git as system_git
from trainyard.base.system.repository import CLUSTERS, GENERATED, JOBS, SETTINGS, TEAMS, is_repository
from trainyard.change.plan.read.behind import behind, unreadable, unsynthesised
from trainyard.change.plan.read.refused import Verdict
from trainyard.change.plan.read.spec_files import SpecFiles
from trainyard.change.plan.read.two_sides import Sides
from trainyard.render.tree.commit import ASK, base_of
from trainyard.render.tree.disk import CACHE, Disk
from trainyard.render.tree.settings import settings
from trainyard.render.tree.snapshot import Snapshot, from_disk, from_git
from trainyard.specs.load import read_repository
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.run import written_fields
from trainyard.specs.sources import Specs


@dataclass(frozen=True)
class Change:
    """A change of a repository; nothing of it need be committed."""

    root: Path
    live: bool
    """What the settings at hand say."""
    sides: Sides
    """The tree at the base, and the one that a merge would bring."""
    there: Snapshot
    """The tree on disk."""
    disk: Disk
    verdict: Verdict
    specs: Mapping[str, tuple[Any, Any]]
    """Files of clusters, teams and the repository that changed, with their values before and after."""
    notes: tuple[Finding, ...]
    """Where the tree on disk is behind the specs."""
    memory: Memory

    @property
    def base(self) -> Snapshot:
        """The tree at the base."""
        return self.sides.base

    @property
    def now(self) -> Snapshot:
        """The tree that a merge would bring."""
        return self.sides.now

    @property
    def edited_jobs(self) -> Collection[str]:
        """The job files that changed."""
        return self.sides.changed

    @cached_property
    def read_clusters(self) -> Mapping[str, Cluster]:
        """The clusters that the synth has read; none where there was no synth."""
        return self.verdict.specs.clusters if self.verdict.specs else {}

    @cached_property
    def clusters(self) -> Mapping[str, Cluster]:
        """The clusters as their files say them, as far as those are right; none where none of them changed."""
        if self.verdict.specs is not None:
            return self.read_clusters
        if not any(file.startswith(f"{CLUSTERS}/") for file in self.specs) or not is_repository(self.root):
            return {}
        skipped = frozenset(f"{JOBS}/{path}" for path in self.disk.scan(JOBS))
        return read_repository(self.root, skip=skipped).specs.clusters

    @cached_property
    def cluster_names(self) -> tuple[str, ...]:
        """The names of all clusters, sorted."""
        return tuple(sorted(PurePosixPath(path).stem for path in self.disk.scan(CLUSTERS) if path.endswith(".yaml")))

    def redeclared(self) -> set[str]:
        """Return the clusters whose files say something else than before, by the values of the files that changed."""
        files_changed = (file for file, (before, after) in self.specs.items() if before != after)
        return {PurePosixPath(file).stem for file in files_changed if file.startswith(f"{CLUSTERS}/")}


def read_change(root: Path, verdict: Verdict | None, *, ref: str | None, automated: bool) -> Change:
    """Read the change at hand, compared with the base.

    `verdict` is what a synth makes of it; without one the tree on disk is what a merge brings. `automated` says that
    nobody watches: then a live repository has to be given a base, as in a synth.
    Raises ToolError without Git, which alone knows the base, and SpecError where the folder is no repository.
    """
    data = files.read(root / SETTINGS)
    if data is None and not is_repository(root):
        raise SpecError(f"folder {str(root)!r} has no {SETTINGS}; go to a repository")
    git = system_git.find(root)
    if git is None:
        raise ToolError(f"a plan compares two commits, but {system_git.absent()}")
    live, revision = settings(data or b"")
    if automated and live and ref is None:
        raise ToolError(ASK)
    store = cache.private(CACHE, outside=root)
    verdict = verdict or Verdict((), told="disk")
    memory = Memory(store, verdict.world)
    base = verdict.base or from_git(git, base_of(git, ref, revision=revision), memory)
    disk = verdict.disk or Disk(root, store, git.algorithm)
    there = from_disk(root / GENERATED, disk.scan(GENERATED), base)
    now = there if verdict.tree is None else verdict.tree
    spec = SpecFiles(root, git, base.commit, disk)
    jobs = spec.changed(JOBS)
    if verdict.tree is None:
        notes = (*unreadable(now), *behind(root, jobs, disk, there))
    else:
        notes = tuple(unsynthesised(jobs, verdict.tree, there))
    disk.save()
    sides = Sides(base, now, spec, jobs, Programs(root, disk, verdict.specs))
    return Change(root, live, sides, there, disk, verdict, changed_specs(spec, sides), notes, memory)


def changed_specs(spec: SpecFiles, sides: Sides) -> dict[str, tuple[Any, Any]]:
    """Return the files of clusters, of teams and of the repository that changed, as they were and as they are."""
    names = [name for top in (CLUSTERS, TEAMS) for name in spec.changed(top) if name.endswith(".yaml")]
    spec.fetch([*names, SETTINGS, *sides.changed])
    values = sides.values(SETTINGS)
    found = {name: sides.values(name) for name in names}
    return found | ({SETTINGS: values} if values[0] != values[1] else {})


class Programs:
    """The jobs that programs make, as they are written: a program runs once, and only where one of its jobs begins."""

    def __init__(self, root: Path, disk: Disk, specs: Specs | None) -> None:
        self._root, self._disk = root, disk
        self._known = {(job.team, job.name): job for job in specs.jobs} if specs else {}
        self._read: set[str] = set()

    def job(self, team: str, name: str, file: str) -> Any:
        """Return the fields of a job, None where its program does not make it."""
        if (team, name) not in self._known and file not in self._read:
            self._read.add(file)
            there = {f"{JOBS}/{path}" for path in self._disk.scan(JOBS)}
            loaded = read_repository(self._root, skip=frozenset(there - {file}))
            self._known.update({(job.team, job.name): job for job in loaded.specs.jobs})
        found = self._known.get((team, name))
        return written_fields(found.job) if found else None
