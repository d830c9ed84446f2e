"""`generated/` as it was at the base: its files by content, and the ledger of every job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from trainyard.base.findings import Finding
from trainyard.base.memory import NOTHING_KNOWN, Memory
from trainyard.base.system import files
from trainyard.base.system.git import Git, blob_id
from trainyard.base.system.repository import GENERATED, SETTINGS
from trainyard.render.tree import index, layout, ledger
from trainyard.render.tree.commit import Base
from trainyard.render.tree.index import Entry
from trainyard.render.tree.ledgers import NOTHING, JobKey, read_ledgers
from trainyard.render.tree.rules import LEDGER, place
from trainyard.render.tree.settings import settings


@dataclass(frozen=True)
class Snapshot:
    """What existed before the change; paths are relative to `generated/`, contents are Git's object ids."""

    files: Mapping[str, str] = field(default_factory=dict)
    ledgers: Mapping[JobKey, tuple[ledger.Entry, ...]] = field(default_factory=dict)
    live: bool = False
    """Whether clusters synced it."""
    read: Callable[[Sequence[str]], Iterator[bytes]] = lambda _: iter(())
    """Contents by object ids, in order."""
    algorithm: str = "sha1"
    """Git's object format."""
    commit: str | None = None
    """The commit; None where there is none before the change, or no Git."""
    compared: str = ""
    """The commit and the branch that led to it, in words."""
    proven: bool = True
    """False where the tree at hand stands for its own past, because there is no Git."""
    findings: tuple[Finding, ...] = ()

    @cached_property
    def active(self) -> Mapping[JobKey, ledger.Entry]:
        """The run that each job has, of those that have one."""
        return {key: entry for key, past in self.ledgers.items() for entry in past if entry.state == "active"}

    @cached_property
    def by_folder(self) -> Mapping[str, Mapping[str, str]]:
        """The files of every folder, by the folder and then by their name."""
        found: dict[str, dict[str, str]] = {}
        for path, oid in self.files.items():
            folder, _, name = path.rpartition("/")
            found.setdefault(folder, {})[name] = oid
        return found

    @cached_property
    def by_cluster(self) -> Mapping[str, Mapping[str, str]]:
        """The files of every cluster, by the cluster and then by their path."""
        found: dict[str, dict[str, str]] = {}
        for path, oid in self.files.items():
            cluster, slash, _ = path.partition("/")
            if slash:
                found.setdefault(cluster, {})[path] = oid
        return found

    @cached_property
    def indexes(self) -> Mapping[str, list[str]]:
        """The paths of all indexes but those of single runs, by cluster."""
        found: dict[str, list[str]] = {}
        for path in self.files:
            cluster = path.partition("/")[0]
            if layout.is_shared_index(path, cluster):
                found.setdefault(cluster, []).append(path)
        return found

    def of_cluster(self, name: str) -> Mapping[str, str]:
        """Return the files of one cluster."""
        return self.by_cluster.get(name, {})

    def folder(self, path: str) -> Mapping[str, str]:
        """Return the files of one folder, by their name."""
        return self.by_folder.get(path, {})

    def id_of(self, text: str) -> str:
        """Return the id that a content has here."""
        return blob_id(text.encode(), self.algorithm)

    def contents(self, paths: Sequence[str]) -> Iterator[bytes]:
        """Return the contents of files that are there, in order."""
        return self.read([self.files[path] for path in paths])

    def text(self, path: str) -> bytes | None:
        """Return one file's content, or None where it was not there."""
        oid = self.files.get(path)
        return None if oid is None else next(self.read([oid]))

    def index(self, cluster: str, folder: str) -> Mapping[str, index.Entry]:
        """Return the index of one folder; empty where there was none."""
        data = self.text(f"{cluster}/{layout.index_file(folder)}")
        return (index.load(data, folder) if data else None) or {}

    def indexes_of(self, folders: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], Mapping[str, Entry]]:
        """Return the indexes of folders, given with their clusters, read at once; empty ones where there are none."""
        paths = {folder: f"{folder[0]}/{layout.index_file(folder[1])}" for folder in folders}
        there = [one_place for one_place, path in paths.items() if path in self.files]
        texts = self.contents([paths[one_place] for one_place in there])
        found = {one_place: index.load(data, one_place[1]) or {} for one_place, data in zip(there, texts, strict=True)}
        return {path: found.get(path, {}) for path in paths}


def from_git(git: Git, base: Base, memory: Memory = NOTHING_KNOWN) -> Snapshot:
    """Read the snapshot of a base; of none there is nothing before the change."""
    commit, compared = base.commit, str(base)
    if commit is None:
        return Snapshot(algorithm=git.algorithm, compared=compared)
    tree, repository = git.object_ids(commit, GENERATED, SETTINGS)
    found = listing(git, tree, memory) if tree else {}
    live = settings(next(git.read([repository])))[0] if repository else bool(found)
    ledgers, broken = read_ledgers(found, git.read, memory)
    return Snapshot(found, ledgers, live, git.read, git.algorithm, commit, compared, findings=unreadable(broken))


def listing(git: Git, tree: str, memory: Memory = NOTHING_KNOWN) -> dict[str, str]:
    """Return every plain file of a folder, given by its object id; what such an id names never changes."""
    return memory.remember(lambda: git.listing(tree), "listing", tree)


def from_disk(folder: Path, disk: Mapping[str, str | None], base: Snapshot | None = None) -> Snapshot:
    """Read the snapshot that the tree at hand is of itself: without Git its ledgers decide what is frozen.

    Ledgers that are as at the `base` are not read.
    """
    found = {path: oid for path, oid in disk.items() if oid is not None}
    snapshot = from_contents(found, lambda paths: (files.read(folder / path) or b"" for path in paths), base=base)
    return replace(snapshot, proven=False)


def from_contents(
    found: Mapping[str, str],
    contents: Callable[[Sequence[str]], Iterator[bytes]],
    algorithm: str = "sha1",
    *,
    base: Snapshot | None = None,
) -> Snapshot:
    """Return the snapshot of a tree that need not be on disk: content ids by path, and what gives contents by path.

    Ledgers that are as at the `base` are not read.
    """
    bare = files_alone(found, contents, algorithm)
    known = (base.files, base.ledgers) if base is not None else NOTHING
    ledgers, broken = read_ledgers(found, bare.read, known=known)
    return replace(bare, ledgers=ledgers, findings=unreadable(broken))


def files_alone(
    found: Mapping[str, str], contents: Callable[[Sequence[str]], Iterator[bytes]], algorithm: str = "sha1"
) -> Snapshot:
    """Return the same snapshot without its ledgers, which are files as all others to whoever judges objects."""
    places = {oid: path for path, oid in found.items()}
    return Snapshot(found, read=lambda oids: contents([places[oid] for oid in oids]), algorithm=algorithm)


def unreadable(paths: Sequence[str]) -> tuple[Finding, ...]:
    """Return a finding for each ledger that cannot be read."""
    message = "this ledger cannot be read at the base; compare with a commit before the damage: --base REF"
    return tuple(LEDGER.of(place(path), message) for path in paths)
