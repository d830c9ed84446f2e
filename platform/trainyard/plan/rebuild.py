"""What would train on an empty cluster: every active run of the tree, whether it ended long ago or not."""

from __future__ import annotations

import json
from collections.abc import Iterable

from trainyard.plan.compare import files_of, plain
from trainyard.plan.effects import Rebuild
from trainyard.plan.shape import shape
from trainyard.system.cache import Cache, key
from trainyard.tree.snapshot import Snapshot

NAME = key("GPUs of runs")
"""Of the entry that remembers how many GPUs a run holds, by the contents of its files."""


def rebuild(now: Snapshot, store: Cache | None) -> Rebuild:
    """Return how many runs the tree would start anew, and on how many GPUs; runs that were seen before are not read."""
    known, found = remembered(store), {}
    total = 0
    for job, entry in now.active.items():
        oids = sorted(files_of(now, job, entry).values())
        name = key(*oids)
        found[name] = known[name] if name in known else gpus(now.read(oids))
        total += found[name]
    if store is not None and found != known:
        store.put(NAME, json.dumps(found, separators=(",", ":")).encode())
    return Rebuild(len(now.active), total)


def remembered(store: Cache | None) -> dict[str, int]:
    """Return what was counted before, nothing where nothing is kept."""
    data = store.get(NAME) if store is not None else None
    known: dict[str, int] = json.loads(data) if data else {}
    return known


def gpus(texts: Iterable[bytes]) -> int:
    """Return how many GPUs a run holds, by its files."""
    return shape([plain(text, "") for text in texts]).gpus
