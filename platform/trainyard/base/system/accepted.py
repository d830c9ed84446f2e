"""The text of a file that counts: reading it is written down by what was accepted, whatever Git has done meanwhile."""

from __future__ import annotations

from pathlib import Path

from trainyard.base.system import files, reads
from trainyard.base.system.trust import checkout

ACCEPTED = "accepted"
"""A sort of reading: the text of a file that counts, by its repository and its path."""


def accepted_text(root: Path, path: str) -> bytes | None:
    """Return the trusted bytes of a file, None where there are none."""
    reads.ask(ACCEPTED, f"{reads.absolute(root)}\n{path}")
    return _accepted_text(root, path)


def _accepted_text(root: Path, path: str) -> bytes | None:
    held = checkout(root)
    return files.read(root / path) if held is None else held.text(path)


@reads.answer(ACCEPTED)
def accepted_digest(name: str, digests: reads.Digests) -> str:
    """Return the digest of the trusted bytes of a file."""
    root, _, path = name.partition("\n")
    text = _accepted_text(Path(root), path)
    return reads.ABSENT if text is None else digests.name_content(text)
