"""A repository's specs with changes that are not written yet."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from trainyard.base.system import files, scratch
from trainyard.base.system.repository import SPECS


@contextmanager
def overlaid(root: Path, changes: Mapping[str, str | None]) -> Iterator[Path]:
    """Give a folder with the repository's specs in which files are as these texts; None takes a file away."""
    with scratch.folder("draft") as top:
        for spec in SPECS:
            if (root / spec).is_dir():
                shutil.copytree(root / spec, top / spec, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
            elif (root / spec).is_file():
                (top / spec).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(root / spec, top / spec)
        for path, text in changes.items():
            if text is None:
                (top / path).unlink()
            else:
                files.write(top / path, text)
        yield top
