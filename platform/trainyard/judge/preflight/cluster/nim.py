"""Whether services of NVIDIA NIM have what they need: an operator, a team, GPUs of a pool, and a volume."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, count_of, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.parts.nim import OPERATOR, namespace
from trainyard.render.sizing.gpus import offered_gpus
from trainyard.specs import Cluster
from trainyard.specs.models.nim import NimService
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

SERVICE = Rule(
    id="spec/nim-service",
    title="Services of NVIDIA NIM have their operator, a team of the cluster, and nodes with enough GPUs.",
    why="otherwise nobody makes their pods, or these stay pending for ever",
    fix="add the operator, or name a team and a pool of the cluster whose nodes have so many whole GPUs",
    source="NVIDIA/k8s-nim-operator v3.1.2 api/apps/v1alpha1/nimservice_types.go; docs/beside-training.md",
)
VOLUME = Rule(
    id="spec/nim-storage",
    title="The model of a service is on a class of the cluster that as many nodes can mount as it may have pods on.",
    why="a claim of an unknown class stays pending, and pods on a second node wait for a disk of the first for ever",
    fix="name a class with access ReadWriteMany, or set replicas to 1",
    source="NVIDIA/k8s-nim-operator v3.1.2 internal/controller/nimcache_controller.go; docs/beside-training.md",
)
LONGEST = 63


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield services that cannot run, each problem at its field."""
    if cluster.nim is None:
        return
    if OPERATOR not in cluster.operators:
        message = f"nim needs {OPERATOR}, which runs its services; add it to operators"
        yield SERVICE.at(source, ("nim",), message, key=True)
    for name, service in cluster.nim.services.items():
        at = ("nim", "services", name)
        yield from check_team(cluster, source, at, service)
        yield from check_pool(cluster, source, at, service)
        yield from check_storage(cluster, source, at, service)


def check_team(cluster: Cluster, source: Source, at: Path, service: NimService) -> Iterator[Finding]:
    """Yield a team that the cluster does not admit, and a namespace that is another team's or has too long a name."""
    teams, space = cluster.teams(), namespace(cluster, service.team)
    if service.team not in teams:
        message = f"no queue admits team {service.team!r}; {did_you_mean(service.team, teams)}"
        yield SERVICE.at(source, (*at, "team"), message)
    elif (other := cluster.team_in(space)) is not None:
        message = f"namespace {space!r} of the services is that of team {other!r}; rename that"
        yield SERVICE.at(source, (*at, "team"), message)
    elif len(space) > LONGEST:
        message = f"namespace {space[:20]!r}… would have {len(space)} characters, but {LONGEST} are allowed"
        yield SERVICE.at(source, (*at, "team"), f"{message}; use a team whose namespace has a shorter name")


def check_pool(cluster: Cluster, source: Source, at: Path, service: NimService) -> Iterator[Finding]:
    """Yield a pool that does not exist, or whose nodes have too few whole GPUs of NVIDIA."""
    pool = cluster.pools.get(service.pool)
    if pool is None:
        message = f"pool {service.pool!r} does not exist; {did_you_mean(service.pool, cluster.pools)}"
        yield SERVICE.at(source, (*at, "pool"), message)
    elif is_known_shape(pool.shape):
        cards, whole = pool.node.gpus, offered_gpus(pool)
        if cards is None or cards.vendor != "nvidia" or not whole:
            message = f"nodes of pool {service.pool!r} offer no whole GPUs of NVIDIA; name a pool that does"
            yield SERVICE.at(source, (*at, "pool"), message)
        elif service.gpus_per_pod > whole:
            message = f"gpusPerPod is {service.gpus_per_pod}, but nodes of pool {service.pool!r} have "
            yield SERVICE.at(source, (*at, "gpusPerPod"), f"{message}{count_of(whole, 'GPU')}; use {whole} at most")
        elif service.replicas > (room := whole // service.gpus_per_pod * pool.nodes):
            message = (
                f"replicas is {service.replicas}, but pool {service.pool!r} has room for {room}; use {room} at most"
            )
            yield SERVICE.at(source, (*at, "replicas"), message)


def check_storage(cluster: Cluster, source: Source, at: Path, service: NimService) -> Iterator[Finding]:
    """Yield a class that does not exist, and one that pods on several nodes cannot mount."""
    storage = cluster.storage.get(service.storage)
    if storage is None:
        message = f"storage {service.storage!r} does not exist; {did_you_mean(service.storage, cluster.storage)}"
        yield VOLUME.at(source, (*at, "storage"), message)
    elif storage.access != "ReadWriteMany" and service.replicas > 1:
        message = f"{service.replicas} pods cannot share {storage.access} storage {service.storage!r}; "
        yield VOLUME.at(source, (*at, "storage"), f"{message}use one with ReadWriteMany, or 1 replica")
