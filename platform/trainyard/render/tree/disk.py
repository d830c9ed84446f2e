"""What is on disk, by content, without reading a file again that has not changed since it was last read."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from trainyard.base.system import ahead, cache, files, reads
from trainyard.base.system.git import blob_id

CACHE = "synth"
"""Sort of the entries that say what is on disk, what was rendered, and what commits hold."""

SETTLED_NS = 50_000_000
"""A file that changed this shortly before it was read may change again without showing it in its times."""

COARSE_NS = 2_000_000_000
"""The same for file systems whose times are whole seconds, or two of them."""

Remembered = dict[str, list[str]]
"""By path, what the disk said of the file and the id of its content."""


@dataclass
class Disk:
    """The files below a root; like Git's index, it trusts size, times and inode for a file that it has read before.

    What is remembered is kept by the first part of a path (a cluster, a team), so that little is written for a small
    change.
    """

    root: Path
    store: cache.Cache | None = None
    algorithm: str = "sha1"
    """How contents are named, as Git does."""
    _begun: dict[str, Callable[[], list[files.Found]]] = field(default_factory=dict)
    _listed: dict[str, list[files.Found]] = field(default_factory=dict)
    _found: dict[str, Mapping[str, str | None]] = field(default_factory=dict)
    _before: dict[str, Remembered] = field(default_factory=dict)
    _now: dict[str, Remembered] = field(default_factory=dict)
    _written: list[tuple[str, str, str, str]] = field(default_factory=list)

    def begin(self, folder: str) -> None:
        """Look at a large folder from now on, beside what else is done, so that it is known when it is asked for."""
        if not files.is_linked(self.root, folder):
            self._begun[folder] = ahead.walk(self.root / folder)

    def walk(self, folder: str) -> list[files.Found]:
        """Return every file below a folder; the disk is looked at once."""
        if folder not in self._listed:
            begun = self._begun.pop(folder, None)
            linked = files.is_linked(self.root, folder)
            self._listed[folder] = [] if linked else begun() if begun else files.walk(self.root / folder)
        return self._listed[folder]

    def scan(self, folder: str) -> Mapping[str, str | None]:
        """Return the content id of every file below a folder, None for links and other files that are not plain.

        The disk is looked at once; what is written afterwards does not show.
        """
        if folder not in self._found:
            self._found[folder] = self._scan(folder)
        return self._found[folder]

    def _scan(self, folder: str) -> Mapping[str, str | None]:
        found: dict[str, str | None] = {}
        part, before, now = None, Remembered(), Remembered()
        for path, status, regular in self.walk(folder):
            if not regular:
                found[path] = None
                continue
            if (first := path.partition("/")[0]) != part:
                part, before, now = first, *self._part(folder, first)
            signature = sign(status)
            known = before.get(path)
            if known is None or known[0] != signature:
                known = self._read(self.root / folder / path, status, signature)
            if known is not None:
                found[path] = known[1]
                if known[0]:
                    now[path] = known
        return found

    def _part(self, folder: str, first: str) -> tuple[Remembered, Remembered]:
        name = f"{folder}/{first}"
        if name not in self._before:
            data = self.store.get(self._key(name)) if self.store else None
            self._before[name] = json.loads(data) if data else {}
            self._now[name] = {}
        return self._before[name], self._now[name]

    def _key(self, name: str) -> str:
        return cache.key("disk", str(self.root.resolve()), self.algorithm, name)

    def wrote(self, folder: str, path: str, oid: str) -> None:
        """Remember the content of a file that was just written, if nobody changes it before `save`."""
        self._written.append((folder, path, sign((self.root / folder / path).lstat()), oid))

    def save(self) -> None:
        """Keep what was read and written for the next process."""
        if self.store is None:
            return
        for folder, path, signature, oid in self._written:
            with suppress(OSError):
                status = (self.root / folder / path).lstat()
                if sign(status) == signature and is_settled(status):
                    self._part(folder, path.partition("/")[0])[1][path] = [signature, oid]
        for name, now in self._now.items():
            if now != self._before[name]:
                self.store.put(self._key(name), json.dumps(now, separators=(",", ":")).encode())

    def _read(self, path: Path, status: files.Status | os.stat_result, signature: str) -> list[str] | None:
        settled = is_settled(status)  # before it is read: what changes while it is read may leave its times as they are
        with reads.apart():  # a file is read for its id, and once; whoever goes by its content says so
            data = files.read(path)
        return None if data is None else [signature if settled else "", blob_id(data, self.algorithm)]


def sign(status: files.Status | os.stat_result) -> str:
    """Return a signature that changes whenever a file's content does."""
    return f"{status.st_size}.{status.st_mtime_ns}.{status.st_ctime_ns}.{status.st_ino}"


def is_settled(status: files.Status | os.stat_result) -> bool:
    """Say whether the file's times are so long ago that a later change must show in them."""
    newest = max(status.st_mtime_ns, status.st_ctime_ns)
    coarse = not (status.st_mtime_ns % 1_000_000_000 and status.st_ctime_ns % 1_000_000_000)
    return newest + (COARSE_NS if coarse else SETTLED_NS) < time.time_ns()
