"""The specs of a commit: which files they are, and as a folder that can be read like a repository."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from trainyard.base.system import files, scratch
from trainyard.base.system.git import Git
from trainyard.base.system.repository import CLUSTERS, SETTINGS, SPECS


def spec_files(git: Git, commit: str) -> dict[str, str]:
    """Return every spec file of a commit, with its content id."""
    found: dict[str, str] = {}
    for top, oid in zip(SPECS, git.object_ids(commit, *SPECS), strict=True):
        if oid is not None:
            below = {} if top == SETTINGS else git.listing(oid)
            found |= {f"{top}/{path}": blob for path, blob in below.items()} or {top: oid}
    return found


@contextmanager
def laid_out(git: Git, specs: Mapping[str, str]) -> Iterator[Path]:
    """Give a folder with these files, which is gone afterwards."""
    with scratch.folder("base") as root:
        (root / CLUSTERS).mkdir(parents=True)
        for path, data in zip(specs, git.read(specs.values()), strict=True):
            files.write(root / path, data)
        yield root
