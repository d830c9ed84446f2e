"""All ledgers of a tree: read from their files, or remembered under the ids of the files' contents."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, fields
from pathlib import Path

from trainyard.system import cache, files
from trainyard.system.repository import GENERATED
from trainyard.tree import layout, ledger

JobKey = tuple[str, str, str]
"""Cluster, team and job."""

Read = Callable[[Sequence[str]], Iterator[bytes]]
"""Contents by their ids, in order."""


Ledgers = Mapping[JobKey, tuple[ledger.Entry, ...]]

NOTHING: tuple[Mapping[str, str], Ledgers] = ({}, {})


def read_ledgers(
    found: Mapping[str, str],
    read: Read,
    store: cache.Cache | None = None,
    known: tuple[Mapping[str, str], Ledgers] = NOTHING,
) -> tuple[dict[JobKey, tuple[ledger.Entry, ...]], list[str]]:
    """Return the ledger of every job among files, given by path and content id, and the paths of unreadable ones.

    `known` are the files and the ledgers of another tree: those that are the same there are not read.
    """
    clusters: dict[str, dict[str, str]] = defaultdict(dict)
    keys: dict[str, JobKey] = {}
    ledgers: dict[JobKey, tuple[ledger.Entry, ...]] = {}
    for path, oid in found.items():
        if f"/{layout.LEDGER}" in path and (key := layout.job_of_ledger(path)):
            if known[0].get(path) == oid and key in known[1]:
                ledgers[key] = known[1][key]
            else:
                clusters[key[0]][path], keys[path] = oid, key
    broken: list[str] = []
    for each in clusters.values():
        for path, entries in _entries(each, read, store).items():
            if entries is None:
                broken.append(path)
            else:
                ledgers[keys[path]] = entries
    return ledgers, broken


def _entries(
    listed: Mapping[str, str], read: Read, store: cache.Cache | None
) -> Mapping[str, tuple[ledger.Entry, ...] | None]:
    """Return the entries of one cluster's ledgers, by path; None where one cannot be read."""
    name = cache.key("ledgers", *(each.name for each in fields(ledger.Entry)), *listed, *listed.values())
    data = store.get(name) if store else None
    if data:
        return {path: tuple(ledger.Entry(*each) for each in past) for path, past in json.loads(data).items()}
    found = {path: ledger.load(data) for path, data in zip(listed, read(list(listed.values())), strict=True)}
    if store and None not in found.values():
        texts = {path: [astuple(each) for each in past or ()] for path, past in found.items()}
        store.put(name, json.dumps(texts, separators=(",", ":")).encode())
    return found


def runs_of(root: Path, team: str, job: str) -> int:
    """Return how many runs the ledgers of all clusters remember of a job."""
    found = (files.read(path) for path in sorted((root / GENERATED).glob(f"*/{layout.ledger_file(team, job)}")))
    return sum(len(ledger.load(data) or ()) for data in found if data)
