"""What is on disk below `generated/`, by content, without reading a file twice that has not changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from trainyard.system import files
from trainyard.system.git import blob_id


def scan(folder: Path, algorithm: str = "sha1") -> Mapping[str, str | None]:
    """Return the content id of every file below a folder, None for links and other files that are not plain."""
    found: dict[str, str | None] = {}
    for each in files.walk(folder):
        data = files.read(folder / each.path) if each.regular else None
        found[each.path] = None if data is None else blob_id(data, algorithm)
    return found
