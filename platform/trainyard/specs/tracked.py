"""Specs that were read, as maps and lists that write down which of them somebody looks at, and whether he looks at all.

A check gets values in place of files: what it takes out of these is what it read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from trainyard.base.system import reads

T = TypeVar("T")


class InCluster(Protocol):
    """What the repository adds to a cluster."""

    @property
    def cluster(self) -> str:
        """The cluster's name."""


A = TypeVar("A", bound=InCluster)


@dataclass(frozen=True, eq=False)
class Folder:
    """A folder of specs: the names of all that is below it, and what was read of its files."""

    path: Path
    names: tuple[str, ...] = ()
    contents: Mapping[str, bytes | None] = field(default_factory=dict)
    below: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Files that say a part of a file: those of a cluster's bases."""
    beside: tuple[tuple[reads.Read, str], ...] = ()
    """What else was read for every file of the folder, with its digest: what teams say of namespaces."""
    _known: dict[str, tuple[reads.Digests, str, str]] = field(default_factory=dict)
    """Paths and digests of files that were looked at: in a fleet a cluster's file is looked at by each team's check."""

    def note(self, name: str, sort: str = reads.FILE) -> None:
        """Write down that a file was looked at, or looked for; the files below it are looked at with it."""
        digests = reads.digests()
        if digests is None:
            return
        for other in (name, *self.below.get(name, ())):
            known = self._known.get(other)
            if known is None or known[0] is not digests:
                content = self.contents.get(other)
                digest = reads.ABSENT if content is None else digests.name_content(content)
                self._known[other] = known = digests, reads.absolute(self.path / other), digest
            reads.note(sort if other == name else reads.FILE, *known[1:])
        for (what, of), digest in self.beside if sort == reads.FILE else ():
            reads.note(what, of, digest)

    def note_others(self, name: str) -> None:
        """Write down which files there are where one is missing: another may be it under a wrong name."""
        if name not in self.contents:
            self.note_names()

    def note_names(self, within: str = "") -> None:
        """Write down that somebody looked which files there are, below one folder of this if that is given."""
        inside = [name.removeprefix(within) for name in self.names if name.startswith(within)]
        reads.note_names(self.path / within, inside)

    def note_all(self, within: str = "") -> None:
        """Write down that all files were looked at."""
        if reads.is_recorded():
            self.note_names(within)
            for name in self.contents:
                if name.startswith(within):
                    self.note(name)


Place = Callable[[str], tuple[Folder, str]]
"""Where the file is that has a name, or would have it."""


class Tracked(Mapping[str, T], Generic[T]):
    """Specs by name; whoever looks at all of them looks at files too that could not be read as one."""

    def __init__(self, values: Mapping[str, T], place: Place, folders: Iterable[Folder]) -> None:
        """`place` is asked for the files of names; in `folders` are those of all."""
        self._values, self._place, self._folders = values, place, tuple(folders)

    def __getitem__(self, name: str) -> T:
        """Return a spec, and write down that somebody looked at its file."""
        self.look(name)
        return self._values[name]

    def look(self, name: str) -> None:
        """Write down that somebody looked at a spec's file."""
        if reads.is_recorded():
            folder, file = self._place(name)
            folder.note(file)
            folder.note_others(file)

    def __contains__(self, name: object) -> bool:
        """Say whether there is a spec, and write down that somebody looked for its file."""
        is_there = name in self._values
        if reads.is_recorded() and isinstance(name, str):
            folder, file = self._place(name)
            if is_there:
                folder.note(file, reads.THERE)
            else:
                folder.note(file)
                folder.note_others(file)
        return is_there

    def __iter__(self) -> Iterator[str]:
        """Yield the names, and write down that somebody looked which there are."""
        self._note_names()
        return iter(self._values)

    def __len__(self) -> int:
        """Return how many there are, and write down that somebody looked which."""
        self._note_names()
        return len(self._values)

    def instead(self, name: str, spec: T) -> Tracked[T]:
        """Return the same with another spec of a name; whoever looks at that is taken to look at the file at hand."""
        return Tracked({**self._values, name: spec}, self._place, self._folders)

    def _note_names(self) -> None:
        if not reads.is_recorded():
            return
        there = {self._place(name) for name in self._values}
        for folder in self._folders:
            folder.note_names()
            for file in folder.contents:
                if (folder, file) not in there:
                    folder.note(file)  # once it can be read as a spec, it is one of them


class Added(tuple[A, ...]):
    """What the repository adds to clusters."""

    folder: Folder

    @classmethod
    def of(cls, items: Iterable[A], folder: Folder) -> Added[A]:
        """Return the items that were read from a folder."""
        made = cls(items)
        made.folder = folder
        return made

    def __iter__(self) -> Iterator[A]:
        """Yield everything, and write down that somebody looked at all of it."""
        self.folder.note_all()
        return super().__iter__()

    def on(self, cluster: str) -> list[A]:
        """Return the items added to one cluster, and write down that somebody looked at that."""
        self.folder.note_all(f"{cluster}/")
        return [item for item in super().__iter__() if item.cluster == cluster]


def on(items: Iterable[A], cluster: str) -> list[A]:
    """Return the items that a repository adds to one cluster, as read or as made by a program that imports us."""
    return items.on(cluster) if isinstance(items, Added) else [item for item in items if item.cluster == cluster]


def look(specs: Mapping[str, T], name: str) -> None:
    """Write down that somebody looked at one of several specs, where they were read from files."""
    if isinstance(specs, Tracked):
        specs.look(name)


def instead(specs: Mapping[str, T], name: str, spec: T) -> Mapping[str, T]:
    """Return specs in which one is another, as a change finds it on its other side."""
    return specs.instead(name, spec) if isinstance(specs, Tracked) else {**specs, name: spec}
