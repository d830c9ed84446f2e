"""What all active runs of a tree ask for, of their queues and on empty clusters, whether they ended long ago or not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from trainyard.base.memory import Memory, Table
from trainyard.base.pools import Selectors
from trainyard.base.system import reads
from trainyard.base.system.cache import key
from trainyard.change.plan.effects import Rebuild
from trainyard.change.plan.read.shape import shape
from trainyard.change.plan.read.two_sides import Sides, files_of, plain
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


def rebuild(asked: Mapping[JobKey, Asked], rehearsals: Collection[str]) -> Rebuild:
    """Return how many runs a tree would start anew, and on how many GPUs; those of rehearsal clusters do not exist."""
    return Rebuild(len(asked), sum(request.gpus for job, request in asked.items() if job[0] not in rehearsals))


def all_asked(sides: Sides, memory: Memory) -> list[dict[JobKey, Asked]]:
    """Return the requests of every active run of both trees; runs that were seen before are not read.

    It is remembered by cluster, so that little is written for a small change.
    """
    known: dict[str, Table] = {}
    asked: dict[str, Asked] = {}
    told = []
    for side, old in ((sides.base, True), (sides.now, False)):
        here = {}
        selectors: dict[str, Selectors] = {}
        for job, entry in side.active.items():
            cluster = job[0]
            if cluster not in selectors:
                selectors[cluster] = sides.selectors(cluster, old=old)
            oids = tuple(sorted(files_of(side, job, entry).values()))
            labels = [str(sorted((pool, *own.items()) for pool, own in selectors[cluster].items()))]
            parts = (*oids, *(labels if selectors[cluster] else ()))
            name = "".join(parts) if len(parts) < 2 else key(*parts)
            if name not in asked:
                if cluster not in known:
                    known[cluster] = memory.table(ENTRY, cluster)
                asked[name] = Asked(*known[cluster].of(name, partial(of_files, side, oids, selectors[cluster])))
            here[job] = asked[name]
        told.append(here)
    for table in known.values():
        table.save()
    return told


def of_files(side: Snapshot, oids: Sequence[str], selectors: Selectors) -> list[Any]:
    """Return the fields of what a run asks for, by its files."""
    with reads.apart():  # a tree is known by its contents
        texts = list(side.read(oids))
    found = shape([plain(text, "") for text in texts], selectors)
    return [found.gpus, found.queue, {pool: dict(amounts) for pool, amounts in found.asks.items()}]
