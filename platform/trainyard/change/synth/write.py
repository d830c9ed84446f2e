"""`generated/` on disk: compare it with what it should be, write it, and prune what no spec owns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from functools import cached_property
from pathlib import Path
from typing import Any

from trainyard.base.errors import SpecError
from trainyard.base.system import files
from trainyard.base.system.repository import GENERATED
from trainyard.render.tree import index, layout, ledger
from trainyard.render.tree.snapshot import Snapshot, from_contents


@dataclass(frozen=True)
class Tree:
    """What `generated/` should hold, by path: text that was rendered, and what stays as it is."""

    texts: Mapping[str, str]
    kept: Mapping[str, str] = field(default_factory=dict)
    """Content ids of what is as at the base."""
    known: Mapping[str, str] = field(default_factory=dict)
    """Content ids of what is on disk already as it would be rendered."""
    base: Snapshot = field(default_factory=Snapshot)
    folder: Path = Path()
    """Where that disk is."""

    @cached_property
    def ids(self) -> Mapping[str, str]:
        """The id of every file's content."""
        return {**self.known, **self.kept, **{path: self.base.id_of(text) for path, text in self.texts.items()}}

    @cached_property
    def snapshot(self) -> Snapshot:
        """The tree as it will be, whatever is on disk."""
        return from_contents(self.ids, self.contents, self.base.algorithm, base=self.base)

    def contents(self, paths: Sequence[str]) -> Iterator[bytes]:
        """Yield the content of files, in order."""
        kept = iter(self.base.read([self.kept[path] for path in paths if path in self.kept and path not in self.texts]))
        for path in paths:
            if path in self.texts:
                yield self.texts[path].encode()
            else:
                yield next(kept) if path in self.kept else files.read(self.folder / path) or b""


@dataclass(frozen=True, slots=True)
class Changes:
    """What has to happen on disk; paths are sorted and relative to `generated/`."""

    write: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    """Files that a synth before this one made, and that no spec owns any more."""
    foreign: tuple[str, ...] = ()
    """Files that nobody here made: they stay."""
    overwrite: tuple[str, ...] = ()
    """Files to be written in the place of one that nobody here made."""
    leftover: tuple[str, ...] = ()
    """Halves of files that a killed process left."""
    blocking: tuple[str, ...] = ()
    """Links and files in the place of a folder that is needed; of the tree itself it is the empty path."""

    def __bool__(self) -> bool:
        return bool(self.write or self.remove or self.leftover)


def compare(tree: Tree, disk: Mapping[str, str | None], folder: Path) -> Changes:
    """Return the changes that make the files on disk equal to the tree.

    `disk` has the content id of every file below `folder`, None for what is no plain file.
    """
    wanted = tree.ids
    write = [path for path, oid in wanted.items() if disk.get(path) != oid]
    leftover = [path for path in disk if files.is_temporary(path)]
    strays = [path for path in disk if path not in wanted and not files.is_temporary(path)]
    ours = Ownership(folder, tree.base)
    parents = folders_of(wanted)
    blocking = [path for path in strays if path in parents]
    blocking += [path for path in write if path in disk and disk[path] is None]
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        blocking.append("")
    owned = [path for path in strays if disk[path] is not None and ours.has(path)]
    replaced = [path for path in write if disk.get(path) is not None and not ours.has(path)]
    foreign = set(strays).difference(owned, blocking)
    groups = (write, owned, foreign, replaced, leftover, blocking)
    return Changes(*(tuple(sorted(group)) for group in groups))


def folders_of(paths: Iterable[str]) -> set[str]:
    """Return every folder that a path is in."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


PAGE = b"# Prerequisites of "
"""Beginning of a cluster's list of prerequisites."""


class Ownership:
    """Knows which files a synth made: those that an index on disk or at the base lists, indexes and ledgers."""

    def __init__(self, folder: Path, base: Snapshot) -> None:
        self.folder = folder
        self.base = base
        self.listed: dict[tuple[str, str], set[str]] = {}
        self.before: dict[tuple[str, str], set[str]] = {}

    def has(self, path: str) -> bool:
        """Say whether a synth made this file."""
        cluster, _, rest = path.partition("/")
        if rest.startswith(layout.INDEX) and rest.endswith(".json"):
            listed = index.load(files.read(self.folder / path) or b"", layout.index_folder(rest))
            return path in self.base.files or listed is not None
        if layout.job_of_ledger(path) is not None:
            return path in self.base.files or ledger.load(files.read(self.folder / path) or b"") is not None
        if rest == layout.PREREQUISITES:
            return path in self.base.files or (files.read(self.folder / path) or b"").startswith(PAGE)
        within, _, name = rest.rpartition("/")
        return bool(within) and (name in self.on_disk(cluster, within) or name in self.at_base(cluster, within))

    def on_disk(self, cluster: str, within: str) -> set[str]:
        """Return the names of the files that a folder's index on disk lists."""
        if (cluster, within) not in self.listed:
            data = files.read(self.folder / cluster / layout.index_file(within))
            self.listed[cluster, within] = set((index.load(data, within) if data else None) or ())
        return self.listed[cluster, within]

    def at_base(self, cluster: str, within: str) -> set[str]:
        """Return the names of the files that a folder's index at the base lists."""
        if (cluster, within) not in self.before:
            self.before[cluster, within] = set(self.base.index(cluster, within))
        return self.before[cluster, within]


def write(tree: Tree, changes: Changes, folder: Path) -> Iterator[str]:
    """Make the changes, one a step, yielding the path of each that is done.

    Whoever stops in between leaves only whole files, every one of them listed in an index, so that the next synth
    knows its own: what is no longer owned goes first, then come the indexes, then the objects; the ledgers, which
    say that a run exists, are last. Raises SpecError where a link or a file stands in the way of a folder.
    """
    if changes.blocking:
        path = f"{GENERATED}/{changes.blocking[0]}".rstrip("/")
        raise SpecError(f"{path} blocks a file or folder that synth writes; remove it")
    removed = {step: [path for path in changes.remove if stage(path) == step] for step in STAGES}
    written = {step: [path for path in changes.write if stage(path) == step] for step in STAGES}
    for path in changes.leftover:
        files.sweep(folder / path, top=folder)
        yield path
    yield from prune(removed["object"], folder)
    yield from put(tree, written["index"], folder)
    yield from put(tree, written["object"], folder)
    yield from prune(removed["index"], folder)
    yield from prune(removed["ledger"], folder)
    yield from put(tree, written["ledger"], folder)


STAGES = ("object", "index", "ledger")


def stage(path: str) -> str:
    """Return which of the three sorts of files a path is."""
    rest = path.partition("/")[2]
    return "ledger" if rest.startswith(layout.LEDGER) else "index" if rest.startswith(layout.INDEX) else "object"


def put(tree: Tree, paths: Sequence[str], folder: Path) -> Iterator[str]:
    """Write files of the tree."""
    for path, content in zip(paths, tree.contents(paths), strict=True):
        files.write(folder / path, content)
        yield path


def prune(paths: Iterable[str], folder: Path) -> Iterator[str]:
    """Remove files, and folders that this leaves empty."""
    for path in paths:
        files.remove(folder / path, top=folder)
        yield path


def diff(tree: Tree, changes: Changes, folder: Path) -> Iterator[str]:
    """Yield the lines of a unified diff from the disk to the tree."""
    for path, content in zip(changes.write, tree.contents(changes.write), strict=True):
        yield from _diff(path, files.read(folder / path), content)
    for path in changes.remove:
        yield from _diff(path, files.read(folder / path), None)


def _diff(path: str, before: bytes | None, after: bytes | None) -> Iterator[str]:
    old, new = _lines(before), _lines(after)
    start = "/dev/null" if before is None else f"a/{GENERATED}/{path}"
    end = "/dev/null" if after is None else f"b/{GENERATED}/{path}"
    lines: Any = unified_diff(old, new, start, end, lineterm="")
    yield from lines


def _lines(data: bytes | None) -> list[str]:
    return [] if data is None else data.decode("utf-8", "backslashreplace").split("\n")
