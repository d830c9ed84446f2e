"""What nobody means by naming a folder: what its .gitignore files name, what `--exclude` does, and folders of tools.

A file that is named itself is read, whatever ignores it; so is what lies below a named folder that is ignored whole.
Source: git v2.47 Documentation/gitignore.txt; the patterns themselves are read by pathspec.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from pathspec import GitIgnoreSpec

NEVER = frozenset({".git", "node_modules"})
"""Folders that hold copies, of the repository's past and of other people's packages."""
FILE = ".gitignore"


class Ignored:
    """The patterns that count below a folder."""

    def __init__(self, folder: Path) -> None:
        self.top = folder.resolve()
        self.root = next((each for each in (self.top, *self.top.parents) if (each / ".git").exists()), self.top)
        self._specs: dict[Path, GitIgnoreSpec | None] = {}
        if self.top != self.root and self._is_named(self.top, folder=True):
            self.root = self.top

    def has(self, path: str, *, folder: bool) -> bool:
        """Say whether a path below the folder is ignored; what it stands in is asked before it."""
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
                self._specs[folder] = GitIgnoreSpec.from_lines(lines)
            except (OSError, ValueError):
                self._specs[folder] = None
        return self._specs[folder]


class Excluded:
    """What somebody leaves out by patterns of the command line, and which of them matched anything."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._specs = {each: GitIgnoreSpec.from_lines([each]) for each in patterns}
        self._used: set[str] = set()

    def has(self, *names: str) -> bool:
        """Say whether a pattern matches one of the names of a file, or a folder above it."""
        matched = [
            each for each, spec in self._specs.items() if any(spec.match_file(name.lstrip("/")) for name in names)
        ]
        self._used.update(matched)
        return bool(matched)

    def unused(self) -> Iterator[str]:
        """Yield the patterns that matched nothing, which may be misspelt."""
        yield from (each for each in self._specs if each not in self._used)


def is_never_read(path: str) -> bool:
    """Say whether a path is below a folder that is never read."""
    return not NEVER.isdisjoint(PurePosixPath(path).parts)
