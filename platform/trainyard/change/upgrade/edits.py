"""The texts of files with other releases: each field is written where it stands, in a cluster's file or in its base."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from trainyard.base.errors import SpecError
from trainyard.base.findings import Location
from trainyard.base.system import files
from trainyard.change.upgrade.moves import Move
from trainyard.specs.editing.releases import drop_map, set_release
from trainyard.specs.sources import Specs


def edited(root: Path, specs: Specs, cluster: str, moves: Iterable[Move]) -> tuple[Mapping[str, str], list[Location]]:
    """Return the new texts of files by path, and the place of each move's field; nothing is written.

    Raises SpecError where a file is written in a way that only a person can edit.
    """
    source, model = specs.sources[f"cluster/{cluster}"], specs.clusters[cluster]
    texts: dict[str, str] = {}
    places = []
    for move in moves:
        where = source.location(move.path)
        places.append(where)
        texts[where.file] = set_release(text_of(root, where.file, texts), where.file, move.path, move.after)
        choice = model.operators.get(move.operator) if move.path[0] == "operators" else None
        if choice is not None and choice.unlisted is not None:
            outer = move.path[:-1]
            file = source.location((*outer, "unlisted")).file
            texts[file] = drop_map(text_of(root, file, texts), file, outer, "unlisted")
    return texts, places


def text_of(root: Path, file: str, texts: Mapping[str, str]) -> str:
    """Return the text of a file as it is so far; raises SpecError where it is not there."""
    if file in texts:
        return texts[file]
    data = files.read(root / file)
    if data is None:
        raise SpecError(f"{file} cannot be read")
    return data.decode("utf-8", "surrogateescape")
