"""A disk cache keyed by content: an entry is whole or a miss, and losing all of it costs time only."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from trainyard.base.system import files
from trainyard.base.system.git import top

LIMIT_BYTES = 256 * 1024 * 1024
DIGEST_BYTES = 32
TRIM_SECONDS = 3600
"""So long after entries were counted they are not counted again: with many, that takes most of a second."""
STAMP = ".counted"
"""The file whose age says when they were."""
ENTRY = re.compile(r"[0-9a-f]{2}/[0-9a-f]{62}")
"""Paths of entries below the folder: their keys, see `key`."""


def key(*parts: str | bytes) -> str:
    """Return a name for these contents; the borders between them count."""
    texts = (part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part for part in parts)
    return hashlib.sha256(b"".join(b"%d:%b" % (len(data), data) for data in texts)).hexdigest()


def folder() -> Path:
    """Return where the caches are: below the user's own cache folder, wherever the system keeps that."""
    if (given := os.environ.get("XDG_CACHE_HOME")) and Path(given).is_absolute():
        return Path(given) / "trainyard"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "trainyard"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "trainyard" / "cache"
    return Path.home() / ".cache" / "trainyard"


def private(sort: str, *, outside: Path | None = None, limit_bytes: int = LIMIT_BYTES) -> Cache | None:
    """Return the cache of one sort of entries, in a folder that only this user may write; None where there is none.

    What somebody else's branch can hold is never believed, so no cache is kept inside the repository that holds the
    folder `outside`. A
    folder that somebody else made, or may write into, is left alone, and so are a link and a folder that cannot be
    made.
    """
    try:
        place = folder() / sort
        if place.is_relative_to(Path.home()) and not Path.home().is_dir():
            return None  # nobody has that home, and it is not ours to make
        if outside is not None and place.resolve().is_relative_to(top(outside)):
            return None
        for path in (place.parent, place):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = [path.lstat() for path in (place, place.parent)]
    except (OSError, RuntimeError):
        return None
    return Cache(place, limit_bytes) if all(map(is_private, found)) else None


def is_private(status: os.stat_result) -> bool:
    """Say whether a path is a folder itself, and no other user can write into it."""
    mine = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    return stat.S_ISDIR(status.st_mode) and mine and not status.st_mode & 0o022


@dataclass(slots=True)
class Cache:
    """Entries of one sort below one folder; several processes may use it at once.

    An entry begins with the SHA-256 of what follows, so a torn or damaged one is a miss. A folder that cannot be
    written makes every entry a miss. The least recently used entries go when all take more than `limit_bytes`, which is
    looked at every hour.
    """

    folder: Path
    limit_bytes: int = LIMIT_BYTES
    _trimmed: bool = field(default=False, init=False)

    def get(self, name: str) -> bytes | None:
        """Return an entry's content, or None."""
        path = self._path(name)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        content = data[DIGEST_BYTES:]
        if len(data) < DIGEST_BYTES or hashlib.sha256(content).digest() != data[:DIGEST_BYTES]:
            return None
        with suppress(OSError):
            os.utime(path)
        return content

    def put(self, name: str, content: bytes) -> None:
        """Keep an entry; what cannot be kept is not."""
        with suppress(OSError):
            if not self._trimmed:
                self._trimmed = True
                if self._is_due():
                    self.trim()
            files.write(self._path(name), hashlib.sha256(content).digest() + content)

    def trim(self) -> None:
        """Remove the entries that were used longest ago, until the others take at most three quarters of the limit.

        Files that no `put` can have written are not counted, and stay.
        """
        listed = [file for file in files.walk(self.folder) if file.regular]
        for file in listed:
            if files.is_temporary(file.path):
                files.sweep(self.folder / file.path, top=self.folder)
        found = (file for file in listed if ENTRY.fullmatch(file.path))
        entries = [(file.stat.st_mtime_ns, file.stat.st_size, file.path) for file in found]
        total = sum(size for _, size, _ in entries)
        if total <= self.limit_bytes:
            return
        for _, size, path in sorted(entries):
            with suppress(OSError):
                (self.folder / path).unlink()
            total -= size
            if total <= self.limit_bytes * 3 // 4:
                return

    def _is_due(self) -> bool:
        """Say whether entries were last counted too long ago, or never, and note that they are counted now."""
        stamp = self.folder / STAMP
        with suppress(OSError):
            if 0 <= time.time() - stamp.lstat().st_mtime < TRIM_SECONDS:
                return False
        files.write(stamp, b"")
        return True

    def _path(self, name: str) -> Path:
        return self.folder / name[:2] / name[2:]
