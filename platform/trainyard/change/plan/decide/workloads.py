"""A cluster as Kueue knows it on one side of a change, and what the runs there ask of it, told from their objects."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from trainyard.base.memory import Memory
from trainyard.base.system import reads
from trainyard.base.system.cache import key
from trainyard.base.system.repository import cluster_file, team_file
from trainyard.change.plan.read.two_sides import Sides, files_of, plain
from trainyard.judge.admission.empty_nodes import alike, is_social
from trainyard.judge.admission.job_workloads import Bid, bare, bid
from trainyard.judge.admission.site import OWN, READ, RUNTIMES, Site, admits, rendered
from trainyard.render.tree.ledger import Entry
from trainyard.render.tree.ledgers import JobKey
from trainyard.render.tree.snapshot import Snapshot
from trainyard.specs import namespaces
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.reading import document

KINDS = frozenset(runtime.lower() for runtime in {*READ, *OWN, *RUNTIMES, "Queue"})
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
    """Return the cluster as Kueue sees it before and after, None where it has no queues or they are unknown.

    `known` are the clusters at hand, as far as they were read before.
    """
    base, now = models(sides, name, known)
    after = site(sides.now, name, now, memory)
    if base is now and object_files(sides.base, name) == object_files(sides.now, name):
        return after, after
    return site(sides.base, name, base, memory), after


def models(sides: Sides, name: str, known: Mapping[str, Cluster]) -> tuple[Cluster | None, Cluster | None]:
    """Return a cluster as its file says it before and after, None where that is not right; one, if it is the same."""
    now = known.get(name) or model(lambda file: sides.spec(file)[1], name)
    if is_said_alike(sides, name, now):
        return now, now
    return model(lambda file: sides.spec(file)[0], name), now


def is_said_alike(sides: Sides, name: str, cluster: Cluster | None) -> bool:
    """Whether the files of a cluster and of its teams say the same before and after, as far as it is about Kueue."""
    old, new = sides.spec(cluster_file(name))
    if old != new or cluster is None:
        return old == new
    texts = (sides.spec(team_file(team)) for team in cluster.teams())
    return all(one == two or namespaces.said_for(one, name) == namespaces.said_for(two, name) for one, two in texts)


def is_as_it_was(sides: Sides, name: str) -> bool:
    """Whether nothing by which Kueue decides on a cluster changes, its runs apart."""
    old, new = sides.spec(cluster_file(name))
    return old == new and object_files(sides.base, name) == object_files(sides.now, name)


def model(read: Callable[[str], bytes | None], name: str) -> Cluster | None:
    """Return a cluster as its file and those of its teams say it, None where that is not right."""
    data = read(cluster_file(name))
    source = document.read(cluster_file(name), data)[0] if data is not None else None
    cluster = document.validate(Cluster, source)[0] if source is not None else None
    if cluster is None:
        return None
    said = {team: namespaces.said_for(read(team_file(team)), name) for team in cluster.teams()}
    return cluster.with_namespaces({team: space for team, space in said.items() if space})


def site(side: Snapshot, name: str, cluster: Cluster | None, memory: Memory) -> Site | None:
    """Return the cluster as Kueue sees it on one side."""
    if cluster is None or not admits(cluster):
        return None
    places = object_files(side, name)

    def values() -> list[Any]:
        with reads.apart():  # a tree is known by its contents
            texts = list(side.read(list(places.values())))
        return [plain(data, path) for path, data in zip(places, texts, strict=True)]

    found = memory.remember(values, "objects", *places.values())
    return rendered(name, cluster, [document for document in found if isinstance(document, dict)])


def object_files(side: Snapshot, cluster: str) -> dict[str, str]:
    """Return the files, but for those of runs, of the objects by which Kueue decides, by path with their ids."""
    tops = (f"{cluster}/platform/", f"{cluster}/teams/")
    found = (item for item in side.of_cluster(cluster).items() if item[0].startswith(tops))
    return {path: oid for path, oid in sorted(found) if path.rpartition("/")[2].partition(".")[0] in KINDS}


def bids(side: Snapshot, where: Site, memory: Memory) -> list[Seen]:
    """Return the Workloads of a cluster's active runs; runs that were seen before are not read."""
    parts = ("bids", json.dumps(where.config, sort_keys=True), *object_files(side, where.name).values())
    known, told = memory.table(*parts), []
    for place, entry in runs_of(side, where.name):
        oids = sorted(files_of(side, place, entry).values())
        name = key(*oids)
        workloads, beside, why, gang, pods, asks = known.of(name, partial(workload_facts, side, oids, where))
        told.append(Seen(f"{place[1]}/{place[2]}", workloads, (), beside, why, gang, side, tuple(oids), pods, asks))
    known.save(unused=True)
    return told


def workload_facts(side: Snapshot, oids: list[str], where: Site) -> list[Any]:
    """Return the fields of what a run asks for that is remembered: those of a bid, its pods, and what it asks."""
    made = read_bid(side, oids, where)
    return [list(map(bare, made.workloads)), list(made.beside), made.why, made.gang, key(alike(made)), made.shape]


def read_bid(side: Snapshot, oids: Sequence[str], where: Site, name: str = "") -> Bid:
    """Return the Workloads of a run with all fields of its objects."""
    with reads.apart():  # a tree is known by its contents
        texts = list(side.read(oids))
    values = [value for text in texts if isinstance(value := plain(text, ""), dict)]
    return bid(name, values, where.objects, where)


def complete_bids(bids: Iterable[Seen], where: Site) -> Iterator[Bid]:
    """Yield the Workloads of runs with all fields by which nodes decide; of runs with the same pods one is read.

    Pods that look at the labels of others are read by themselves.
    """
    known: dict[str, Bid] = {}
    for one_bid in bids:
        if one_bid.pods not in known or is_social(known[one_bid.pods]):
            known[one_bid.pods] = read_bid(one_bid.side, one_bid.files, where, one_bid.name)
            yield known[one_bid.pods]
        else:
            yield with_pods(one_bid, known[one_bid.pods])


def with_pods(bid: Seen, other: Bid) -> Bid:
    """Return the Workloads of a run, with the equal pods of another run."""
    pairs = zip(bid.workloads, other.workloads, strict=True)
    workloads = [{**mine, "spec": {**mine["spec"], "podSets": its["spec"]["podSets"]}} for mine, its in pairs]
    return Bid(bid.name, workloads, other.owners, other.beside, bid.why, bid.gang)


def runs_of(side: Snapshot, cluster: str) -> Iterator[tuple[JobKey, Entry]]:
    """Yield the active runs of a cluster, by team and job."""
    mine = ((place, entry) for place, entry in side.active.items() if place[0] == cluster)
    yield from sorted(mine, key=lambda item: item[0])
