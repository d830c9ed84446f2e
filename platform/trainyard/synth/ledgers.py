"""All ledgers of a tree: read from their files, or remembered under the ids of the files' contents."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, fields

from trainyard.synth import ledger
from trainyard.system import cache

JobKey = tuple[str, str, str]
"""Cluster, team and job."""

Read = Callable[[Sequence[str]], Iterator[bytes]]
"""Contents by their ids, in order."""


def read_ledgers(
    found: Mapping[str, str], read: Read, store: cache.Cache | None = None
) -> tuple[dict[JobKey, tuple[ledger.Entry, ...]], list[str]]:
    """Return the ledger of every job among files, given by path and content id, and the paths of unreadable ones."""
    clusters: dict[str, dict[str, str]] = defaultdict(dict)
    keys: dict[str, JobKey] = {}
    for path, oid in found.items():
        if f"/{ledger.TOP}" in path and (key := ledger.job_of(path)):
            clusters[key[0]][path], keys[path] = oid, key
    ledgers: dict[JobKey, tuple[ledger.Entry, ...]] = {}
    broken: list[str] = []
    for files in clusters.values():
        for path, entries in _entries(files, read, store).items():
            if entries is None:
                broken.append(path)
            else:
                ledgers[keys[path]] = entries
    return ledgers, broken


def _entries(
    files: Mapping[str, str], read: Read, store: cache.Cache | None
) -> Mapping[str, tuple[ledger.Entry, ...] | None]:
    """Return the entries of one cluster's ledgers, by path; None where one cannot be read."""
    name = cache.key("ledgers", *(each.name for each in fields(ledger.Entry)), *files, *files.values())
    data = store.get(name) if store else None
    if data:
        return {path: tuple(ledger.Entry(*each) for each in past) for path, past in json.loads(data).items()}
    found = {path: ledger.load(data) for path, data in zip(files, read(list(files.values())), strict=True)}
    if store and None not in found.values():
        texts = {path: [astuple(each) for each in past or ()] for path, past in found.items()}
        store.put(name, json.dumps(texts, separators=(",", ":")).encode())
    return found
