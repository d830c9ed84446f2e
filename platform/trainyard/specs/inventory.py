"""What a cluster says about itself must agree: pools, racks, queues, quotas, cohorts, fabric and admitted teams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.documents import Path, format_path
from trainyard.findings import Finding, did_you_mean
from trainyard.specs.models.cluster import Cluster, Fabric, Pool, Quota
from trainyard.specs.shapes import Shape, names
from trainyard.specs.sources import Source, Specs

POOL_LABEL = "trainyard.dev/pool"

HOSTNAME = "kubernetes.io/hostname"

ATTACHED_BY = {
    "sriov": ("sriov-network-operator", "network-operator"),
    "hostdev": ("network-operator",),
    "macvlan": ("multus", "network-operator"),
    "rdma-shared": ("network-operator",),
}
"""Operators of which one must be there for a way of attaching pods to the fabric."""


def check(specs: Specs, *, broken: frozenset[str] = frozenset()) -> Iterator[Finding]:
    """Yield what is wrong inside each cluster and between it and teams; `broken` are specs that could not be read."""
    for name, cluster in specs.clusters.items():
        declared = Declared(cluster, specs.sources[f"cluster/{name}"])
        for part in (declared.pools, declared.levels, declared.queues, declared.cohorts, declared.fabric):
            yield from part()
        yield from declared.teams({*specs.teams, *(key.removeprefix("team/") for key in broken)})
    yield from destinations(specs)


def destinations(specs: Specs) -> Iterator[Finding]:
    """Yield clusters that Argo CD would reach at one address, where they would overwrite each other."""
    seen: dict[tuple[str | None, str | None], str] = {}
    for name, cluster in sorted(specs.clusters.items()):
        where = cluster.argocd.destination
        first = seen.setdefault((where.name, where.server), name)
        local = where.server == "https://kubernetes.default.svc"
        if first != name and not local:
            message = f"cluster {name!r} has the destination of cluster {first!r}; write its own name or server"
            declared = Declared(cluster, specs.sources[f"cluster/{name}"])
            yield declared.problem("destination", ("argocd", "destination"), message)


@dataclass(frozen=True, slots=True)
class Declared:
    """A cluster and where it was written."""

    cluster: Cluster
    source: Source

    def problem(self, rule: str, path: Path, message: str, *, key: bool = False) -> Finding:
        """Return a finding at a field of the cluster."""
        return Finding(f"spec/{rule}", "spec", message, self.source.location(path, key=key), path=format_path(path))

    def pools(self) -> Iterator[Finding]:
        """Yield pools whose shape does not exist or contradicts itself, and labels that are not theirs to set."""
        for name, pool in self.cluster.pools.items():
            path: Path = ("pools", name)
            for label in pool.labels:
                if label in {POOL_LABEL, *self.cluster.levels.values()}:
                    message = f"label {label!r} is set by Trainyard or differs from node to node; remove it"
                    yield self.problem("pool-label", (*path, "labels", label), message, key=True)
            if not known(pool):
                message = f"shape {pool.shape!r} does not exist; {did_you_mean(str(pool.shape), names(), limit=6)}"
                yield self.problem("unknown-shape", (*path, "shape"), message)
                continue
            if isinstance(pool.shape, Shape):
                yield from self.shape((*path, "shape"), pool.shape)
            if pool.pci and len(pool.pci) != len(pool.node.nics):
                message = (
                    f"pci has {len(pool.pci)} addresses, but a node has {len(pool.node.nics)} NICs; list one for each"
                )
                yield self.problem("pci", (*path, "pci"), message)

    def shape(self, path: Path, shape: Shape) -> Iterator[Finding]:
        """Yield devices of a spelled-out shape that hang on no NUMA node, on two, or do not exist."""
        if not shape.numa:
            return
        for field, count in (("gpus", shape.gpus.count if shape.gpus else 0), ("nics", len(shape.nics))):
            listed = sorted(index for numa in shape.numa for index in getattr(numa, field))
            if listed != list(range(count)):
                message = f"numa lists {field} {listed}, but the node has {count}; list each index from 0 once"
                yield self.problem("numa-devices", (*path, "numa"), message)

    def levels(self) -> Iterator[Finding]:
        """Yield topology levels that repeat one another, and pools whose nodes do not split evenly over them."""
        seen: dict[str, str] = {"hostname": HOSTNAME}
        for index, entry in enumerate(self.cluster.topology):
            for level, label in entry.items():
                if level == "hostname":
                    yield self.problem(
                        "topology", ("topology", index), "level 'hostname' is added by itself; remove it"
                    )
                elif level in seen or label in seen.values():
                    what = f"level {level!r}" if level in seen else f"label {label!r}"
                    message = f"{what} stands in the topology twice; remove one"
                    yield self.problem("topology", ("topology", index, level), message, key=level in seen)
                seen[level] = label
        for name, pool in self.cluster.pools.items():
            yield from self.split(("pools", name), pool, seen)

    def split(self, path: Path, pool: Pool, levels: dict[str, str]) -> Iterator[Finding]:
        """Yield racks that do not divide the nodes, blocks that do not divide the racks, and both without a level."""
        if pool.nodes % pool.racks:
            message = f"nodes is {pool.nodes}, which {pool.racks} racks do not share evenly; change nodes or racks"
            yield self.problem("racks", (*path, "racks"), message)
        if pool.racks % pool.blocks:
            message = f"racks is {pool.racks}, which {pool.blocks} blocks do not share evenly; change racks or blocks"
            yield self.problem("blocks", (*path, "blocks"), message)
        for field, count in (("rack", pool.racks), ("block", pool.blocks)):
            if count > 1 and field not in levels:
                message = f"{field}s is {count}, but topology has no level {field!r}; add it with its node label"
                yield self.problem("topology-level", (*path, f"{field}s"), message)

    def queues(self) -> Iterator[Finding]:
        """Yield quotas of pools that do not exist or cannot have them, and limits that no cohort gives a meaning."""
        for name, queue in self.cluster.queues.items():
            path: Path = ("queues", name)
            for field in ("nominalQuota", "borrowingLimit", "lendingLimit"):
                quotas = {"nominalQuota": queue.nominal_quota, "borrowingLimit": queue.borrowing_limit}
                limits = quotas.get(field, queue.lending_limit)
                yield from self.quotas((*path, field), limits)
                if field == "nominalQuota":
                    continue
                if limits and queue.cohort is None:
                    yield self.problem(
                        "no-cohort", (*path, field), f"{field} needs a cohort to borrow in; add cohort or remove it"
                    )
                for pool in limits:
                    if pool not in queue.nominal_quota:
                        message = (
                            f"{field} names pool {pool!r}, which nominalQuota lacks; add it there, zero if need be"
                        )
                        yield self.problem("no-quota", (*path, field, pool), message, key=True)

    def quotas(self, path: Path, quotas: dict[str, Quota]) -> Iterator[Finding]:
        """Yield quotas of unknown pools, and GPUs of pools that have none."""
        for name, quota in quotas.items():
            pool = self.cluster.pools.get(name)
            if pool is None:
                message = f"pool {name!r} does not exist; {did_you_mean(name, self.cluster.pools)}"
                yield self.problem("unknown-pool", (*path, name), message, key=True)
            elif quota.gpus is not None and known(pool) and pool.node.gpus is None:
                message = f"gpus is {quota.gpus}, but pool {name!r} has none; write nodes, or cpus with memory"
                yield self.problem("quota", (*path, name, "gpus"), message)

    def cohorts(self) -> Iterator[Finding]:
        """Yield cohorts whose parents run in a circle, which overflows Kueue's stack (v0.19.2 pkg/cache/hierarchy)."""
        for name, cohort in self.cluster.cohorts.items():
            yield from self.quotas(("cohorts", name, "nominalQuota"), cohort.nominal_quota)
            above, seen = cohort.parent, {name}
            while above is not None and above not in seen:
                seen.add(above)
                above = self.cluster.cohorts[above].parent if above in self.cluster.cohorts else None
            if above == name:
                message = f"cohort {name!r} is its own ancestor; give one of the circle another parent"
                yield self.problem("cohort-circle", ("cohorts", name, "parent"), message)

    def fabric(self) -> Iterator[Finding]:
        """Yield pools that are not on the fabric, and a way of attaching that no operator of the cluster provides."""
        fabric = self.cluster.fabric
        if fabric is None:
            return
        for index, name in enumerate(fabric.pools):
            pool = self.cluster.pools.get(name)
            if pool is None:
                message = f"pool {name!r} does not exist; {did_you_mean(name, self.cluster.pools)}"
                yield self.problem("unknown-pool", ("fabric", "pools", index), message)
            elif known(pool) and not pool.node.nics and fabric.attach != "none":
                message = f"pool {name!r} has no NICs in its shape; remove it, or spell its shape out with nics"
                yield self.problem("fabric-nics", ("fabric", "pools", index), message)
        yield from self.attachment(fabric)

    def attachment(self, fabric: Fabric) -> Iterator[Finding]:
        """Yield a way of attaching pods that no operator of the cluster provides."""
        wanted = ATTACHED_BY.get(fabric.attach, ())
        if wanted and not any(name in self.cluster.operators for name in wanted):
            message = f"attach is {fabric.attach!r}, which needs an operator; add {' or '.join(wanted)}"
            yield self.problem("fabric-attach", ("fabric", "attach"), message)

    def teams(self, known_teams: set[str]) -> Iterator[Finding]:
        """Yield admitted teams that do not exist."""
        for name, queue in self.cluster.queues.items():
            for index, team in enumerate(queue.teams):
                if team not in known_teams:
                    message = f"team {team!r} has no file in platform/teams; {did_you_mean(team, known_teams)}"
                    yield self.problem("unknown-team", ("queues", name, "teams", index), message)


def known(pool: Pool) -> bool:
    """Whether the pool's shape exists."""
    return isinstance(pool.shape, Shape) or pool.shape in names()
