"""Where CRDs and charts come from: `SOURCES.md` and `index.json` of a collected folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SOURCES = "SOURCES.md"


def rows(folder: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of the first table of `SOURCES.md`, by the names of its columns; none without the file."""
    file = folder / SOURCES
    header: list[str] = []
    for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else []:
        if not line.startswith("|"):
            if header:
                return
            continue
        cells = [cell.strip().strip("`") for cell in line.strip("|").split(" | ")]
        if not header:
            header = cells
        elif not set("".join(cells)) <= set("-| "):
            yield dict(zip(header, cells, strict=False))


def release(version: str) -> str:
    """Return a release as folders name it: 1.4.8 of v1.4.8 and of operator-1.4.8."""
    return re.sub(r"^(?:[a-z-]+-)?v?(?=\d)", "", version)


def crd_index(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the entry in `index.json` for each file; nothing where there is none."""
    file = folder / "index.json"
    listed = json.loads(file.read_text(encoding="utf-8"))["crds"] if file.is_file() else []
    return {definition["file"]: definition for definition in listed}
