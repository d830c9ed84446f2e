"""Whether the quotas of a pool are above its machines: what is admitted beyond them waits with its quota taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, count_of
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.parts import virtual_clusters
from trainyard.render.parts.held import held_nodes
from trainyard.render.parts.nim import held_gpus
from trainyard.render.sizing.node import size
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.pools import Pool
from trainyard.specs.models.queues import Quota
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

OVERCOMMIT = Rule(
    id="kq-overcommit",
    title="The quotas of a pool are at most what its nodes without spares have, unless the cluster's file waives this.",
    why="Kueue admits jobs that no node has room for: their pods stay pending and hold quota that others could use",
    fix="lower the quotas, raise the pool's nodes, or write waive: {kq-overcommit: <reason>} in the cluster's file",
    source="kubernetes-sigs/kueue v0.19.2 pkg/cache/scheduler/clusterqueue_snapshot.go",
    layer="queueing",
    may_waive=True,
)

SHOWN = 3
"""So many queues stand in a sentence; the others are counted."""


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield quotas of one queue or cohort above its pool, and else those of all together, at the last of them.

    Whoever changed another of these quotas, or the pool's nodes, has it there.
    """
    for name, pool in cluster.pools.items():
        if not is_known_shape(pool.shape):
            continue
        parts = [(path, quota, nodes(pool, quota)) for path, quota in quotas(cluster, name)]
        there = nodes_for_quotas(cluster, name)
        beyond = [part for part in parts if max(part[2]) > there]
        for path, quota, part in beyond:
            has = quota_words(pool, quota, there) + spared(cluster, name)
            message = f"quota is {quota_words(pool, quota, max(part))} of pool {name!r}, which has {has}; lower it"
            places = [("pools", name, "nodes"), *holders(cluster, name)]
            yield OVERCOMMIT.at(source, path, message, shared=places)
        total = max(
            (sum(amounts, Fraction()) for amounts in zip(*(part[2] for part in parts), strict=True)), default=Fraction()
        )
        if parts and total > there and not beyond:
            message = (
                f"{owners([path for path, _, _ in parts])} need {float(total):.4g} nodes of pool {name!r}, which has "
                f"{float(there):.4g}{spared(cluster, name)}; lower a quota, or waive this"
            )
            places = [*(path for path, _, _ in parts), ("pools", name, "nodes"), *holders(cluster, name)]
            yield OVERCOMMIT.at(source, parts[-1][0], message, shared=places)


def holders(cluster: Cluster, pool: str) -> list[Path]:
    """Return the places of the services and virtual clusters that hold a part of a pool."""
    services = cluster.nim.services if cluster.nim else {}
    places: list[Path] = [("nim", "services", name, "pool") for name, one in services.items() if one.pool == pool]
    return [*places, *(("virtualClusters", name, "pool") for name, _ in virtual_clusters.of_pool(cluster, pool))]


def owners(paths: Sequence[Path]) -> str:
    """Return the queues and cohorts of quotas, three by name and the others counted."""
    names = [f"{'queue' if path[0] == 'queues' else 'cohort'} {path[1]!r}" for path in paths]
    if len(names) > SHOWN:
        names = [*names[:SHOWN], f"{len(names) - SHOWN} more"]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def nodes_for_quotas(cluster: Cluster, name: str) -> Fraction:
    """Return how many machines of a pool quotas may take: those without spares and what services and others hold."""
    pool = cluster.pools[name]
    return pool.nodes - pool.spares - held_nodes(cluster, name)


def spared(cluster: Cluster, name: str) -> str:
    """Return in words what a pool has beside the nodes of its quotas: spares, and shares of services and others."""
    pool, held = cluster.pools[name], held_gpus(cluster, name)
    parts = [count_of(pool.spares, "spare")] if pool.spares else []
    parts += [f"{count_of(held, 'GPU')} of nim services"] if held else []
    for virtual, one in virtual_clusters.of_pool(cluster, name):
        share = f"{float(virtual_clusters.held_nodes(pool, one)):.4g}"
        parts.append(f"{share} of its nodes for virtual cluster {virtual!r}")
    return f" beside {' and '.join(parts)}" if parts else ""


def quotas(cluster: Cluster, pool: str) -> Iterator[tuple[Path, Quota]]:
    """Yield every nominal quota of a pool, with its place."""
    for name, queue in cluster.queues.items():
        if pool in queue.nominal_quota:
            yield ("queues", name, "nominalQuota", pool), queue.nominal_quota[pool]
    for name, cohort in cluster.cohorts.items():
        if pool in cohort.nominal_quota:
            yield ("cohorts", name, "nominalQuota", pool), cohort.nominal_quota[pool]


def nodes(pool: Pool, quota: Quota) -> tuple[Fraction, Fraction, Fraction]:
    """Return of how many whole machines a quota takes the GPUs, the CPUs and the memory, the system's own included."""
    if quota.gpus is not None:
        part = Fraction(quota.gpus, pool.node.gpus.count) if pool.node.gpus else Fraction()
        return part, part, part
    if quota.nodes is not None:
        part = Fraction(quota.nodes)
        return part, part, part
    memory = Fraction(size(quota.memory or "0"), size(pool.node.memory))
    return Fraction(), Fraction(quota.cpus or 0, pool.node.cpus), memory


def quota_words(pool: Pool, quota: Quota, part: Fraction) -> str:
    """Write so many machines in a quota's own words."""
    if quota.gpus is not None and pool.node.gpus:
        return f"{int(part * pool.node.gpus.count)} GPUs"
    return f"{float(part):.4g} nodes"
