"""What everything that was read is now, so that what followed from it can be believed or not."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trainyard.base.system import files, reads
from trainyard.base.system.git import blob_id
from trainyard.base.system.reads import ABSENT, ANSWERS, ENVIRONMENT, FILE, NAMES, THERE, UNSTEADY, Read

Lookup = Callable[[str], str | None]
"""What somebody knows of a path already; None where he knows nothing."""


@dataclass
class World:
    """The present digests of reads, each worked out once; what is written meanwhile does not show.

    Contents are named as Git does. Of paths that `known_file` and `known_names` know, nothing is read again.
    """

    algorithm: str = "sha1"
    known_file: Lookup = lambda _: None
    known_names: Lookup = lambda _: None
    known_folder: Callable[[Path], Mapping[str, str | None] | None] = lambda _: None
    """Contents by path below a folder, where somebody knows them."""
    _digests: dict[Read, str] = field(default_factory=dict)

    def name_content(self, content: bytes) -> str:
        """Return the digest of a file's content."""
        return blob_id(content, self.algorithm)

    def holds(self, trace: Mapping[Read, str]) -> bool:
        """Say whether everything that was read is still what it was."""
        return all(self.is_now(read, digest) for read, digest in trace.items())

    def is_now(self, read: Read, digest: str) -> bool:
        """Say whether one thing that was read is what it was; what was unsteady never is."""
        sort, name = read
        if digest == UNSTEADY:
            return False
        if sort == THERE:
            return self.digest((FILE, name)) == digest or self.digest(read) == THERE
        return self.digest(read) == digest

    def digest(self, read: Read) -> str:
        """Return the present digest of something that may be read."""
        if read not in self._digests:
            self._digests[read] = self._now(*read)
        return self._digests[read]

    def _now(self, sort: str, name: str) -> str:
        if sort == FILE:
            known = self.known_file(name)
            return self._file(name) if known is None else known
        if sort == NAMES:
            known = self.known_names(name)
            return reads.names_digest([file.path for file in files.walk(Path(name))]) if known is None else known
        if sort == ENVIRONMENT:
            return reads.variable_digest(os.environ.get(name))
        return ANSWERS[sort](name, self) if sort in ANSWERS else UNSTEADY

    def contents(self, folder: Path) -> Mapping[str, str | None]:
        """Return the digest of every file below a folder by its path there, None of links and the like."""
        known = self.known_folder(folder)
        if known is not None:
            return known
        listed = (file.path for file in files.walk(folder))
        return {path: self.digest((FILE, reads.absolute(folder / path))) or None for path in listed}

    def _file(self, name: str) -> str:
        try:
            data = files.read_installed(Path(name))
        except OSError:
            return UNSTEADY
        return ABSENT if data is None else self.name_content(data)
