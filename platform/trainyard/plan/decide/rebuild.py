"""What all active runs of a tree ask for, of their queues and on empty clusters, whether they ended long ago or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.plan.effects import Rebuild
from trainyard.plan.read.memory import Memory
from trainyard.plan.read.shape import shape
from trainyard.plan.read.sides import files_of, plain
from trainyard.system.cache import key
from trainyard.tree.ledgers import JobKey
from trainyard.tree.snapshot import Snapshot

ENTRY = "what runs ask for"
"""The entry that remembers what a run asks for, by the contents of its files."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What one run asks for, of which queue."""

    gpus: int
    queue: str
    pools: Mapping[str, Mapping[str, float]]
    """By pool and resource."""


def rebuild(asked: Mapping[JobKey, Asked]) -> Rebuild:
    """Return how many runs a tree would start anew, and on how many GPUs."""
    return Rebuild(len(asked), sum(each.gpus for each in asked.values()))


def all_asked(sides: Iterable[Snapshot], memory: Memory) -> list[dict[JobKey, Asked]]:
    """Return what every active run of some trees asks for; runs that were seen before are not read.

    It is remembered by cluster, so that little is written for a small change.
    """
    known: dict[str, dict[str, Any]] = {}
    found: dict[str, dict[str, Any]] = {}
    asked: dict[tuple[str, ...], Asked] = {}
    told = []
    for side in sides:
        here = {}
        for job, entry in side.active.items():
            oids = tuple(sorted(files_of(side, job, entry).values()))
            if oids not in asked:
                cluster = job[0]
                if cluster not in known:
                    known[cluster], found[cluster] = memory.get(ENTRY, cluster) or {}, {}
                name = "".join(oids) if len(oids) < 2 else key(*oids)
                before = known[cluster].get(name)
                found[cluster][name] = of_texts(side.read(oids)) if before is None else before
                asked[oids] = Asked(*found[cluster][name])
            here[job] = asked[oids]
        told.append(here)
    for cluster, each in found.items():
        if each.keys() != known[cluster].keys():
            memory.put(each, ENTRY, cluster)
    return told


def of_texts(texts: Iterable[bytes]) -> list[Any]:
    """Return the fields of what a run asks for, by its files."""
    found = shape([plain(text, "") for text in texts])
    return [found.gpus, found.queue, {pool: dict(amounts) for pool, amounts in found.asks.items()}]
