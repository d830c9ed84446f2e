"""What is vendored in the folder `schemas/`: releases of projects, what they define, and where charts are published."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

INDEX = "index.json"
CHARTS = "charts"


def folders(folder: Path) -> list[str]:
    """Return the names of the folders in a folder, sorted; none where it is none."""
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def kinds(schemas: Path, project: str, release: str) -> list[dict[str, Any]]:
    """Return the kinds that a release serves, one entry for each version of a kind."""
    return _entries(schemas / project / release / INDEX, "kinds")


def definitions(schemas: Path, project: str, release: str) -> frozenset[str]:
    """Return the names of the CustomResourceDefinitions of a release, as `plural.group`."""
    return frozenset(f"{kind['plural']}.{kind['group']}" for kind in kinds(schemas, project, release))


def charts(schemas: Path) -> list[dict[str, Any]]:
    """Return the published charts, one entry for each release; none in a folder that has no charts."""
    file = schemas / CHARTS / INDEX
    return _entries(file, "charts") if file.is_file() else []


@lru_cache(maxsize=256)
def _entries(file: Path, of: str) -> list[dict[str, Any]]:
    """Read an index file."""
    entries: list[dict[str, Any]] = json.loads(file.read_bytes())[of]
    return entries
