"""All ledgers of a tree: read from their files, or remembered under the ids of the files' contents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

from trainyard.base.memory import NOTHING_KNOWN, Memory
from trainyard.base.system import files, reads
from trainyard.base.system.repository import GENERATED
from trainyard.render.tree import layout, ledger

JobKey = tuple[str, str, str]
"""Cluster, team and job."""

Read = Callable[[Sequence[str]], Iterator[bytes]]
"""Contents by their ids, in order."""


Ledgers = Mapping[JobKey, tuple[ledger.Entry, ...]]

NOTHING: tuple[Mapping[str, str], Ledgers] = ({}, {})


def read_ledgers(
    found: Mapping[str, str],
    read: Read,
    memory: Memory = NOTHING_KNOWN,
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
    for cluster in clusters.values():
        for path, entries in _entries(cluster, read, memory).items():
            if entries is None:
                broken.append(path)
            else:
                ledgers[keys[path]] = entries
    return ledgers, broken


def _entries(listed: Mapping[str, str], read: Read, memory: Memory) -> Mapping[str, tuple[ledger.Entry, ...] | None]:
    """Return the entries of one cluster's ledgers, by path; None where one cannot be read."""

    def loaded() -> dict[str, list[tuple[Any, ...]] | None]:
        with reads.apart():  # a tree is known by its contents
            texts = list(read(list(listed.values())))
        found = {path: ledger.load(data) for path, data in zip(listed, texts, strict=True)}
        return {path: None if past is None else [astuple(entry) for entry in past] for path, past in found.items()}

    found = memory.remember(loaded, "ledgers", *listed, *listed.values())
    return {
        path: None if past is None else tuple(ledger.Entry(*entry) for entry in past) for path, past in found.items()
    }


def runs_of(root: Path, team: str, job: str) -> int:
    """Return how many runs the ledgers of all clusters remember of a job."""
    found = (files.read(path) for path in sorted((root / GENERATED).glob(f"*/{layout.ledger_file(team, job)}")))
    return sum(len(ledger.load(data) or ()) for data in found if data)
