"""What work reads, written down by the reading itself: its result can be kept for as long as nothing of that changes.

Functions through which reading goes call `note`. Whoever wants to remember a result works inside `recording`, and gets
what was noted: files, names in folders, variables of the environment and answers, each with a digest of what it was.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

T = TypeVar("T")

Read = tuple[str, str]
"""Sort and name: `file` with its path, `there` with that of a file of which only counts that it can be read as what it
should be, `names` with a folder, `environment` with a variable, or one of `ANSWERS`."""

Reads = dict[Read, str]
"""What was read, with the digest of what it was."""

FILE, THERE, NAMES, ENVIRONMENT = "file", "there", "names", "environment"

ABSENT = ""
"""The digest of what is not there."""

UNSTEADY = "?"
"""The digest of what changed while it was read: nothing that was found out with it is good any more."""


class Digests(Protocol):
    """What names what is read."""

    def name_content(self, content: bytes) -> str:
        """Return the digest of a file's content."""

    def digest(self, read: Read) -> str:
        """Return the digest of anything that may be read, as it is now."""

    def contents(self, folder: Path) -> Mapping[str, str | None]:
        """Return the digest of every file below a folder by its path there, None of links and the like."""


Answer = Callable[[str, Digests], str]

ANSWERS: dict[str, Answer] = {}
"""Sorts of reading that look at more than a file, as the folders that policies come from: digests by name."""


@dataclass
class Recording:
    """What was read in one piece of work, of which each of several subjects may have read a part."""

    digests: Digests
    common: Reads = field(default_factory=dict)
    """What was read for no subject, and so counts for all."""
    by_subject: dict[str, Reads] = field(default_factory=dict)

    def reads_of(self, subject: str) -> Reads:
        """Return everything that a subject follows from."""
        return joined(self.common, self.by_subject.get(subject, {}))

    @property
    def everything(self) -> Reads:
        """All that was read."""
        return joined(self.common, *self.by_subject.values())


@dataclass(frozen=True)
class Sink:
    """Where notes go: to a recording, for some subjects or for all."""

    recording: Recording
    subjects: tuple[str, ...] = ()

    @property
    def targets(self) -> Iterator[Reads]:
        """The reads to which a note is added."""
        if not self.subjects:
            yield self.recording.common
        for subject in self.subjects:
            yield self.recording.by_subject.setdefault(subject, {})


_SINK: ContextVar[Sink | None] = ContextVar("sink", default=None)


def is_recorded() -> bool:
    """Say whether somebody wants to know what is read."""
    return _SINK.get() is not None


def digests() -> Digests | None:
    """Return the present digests, for another process that reads for this one; None where nobody wants to know."""
    sink = _SINK.get()
    return None if sink is None else sink.recording.digests


def note(sort: str, name: str, digest: str) -> None:
    """Write down that something was read, and what it was."""
    sink = _SINK.get()
    if sink is not None:
        for target in sink.targets:
            add(target, (sort, name), digest)


def note_file(path: Path, content: bytes | None, sort: str = FILE) -> None:
    """Write down that a file was read; None says that it is not there.

    Where somebody only looked whether it is `THERE`, its content is written down too: with the same one it still is.
    """
    sink = _SINK.get()
    if sink is not None:
        note(sort, absolute(path), ABSENT if content is None else sink.recording.digests.name_content(content))


def note_names(folder: Path, names: Sequence[str]) -> None:
    """Write down that the names of everything below a folder were read."""
    if is_recorded():
        note(NAMES, absolute(folder), names_digest(names))


def absolute(path: Path) -> str:
    """Return a path as reads name it; links are not followed."""
    return os.path.abspath(path)  # noqa: PTH100 - as pathlib it takes ten times as long


def ask(sort: str, name: str) -> None:
    """Write down what one of `ANSWERS` is."""
    sink = _SINK.get()
    if sink is not None:
        note(sort, name, sink.recording.digests.digest((sort, name)))


def replay(reads: Mapping[Read, str]) -> None:
    """Write down again what was read when a value was made that is used now."""
    sink = _SINK.get()
    if sink is not None and reads:
        for target in sink.targets:
            add_all(target, reads)


def add(target: Reads, read: Read, digest: str) -> None:
    """Add a read; one that was another content before makes its result one that holds no more."""
    if target.setdefault(read, digest) != digest:
        target[read] = UNSTEADY


def add_all(target: Reads, reads: Mapping[Read, str]) -> None:
    """Add several reads."""
    for read, digest in reads.items():
        add(target, read, digest)


def joined(*parts: Mapping[Read, str]) -> Reads:
    """Return reads of several pieces of work together."""
    found: Reads = {}
    for part in parts:
        add_all(found, part)
    return found


Seen = tuple[Reads, dict[str, Reads]]
"""What a recording has, of all and of each subject, to be sent from one process to another."""


def join(seen: Seen | None) -> None:
    """Write down what was recorded elsewhere, as by a process that was split off: of each subject for that subject."""
    if seen is not None:
        replay(seen[0])
        for subject, part in seen[1].items():
            with about(subject):
                replay(part)


def heard(work: Callable[[str], T], digests: Digests | None, name: str) -> tuple[T, Seen | None]:
    """Return the result of work in another process, and what it read, for `join`; `digests` are those of this one."""
    if digests is None:
        return work(name), None
    with recording(digests) as record:
        found = work(name)
    return found, (record.common, record.by_subject)


@contextmanager
def recording(digests: Digests) -> Iterator[Recording]:
    """Yield a recording of what is read inside, as it comes; whoever records around it gets all of it too."""
    outer, record = _SINK.get(), Recording(digests)
    token = _SINK.set(Sink(record))
    try:
        yield record
    finally:
        _SINK.reset(token)
        if outer is not None:
            replay(record.everything)


@contextmanager
def resumed(record: Recording) -> Iterator[None]:
    """Add what is read inside to a recording that was begun before."""
    token = _SINK.set(Sink(record))
    try:
        yield
    finally:
        _SINK.reset(token)


@contextmanager
def about(*subjects: str) -> Iterator[None]:
    """Take what is read inside as read for these subjects alone; without a subject it counts for all."""
    sink = _SINK.get()
    if sink is None or not subjects:
        yield
        return
    token = _SINK.set(Sink(sink.recording, subjects))
    try:
        yield
    finally:
        _SINK.reset(token)


@contextmanager
def apart() -> Iterator[Recording | None]:
    """Record what is read inside, and write it down for nobody: for values that `replay` it wherever they are used."""
    sink = _SINK.get()
    record = None if sink is None else Recording(sink.recording.digests)
    token = _SINK.set(None if record is None else Sink(record))
    try:
        yield record
    finally:
        _SINK.reset(token)


def answer(sort: str) -> Callable[[Answer], Answer]:
    """Return the decorator that enters a function as the digest of a sort of answers."""

    def enter(function: Answer) -> Answer:
        ANSWERS[sort] = function
        return function

    return enter


def names_digest(names: Sequence[str]) -> str:
    """Return the digest of the names of a folder."""
    return hashlib.sha256("\0".join(sorted(names)).encode("utf-8", "surrogateescape")).hexdigest()


def name_of(seen: Mapping[Read, str]) -> str:
    """Return a name for everything that was read, by which results are kept that follow from nothing else."""
    return "\n".join(f"{sort} {name} {digest}" for (sort, name), digest in sorted(seen.items()))


def variable_digest(value: str | None) -> str:
    """Return the digest of a variable of the environment."""
    return ABSENT if value is None else f"={value}"


def variable(name: str) -> str | None:
    """Return a variable of the environment, None where it is not set."""
    value = os.environ.get(name)
    note(ENVIRONMENT, name, variable_digest(value))
    return value


def forget() -> None:
    """Say that what is found out now follows from more than can be written down, so that it is found out each time."""
    note(FILE, "", UNSTEADY)
