"""Whether an older release can read what the newer one has stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from trainyard.base.findings import Finding
from trainyard.base.system.data import schemas_dir
from trainyard.change.upgrade.definitions import compare_kinds
from trainyard.change.upgrade.moves import Move
from trainyard.change.upgrade.rules import DOWNGRADE, STORED
from trainyard.specs.sources import Source


def check_stored(root: Path, source: Source, moves: Iterable[Move]) -> Iterator[Finding]:
    """Yield releases that are older than the one before, and those that do not serve what objects are stored in."""
    for move in (one for one in moves if one.back):
        message = f"{move.operator} {move.after} is older than {move.before}, which the cluster runs"
        yield DOWNGRADE.at(source, move.path, message)
        found = compare_kinds(schemas_dir(root), move.operator, move.known_before, move.after)
        for kind, version, stored in found.dropped:
            if stored:
                message = f"{move.operator} {move.after} does not serve {kind} {version}, in which objects are stored"
                yield STORED.at(source, move.path, message)
