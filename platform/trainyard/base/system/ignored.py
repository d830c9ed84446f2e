"""What nobody means by naming a folder: what Git ignores in it, what `--exclude` does, and folders of tools.

A file that is named itself is read, whatever ignores it; so is what lies below a named folder that is ignored whole,
and what Git tracks, and all that a synth has written. Where there is no Git, the .gitignore files are read here.
Source: git v2.47 Documentation/gitignore.txt; the patterns themselves are read by pathspec.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from trainyard.base.errors import ToolError
from trainyard.base.system import git
from trainyard.base.system.repository import GENERATED, is_repository

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NEVER = frozenset({".git", "node_modules"})
"""Folders that hold copies, of the repository's past and of other people's packages."""
FILE = ".gitignore"


class Ignored:
    """What is ignored below a folder."""

    def __init__(self, folder: Path) -> None:
        self.top = folder.resolve()
        self._by = _ByGit.of(self.top) or _ByPatterns(self.top)

    def has(self, path: str, *, folder: bool) -> bool:
        """Say whether a path below the folder is ignored; what it stands in is asked before it."""
        return self._by.has(path, folder=folder) and not is_written(self.top / path)


def is_written(path: Path) -> bool:
    """Say whether a path is what a repository of ours has from a synth: what is applied is judged, always."""
    return any(
        parent.name == GENERATED and is_repository(parent.parent) for parent in (path, *path.parents) if parent.name
    )


class _ByGit:
    """What Git itself says: only it knows what it tracks, and how it reads patterns of folders."""

    def __init__(self, top: Path, kept: Sequence[str]) -> None:
        self.top = top
        self._kept = {alike(path.rstrip("/")) for path in kept}
        self._kept |= {parent for path in self._kept for parent in above(path)}
        self._others: dict[str, Ignored] = {}

    @classmethod
    def of(cls, top: Path) -> _ByGit | _Nothing | None:
        """Return Git's ignore rules for a folder, None where Git has none: it is not there, or not for this folder."""
        try:
            found = git.find(top)
        except ToolError:  # a repository of somebody else: Git refuses to read it, and its patterns are all there is
            return None
        if found is None:
            return None
        if found.ignores_itself():
            return _Nothing()
        kept = found.kept_files()
        return None if kept is None else cls(top, kept)

    def has(self, path: str, *, folder: bool) -> bool:
        for other in above(path) if self._others else ():
            if other in self._others:
                return self._others[other].has(path.removeprefix(f"{other}/"), folder=folder)
        if alike(path) not in self._kept:
            return not folder or any(os.scandir(self.top / path))  # Git says nothing of an empty folder
        if folder and (self.top / path / ".git").exists():
            self._others[path] = Ignored(self.top / path)
        return False


class _Nothing:
    """Nothing is ignored."""

    def has(self, path: str, *, folder: bool) -> bool:  # noqa: ARG002
        return False


def above(path: str) -> Iterator[str]:
    """Yield the folders above a path, the nearest first."""
    while (cut := path.rfind("/")) > 0:
        path = path[:cut]
        yield path


def alike(path: str) -> str:
    """Return a path as it is compared: disks that take two spellings for one name may list either."""
    return path.lower() if path.isascii() else unicodedata.normalize("NFC", path).casefold()


def patterns_of(lines: Sequence[str]) -> GitIgnoreSpec:
    """Return the matcher of ignore patterns; raises ValueError for a line that is no pattern."""
    from pathspec import GitIgnoreSpec  # which takes long to import, and is asked where Git is not

    return GitIgnoreSpec.from_lines(lines)


class _ByPatterns:
    """The patterns that count below a folder."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.root = next((parent for parent in (self.top, *self.top.parents) if (parent / ".git").exists()), self.top)
        self._specs: dict[Path, GitIgnoreSpec | None] = {}
        if self.top != self.root and self._is_named(self.top, folder=True):
            self.root = self.top

    def has(self, path: str, *, folder: bool) -> bool:
        return self._is_named(self.top / path, folder=folder)

    def _is_named(self, path: Path, *, folder: bool) -> bool:
        """Ask the file nearest to a path first: it has the last word."""
        for home in path.parents:
            if (spec := self._spec(home)) is not None:
                name = path.relative_to(home).as_posix() + ("/" if folder else "")
                said = spec.check_file(name).include
                if said is not None:
                    return said
            if home == self.root:
                break
        return False

    def _spec(self, folder: Path) -> GitIgnoreSpec | None:
        if folder not in self._specs:
            try:
                lines = (folder / FILE).read_text(encoding="utf-8", errors="replace").splitlines()
                self._specs[folder] = patterns_of(lines)
            except (OSError, ValueError):
                self._specs[folder] = None
        return self._specs[folder]


class Excluded:
    """What somebody leaves out by patterns of the command line, and which of them matched anything."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._specs = {pattern: patterns_of([pattern]) for pattern in patterns}
        self._used: set[str] = set()

    def has(self, *names: str) -> bool:
        """Say whether a pattern matches one of the names of a file, or a folder above it."""
        matched = [
            folder for folder, spec in self._specs.items() if any(spec.match_file(name.lstrip("/")) for name in names)
        ]
        self._used.update(matched)
        return bool(matched)

    def unused(self) -> Iterator[str]:
        """Yield the patterns that matched nothing, which may be misspelt."""
        yield from (spec for spec in self._specs if spec not in self._used)


def is_never_read(path: str) -> bool:
    """Say whether a path is below a folder that is never read."""
    return not NEVER.isdisjoint(PurePosixPath(path).parts)
