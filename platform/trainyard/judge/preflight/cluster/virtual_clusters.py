"""Whether virtual clusters have what they need: a release, a team, room on a pool, and a disk."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, count_of, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.cluster.overcommit import holders
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators.install import sites
from trainyard.render.parts.held import held_nodes
from trainyard.render.parts.virtual_clusters import CLUSTERS, LEAST_MEMORY, OPERATOR, namespace
from trainyard.render.sizing.gpus import offered_gpus
from trainyard.render.sizing.node import size
from trainyard.specs import Cluster
from trainyard.specs.models.virtual_clusters import VirtualCluster
from trainyard.specs.releases import release
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

DOCS = "docs/virtual-clusters.md"

OWN_PODS = 2
"""Pods that a virtual cluster has without its team: its control plane and DNS, one of each."""

VIRTUAL = Rule(
    id="spec/virtual-cluster",
    title="A virtual cluster has its operator, a team of the cluster, a namespace of its own, and an API server.",
    why="otherwise nobody runs it, nobody has access to it, or its image does not exist",
    fix="add the operator, name a team that a queue admits, or use a minor version of Kubernetes that vCluster has",
    source=f"loft-sh/vcluster v0.36.1 config/default_extra_values.go; {DOCS}",
)
ROOM = Rule(
    id="spec/virtual-cluster-room",
    title="Virtual clusters and services of NVIDIA NIM take no more of a pool than it has.",
    why="a ResourceQuota promises these GPUs, CPUs and bytes, and pods beyond the machines stay pending for ever",
    fix="lower gpus, cpus or memory, or name a pool with more room",
    source=f"loft-sh/vcluster v0.36.1 pkg/controllers/resources/pods/syncer.go; {DOCS}",
)
STATE = Rule(
    id="spec/virtual-cluster-storage",
    title="The state of a virtual cluster is on a class of the cluster that gives a pod a disk of its own.",
    why="it is a database in a file: on a file system of many nodes its locks and writes can be lost, with all objects",
    fix="name a class with access ReadWriteOnce",
    source=f"loft-sh/vcluster v0.36.1 chart/values.yaml backingStore; sqlite.org useovernet.html; {DOCS}",
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield virtual clusters that cannot run, each problem at its field, and an operator without any."""
    if OPERATOR in cluster.operators and not cluster.virtual_clusters and cluster.simulated is None:
        message = (
            f"{OPERATOR} is installed for each virtual cluster, but virtualClusters has none; add one, or remove it"
        )
        yield VIRTUAL.at(source, ("operators", OPERATOR), message, key=True)
    if cluster.virtual_clusters and OPERATOR not in cluster.operators:
        message = f"virtualClusters needs {OPERATOR}, which runs them; add it to operators"
        yield VIRTUAL.at(source, (CLUSTERS,), message, key=True)
    for name, one in cluster.virtual_clusters.items():
        at = (CLUSTERS, name)
        yield from check_team(cluster, source, at, one)
        yield from check_release(cluster, source, at, one)
        yield from check_pool(cluster, source, at, one)
        yield from check_storage(cluster, source, at, one)
    for pool in {one.pool: None for one in cluster.virtual_clusters.values()}:
        yield from check_room(cluster, source, pool)


def check_team(cluster: Cluster, source: Source, at: Path, one: VirtualCluster) -> Iterator[Finding]:
    """Yield a team that the cluster does not admit, and a namespace that is a team's already."""
    teams, space = cluster.teams(), namespace(str(at[1]))
    if one.team not in teams:
        yield VIRTUAL.at(source, (*at, "team"), f"no queue admits team {one.team!r}; {did_you_mean(one.team, teams)}")
    if (other := cluster.team_in(space)) is not None:
        message = f"its namespace {space!r} is that of team {other!r}; rename the virtual cluster"
        yield VIRTUAL.at(source, at, message, key=True)


def check_release(cluster: Cluster, source: Source, at: Path, one: VirtualCluster) -> Iterator[Finding]:
    """Yield a minor version of which vCluster has no image."""
    site = next((site for site in sites(cluster) if site.name == OPERATOR), None)
    facts, minor = release(OPERATOR), one.kubernetes or cluster.minor
    if site is None or facts is None or f"kubernetes-{minor}" in site.components:
        return
    has = [key.removeprefix("kubernetes-") for key in site.components if key.startswith("kubernetes-")]
    message = f"vcluster {site.version} has no Kubernetes {minor} for it; set kubernetes to {' or '.join(has)}"
    yield VIRTUAL.at(source, (*at, "kubernetes") if one.kubernetes else at, message, key=one.kubernetes is None)


def check_pool(cluster: Cluster, source: Source, at: Path, one: VirtualCluster) -> Iterator[Finding]:
    """Yield a pool that does not exist, GPUs that its nodes do not have whole, and too little for a control plane."""
    pool = cluster.pools.get(one.pool)
    if pool is None:
        message = f"pool {one.pool!r} does not exist; {did_you_mean(one.pool, cluster.pools)}"
        yield VIRTUAL.at(source, (*at, "pool"), message)
    elif one.gpus and is_known_shape(pool.shape) and not offered_gpus(pool):
        message = f"gpus is {one.gpus}, but nodes of pool {one.pool!r} offer no whole GPUs; use 0, or another pool"
        yield ROOM.at(source, (*at, "gpus"), message)
    if size(one.memory) < size(LEAST_MEMORY):
        message = f"memory is {one.memory}, of which control plane and DNS take 4266Mi; use {LEAST_MEMORY} at least"
        yield ROOM.at(source, (*at, "memory"), message)
    if one.pods <= OWN_PODS:
        message = f"pods is {one.pods}, of which control plane and DNS take {OWN_PODS}; use {OWN_PODS + 1} at least"
        yield ROOM.at(source, (*at, "pods"), message)


def check_storage(cluster: Cluster, source: Source, at: Path, one: VirtualCluster) -> Iterator[Finding]:
    """Yield a class that does not exist, makes no volumes or is a file system of many nodes, and a size of zero."""
    if not size(one.size):
        yield STATE.at(source, (*at, "size"), f"size is {one.size}, but the state needs a volume; use 10Gi")
    storage = cluster.storage.get(one.storage)
    if storage is None:
        message = f"storage {one.storage!r} does not exist; {did_you_mean(one.storage, cluster.storage)}"
        yield STATE.at(source, (*at, "storage"), message)
    elif storage.exports:
        yield STATE.at(
            source, (*at, "storage"), f"storage {one.storage!r} has exports, so it makes no volumes; name another"
        )
    elif storage.access != "ReadWriteOnce":
        message = (
            f"storage {one.storage!r} is {storage.access}, but its state needs a disk; name one with ReadWriteOnce"
        )
        yield STATE.at(source, (*at, "storage"), message)


def check_room(cluster: Cluster, source: Source, name: str) -> Iterator[Finding]:
    """Yield a pool of which virtual clusters and services hold more than it has, at the last virtual cluster of it."""
    pool = cluster.pools.get(name)
    if pool is None or not is_known_shape(pool.shape):
        return
    held, there = held_nodes(cluster, name), Fraction(pool.nodes - pool.spares)
    if held > there:
        *others, last = holders(cluster, name)
        message = (
            f"virtual clusters and services hold {float(held):.4g} nodes of pool {name!r}, which has "
            f"{count_of(int(there), 'node')}; lower gpus, cpus or memory"
        )
        yield ROOM.at(source, last, message, shared=[*others, ("pools", name, "nodes")])
