"""A cluster as Kueue knows it on one side of a change, and what the runs there ask of it, told from their objects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.admission.alone import alike, is_social
from trainyard.admission.bid import Bid, bare, bid
from trainyard.admission.site import OWN, READ, RUNTIMES, Site, admits, rendered
from trainyard.plan.read.memory import Memory
from trainyard.plan.read.sides import Sides, files_of, plain
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.reading import document
from trainyard.system.cache import key
from trainyard.system.repository import cluster_file
from trainyard.tree.ledger import Entry
from trainyard.tree.ledgers import JobKey
from trainyard.tree.snapshot import Snapshot

KINDS = frozenset(each.lower() for each in {*READ, *OWN, *RUNTIMES, "Queue"})
"""Kinds of objects by which Kueue and Volcano decide, as names of files begin."""


EMPTY = Snapshot({})


@dataclass(frozen=True)
class Seen(Bid):
    """What a run asks for that was read at some time, without its objects."""

    side: Snapshot = EMPTY
    files: tuple[str, ...] = ()
    """The ids of its objects on that side."""
    pods: str = ""
    """What is the same for jobs whose pods are the same to Kueue and to nodes."""
    asks: str = ""
    """What is the same for jobs that ask for the same."""

    @property
    def shape(self) -> str:
        """What is the same for jobs that ask for the same."""
        return self.asks


def sites(sides: Sides, name: str, known: Mapping[str, Cluster], memory: Memory) -> tuple[Site | None, Site | None]:
    """Return what Kueue knows of a cluster before and after, None where it has no queues, or where nobody knows them.

    `known` are the clusters at hand, as far as they were read before.
    """
    base, now = models(sides, name, known)
    after = site(sides.now, name, now, memory)
    if base is now and listed(sides.base, name) == listed(sides.now, name):
        return after, after
    return site(sides.base, name, base, memory), after


def models(sides: Sides, name: str, known: Mapping[str, Cluster]) -> tuple[Cluster | None, Cluster | None]:
    """Return a cluster as its file says it before and after, None where that is not right; one, if it is the same."""
    old, new = sides.spec(cluster_file(name))
    now = known.get(name) or model(new, name)
    return now if old == new else model(old, name), now


def is_as_it_was(sides: Sides, name: str) -> bool:
    """Whether nothing by which Kueue decides on a cluster changes, its runs apart."""
    old, new = sides.spec(cluster_file(name))
    return old == new and listed(sides.base, name) == listed(sides.now, name)


def model(data: bytes | None, name: str) -> Cluster | None:
    """Return a cluster as its file says it, None where that is not right."""
    source = document.read(cluster_file(name), data)[0] if data is not None else None
    return document.validate(Cluster, source)[0] if source is not None else None


def site(side: Snapshot, name: str, cluster: Cluster | None, memory: Memory) -> Site | None:
    """Return what Kueue knows of a cluster on one side."""
    if cluster is None or not admits(cluster):
        return None
    places = listed(side, name)
    values = memory.get("objects", *places.values())
    if values is None:
        values = [plain(data, path) for path, data in zip(places, side.read(list(places.values())), strict=True)]
        memory.put(values, "objects", *places.values())
    return rendered(name, cluster, [each for each in values if isinstance(each, dict)])


def listed(side: Snapshot, cluster: str) -> dict[str, str]:
    """Return the files, but for those of runs, of the objects by which Kueue decides, by path with their ids."""
    tops = (f"{cluster}/platform/", f"{cluster}/teams/")
    found = (item for item in side.of_cluster(cluster).items() if item[0].startswith(tops))
    return {path: oid for path, oid in sorted(found) if path.rpartition("/")[2].partition(".")[0] in KINDS}


def bids(side: Snapshot, where: Site, memory: Memory) -> list[Seen]:
    """Return what the active runs of a cluster ask of Kueue; those that were seen before are not read."""
    parts = ("bids", json.dumps(where.config, sort_keys=True), *listed(side, where.name).values())
    known: dict[str, Any] = memory.get(*parts) or {}
    found, told = {}, []
    for place, entry in runs_of(side, where.name):
        oids = sorted(files_of(side, place, entry).values())
        name = key(*oids)
        found[name] = known[name] if name in known else asked(side, oids, where)
        workloads, beside, why, gang, pods, asks = found[name]
        told.append(Seen(f"{place[1]}/{place[2]}", workloads, (), beside, why, gang, side, tuple(oids), pods, asks))
    if found.keys() - known.keys():
        memory.put({**known, **found}, *parts)
    return told


def asked(side: Snapshot, oids: list[str], where: Site) -> list[Any]:
    """Return the fields of what a run asks for that is remembered: those of a bid, its pods, and what it asks."""
    made = whole(side, oids, where)
    return [list(map(bare, made.workloads)), list(made.beside), made.why, made.gang, key(alike(made)), made.shape]


def whole(side: Snapshot, oids: Sequence[str], where: Site, name: str = "") -> Bid:
    """Return what a run asks for, with all that its objects say."""
    values = [value for text in side.read(oids) if isinstance(value := plain(text, ""), dict)]
    return bid(name, values, where.objects, where)


def filled(bids: Iterable[Seen], where: Site) -> Iterator[Bid]:
    """Yield what runs ask for with all by which nodes decide; of those whose pods are alike one is read.

    Pods that look at the labels of others are read by themselves.
    """
    known: dict[str, Bid] = {}
    for each in bids:
        if each.pods not in known or is_social(known[each.pods]):
            known[each.pods] = whole(each.side, each.files, where, each.name)
            yield known[each.pods]
        else:
            yield with_pods(each, known[each.pods])


def with_pods(bid: Seen, other: Bid) -> Bid:
    """Return what a run asks for with the pods of another that are alike."""
    pairs = zip(bid.workloads, other.workloads, strict=True)
    workloads = [{**mine, "spec": {**mine["spec"], "podSets": its["spec"]["podSets"]}} for mine, its in pairs]
    return Bid(bid.name, workloads, other.owners, other.beside, bid.why, bid.gang)


def runs_of(side: Snapshot, cluster: str) -> Iterator[tuple[JobKey, Entry]]:
    """Yield the active runs of a cluster, by team and job."""
    mine = ((place, entry) for place, entry in side.active.items() if place[0] == cluster)
    yield from sorted(mine, key=lambda each: each[0])
