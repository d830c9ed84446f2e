"""What is on disk, by content, without reading a file again that has not changed since it was last read."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from trainyard.system import cache, files
from trainyard.system.git import blob_id

SETTLED_NS = 50_000_000
"""A file that changed this shortly before it was read may change again without showing it in its times."""

COARSE_NS = 2_000_000_000
"""The same for file systems whose times are whole seconds, or two of them."""

Remembered = dict[str, list[str]]
"""By path, what the disk said of the file and the id of its content."""


@dataclass
class Disk:
    """The files below a root; like Git's index, it trusts size, times and inode for a file that it has read before."""

    root: Path
    store: cache.Cache | None = None
    algorithm: str = "sha1"
    """How contents are named, as Git does."""
    _folders: dict[str, Remembered] = field(default_factory=dict)
    _before: dict[str, Remembered] = field(default_factory=dict)
    _written: list[tuple[str, str, str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        data = self.store.get(self._name) if self.store else None
        self._before = json.loads(data) if data else {}

    @property
    def _name(self) -> str:
        return cache.key("disk", str(self.root.resolve()), self.algorithm)

    def scan(self, folder: str) -> Mapping[str, str | None]:
        """Return the content id of every file below a folder, None for links and other files that are not plain."""
        before, now = self._before.get(folder, {}), self._folders.setdefault(folder, {})
        found: dict[str, str | None] = {}
        for each in files.walk(self.root / folder):
            if not each.regular:
                found[each.path] = None
                continue
            signature = sign(each.stat)
            known = before.get(each.path)
            if known is None or known[0] != signature:
                known = self._read(folder, each, signature)
            if known is not None:
                found[each.path] = known[1]
                if known[0]:
                    now[each.path] = known
        return found

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
                if sign(status) == signature and settled(status):
                    self._folders.setdefault(folder, {})[path] = [signature, oid]
        if self._folders != self._before:
            self.store.put(self._name, json.dumps(self._folders, separators=(",", ":")).encode())

    def _read(self, folder: str, each: files.Found, signature: str) -> list[str] | None:
        data = files.read(self.root / folder / each.path)
        if data is None:
            return None
        return [signature if settled(each.stat) else "", blob_id(data, self.algorithm)]


def sign(status: os.stat_result) -> str:
    """Return what changes whenever a file's content does."""
    return f"{status.st_size}.{status.st_mtime_ns}.{status.st_ctime_ns}.{status.st_ino}"


def settled(status: os.stat_result) -> bool:
    """Say whether the file's times are so long ago that a later change must show in them."""
    newest = max(status.st_mtime_ns, status.st_ctime_ns)
    coarse = not (status.st_mtime_ns % 1_000_000_000 and status.st_ctime_ns % 1_000_000_000)
    return newest + (COARSE_NS if coarse else SETTLED_NS) < time.time_ns()
