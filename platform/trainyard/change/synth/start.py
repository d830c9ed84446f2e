"""What a synth begins with: the folder, its Git, what is on disk, and what is known from before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trainyard.base.memory import Memory, World
from trainyard.base.system import cache, files, reads
from trainyard.base.system import git as system_git
from trainyard.base.system.git import Git, blob_id
from trainyard.base.system.repository import CLUSTERS, EXTRA, GENERATED, JOBS, SETTINGS, TEAMS
from trainyard.base.system.trust import SCHEMAS
from trainyard.change.synth.facts import FactStore, load_facts
from trainyard.render.tree.disk import CACHE, Disk


@dataclass(frozen=True, slots=True)
class Start:
    """A repository before its specs are read."""

    git: Git | None
    disk: Disk
    memory: Memory
    world: World
    """What everything that may be read is now."""
    spec_ids: Mapping[str, str]
    """The content id of every spec file."""
    facts: FactStore
    """What earlier synths found out, as far as it holds."""

    @property
    def root(self) -> Path:
        """The repository's folder."""
        return self.disk.root


def begin(root: Path) -> Start:
    """Look at a repository's folder, and begin to look at its tree."""
    git = system_git.find(root)
    store = cache.private(CACHE, outside=root)
    disk = Disk(root, store, git.algorithm if git else "sha1")
    disk.begin(GENERATED)
    world, ids = world_of(disk), spec_ids(disk)
    memory = Memory(store, world)
    return Start(git, disk, memory, world, ids, load_facts(memory, root, ids))


def world_of(disk: Disk) -> World:
    """Return the world that tells whether specs are as they were, of whose files the disk knows the contents."""
    folders = {reads.absolute(disk.root / top): top for top in (JOBS, CLUSTERS, TEAMS, EXTRA)}

    def place(path: str) -> tuple[str, str] | None:
        found = next((folder for folder in folders if f"{path}/".startswith(f"{folder}/")), None)
        return (folders[found], path[len(found) + 1 :]) if found else None

    def known_file(path: str) -> str | None:
        there = place(path)
        return None if there is None else disk.scan(there[0]).get(there[1]) or reads.ABSENT

    def known_names(folder: str) -> str | None:
        there = place(folder)
        if there is None:
            return None
        within = f"{there[1]}/" if there[1] else ""
        names = (found.path for found in disk.walk(there[0]))
        return reads.names_digest([name.removeprefix(within) for name in names if name.startswith(within)])

    def known_folder(folder: Path) -> Mapping[str, str | None] | None:
        return disk.scan(SCHEMAS) if folder == (disk.root / SCHEMAS).resolve() else None

    return World(disk.algorithm, known_file, known_names, known_folder)


def spec_ids(disk: Disk) -> dict[str, str]:
    """Return the content id of every spec file, and of the small files beside jobs."""
    found = {
        f"{top}/{path}": oid
        for top in (JOBS, CLUSTERS, TEAMS, EXTRA)
        for path, oid in disk.scan(top).items()
        if oid is not None
    }
    settings = files.read(disk.root / SETTINGS)
    return found | ({SETTINGS: blob_id(settings)} if settings is not None else {})
