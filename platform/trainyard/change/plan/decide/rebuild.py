"""What all active runs of a tree ask for, of their queues and on empty clusters, whether they ended long ago or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from trainyard.base.memory import Memory, Table
from trainyard.base.system import reads
from trainyard.base.system.cache import key
from trainyard.change.plan.effects import Rebuild
from trainyard.change.plan.read.shape import shape
from trainyard.change.plan.read.two_sides import files_of, plain
from trainyard.render.tree.ledgers import JobKey
from trainyard.render.tree.snapshot import Snapshot

ENTRY = "requests of runs"
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
    return Rebuild(len(asked), sum(request.gpus for request in asked.values()))


def all_asked(sides: Iterable[Snapshot], memory: Memory) -> list[dict[JobKey, Asked]]:
    """Return the requests of every active run of some trees; runs that were seen before are not read.

    It is remembered by cluster, so that little is written for a small change.
    """
    known: dict[str, Table] = {}
    asked: dict[tuple[str, ...], Asked] = {}
    told = []
    for side in sides:
        here = {}
        for job, entry in side.active.items():
            oids = tuple(sorted(files_of(side, job, entry).values()))
            if oids not in asked:
                cluster = job[0]
                if cluster not in known:
                    known[cluster] = memory.table(ENTRY, cluster)
                name = "".join(oids) if len(oids) < 2 else key(*oids)
                asked[oids] = Asked(*known[cluster].of(name, partial(of_files, side, oids)))
            here[job] = asked[oids]
        told.append(here)
    for table in known.values():
        table.save()
    return told


def of_files(side: Snapshot, oids: Sequence[str]) -> list[Any]:
    """Return the fields of what a run asks for, by its files."""
    with reads.apart():  # a tree is known by its contents
        texts = list(side.read(oids))
    found = shape([plain(text, "") for text in texts])
    return [found.gpus, found.queue, {pool: dict(amounts) for pool, amounts in found.asks.items()}]
