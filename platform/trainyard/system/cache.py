"""A disk cache keyed by content: an entry is whole or a miss, and losing all of it costs time only."""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from trainyard.system import files

LIMIT_BYTES = 256 * 1024 * 1024
DIGEST_BYTES = 32


def key(*parts: str | bytes) -> str:
    """Return a name for these contents; the borders between them count."""
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        hashed.update(b"%d:" % len(data))
        hashed.update(data)
    return hashed.hexdigest()


def folder(root: Path | None = None) -> Path:
    """Return where the cache is: `.cache/trainyard` of the repository at `root`, else the user's own cache folder."""
    if root is not None:
        return root / ".cache" / "trainyard"
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given) / "trainyard"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "trainyard"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "trainyard" / "cache"
    return Path.home() / ".cache" / "trainyard"


def private(sort: str, root: Path | None = None, *, limit_bytes: int = LIMIT_BYTES) -> Cache | None:
    """Return the cache of one sort of entries, in a folder that only this user may write; None where there is none.

    The folder is that of the repository at `root`, else the user's own. A folder that somebody else made, or may write
    into, is left alone, and so is one that cannot be made.
    """
    try:
        place = folder(root) / sort
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        stat = place.stat()
    except (OSError, RuntimeError):
        return None
    if hasattr(os, "getuid") and (stat.st_uid != os.getuid() or stat.st_mode & 0o022):
        return None
    return Cache(place, limit_bytes)


@dataclass(slots=True)
class Cache:
    """Entries of one sort below one folder; several processes may use it at once.

    An entry begins with the SHA-256 of what follows, so a torn or damaged one is a miss. A folder that cannot be
    written makes every entry a miss. The least recently used entries go when all take more than `limit_bytes`.
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
                self.trim()
                self._hide()
            files.write(self._path(name), hashlib.sha256(content).digest() + content)

    def trim(self) -> None:
        """Remove the entries that were used longest ago, until the others take at most three quarters of the limit."""
        entries = [(found.stat.st_mtime_ns, found.stat.st_size, found.path) for found in files.walk(self.folder)]
        total = sum(size for _, size, _ in entries)
        if total <= self.limit_bytes:
            return
        for _, size, path in sorted(entries):
            with suppress(OSError):
                (self.folder / path).unlink()
            total -= size
            if total <= self.limit_bytes * 3 // 4:
                return

    def _hide(self) -> None:
        """Keep Git from seeing the cache, also in a repository that does not ignore it."""
        ignore = self.folder / ".gitignore"
        if not ignore.exists():
            files.write(ignore, "*\n")

    def _path(self, name: str) -> Path:
        return self.folder / name[:2] / name[2:]
