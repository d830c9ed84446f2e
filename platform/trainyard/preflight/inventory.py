"""What a cluster says about its machines must agree: pools, shapes, racks and fabric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.documents import Path
from trainyard.findings import Finding, Severity, did_you_mean
from trainyard.labels import HOSTNAME, POOL
from trainyard.operators import operators
from trainyard.preflight import shares
from trainyard.preflight.placement import POOL as UNKNOWN_POOL
from trainyard.releases import releases
from trainyard.rules import Rule
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.fabric import Fabric
from trainyard.specs.models.pools import Pool
from trainyard.specs.shapes import Shape, known, names
from trainyard.specs.sources import Source, Specs

DOCS = "docs/clusters.md"
KUEUE = "kubernetes-sigs/kueue v0.19.2"

DESTINATION = Rule(
    id="spec/destination",
    title="Every cluster has an address of its own in Argo CD.",
    why="two clusters at one address would overwrite each other's objects for ever",
    fix="write the cluster's own name or server",
    source="argoproj/argo-cd v3.5.1 docs/operator-manual/declarative-setup.md",
)
POOL_LABEL = Rule(
    id="spec/pool-label",
    title="A pool sets no label that Trainyard sets, or that differs from node to node.",
    why="flavors and topologies select nodes by these labels, and would find others or none",
    fix="remove the label",
    source=DOCS,
)
SHAPE = Rule(
    id="spec/unknown-shape",
    title="The shape of a pool is a preset that exists, or spelled out.",
    why="everything that pods ask for follows from the shape of a node",
    fix="name a preset, or spell the shape out",
    source=DOCS,
)
PCI = Rule(
    id="spec/pci",
    title="A pool lists a PCI address or network device for each NIC of its shape, or none.",
    why="they are matched to NICs by their order, so a missing one moves all that follow",
    fix="list one for each NIC, in the shape's order",
    source=DOCS,
)
NUMA = Rule(
    id="spec/numa-devices",
    title="Every GPU and NIC of a shape hangs on one NUMA node.",
    why="the kubelet's alignment is worked out from this, and a device on two nodes or none makes it wrong",
    fix="list each index from 0 once",
    source=DOCS,
)
TOPOLOGY = Rule(
    id="spec/topology",
    title="Every topology level has a name and a node label of its own; hostname is added.",
    why="Kueue refuses a Topology in which a level stands twice",
    fix="remove the level, or correct its label",
    source=f"{KUEUE} apis/kueue/v1beta2/topology_types.go",
)
RACKS = Rule(
    id="spec/racks",
    title="The nodes of a pool split evenly over its racks.",
    why="how many pods fit one rack is worked out from this",
    fix="change nodes or racks",
    source=DOCS,
)
BLOCKS = Rule(
    id="spec/blocks",
    title="The racks of a pool split evenly over its blocks.",
    why="how many pods fit one block is worked out from this",
    fix="change racks or blocks",
    source=DOCS,
)
NO_LEVEL = Rule(
    id="spec/topology-level",
    title="A pool of several racks or blocks has a topology level for them.",
    why="without the level Kueue cannot keep ranks together, and nobody says so",
    fix="add the level with its node label to topology",
    source=DOCS,
)
FABRIC_NICS = Rule(
    id="spec/fabric-nics",
    title="Pools on the fabric have NICs.",
    why="there would be nothing to attach pods by",
    fix="remove the pool, or spell its shape out with nics",
    source=DOCS,
)
FABRIC_ATTACH = Rule(
    id="spec/fabric-attach",
    title="An operator of the cluster attaches pods to the fabric in the way that it says.",
    why="nobody would advertise the NICs, so pods that ask for them stay pending",
    fix="add an operator that can, or correct attach",
    source=DOCS,
)


NO_EFFECT = Rule(
    id="spec/no-effect",
    title="What a field says has an effect.",
    why="who reads it takes it for set, and it is not",
    fix="remove the field, or write what makes it count",
    source="docs/clusters.md",
    severity=Severity.WARNING,
)


def check(cluster: Cluster, source: Source, teams: set[str]) -> Iterator[Finding]:
    """Yield what is wrong inside a cluster, and admitted teams that are not among the known ones."""
    declared = Declared(cluster, source)
    for part in (declared.pools, declared.levels, declared.fabric):
        yield from part()
    yield from shares.check(cluster, source, teams)


def destinations(specs: Specs) -> Iterator[Finding]:
    """Yield clusters that Argo CD would reach at one address, where they would overwrite each other."""
    seen: dict[tuple[str | None, str | None], str] = {}
    for name, cluster in sorted(specs.clusters.items()):
        where = cluster.argocd.destination
        first = seen.setdefault((where.name, where.server), name)
        local = where.server == "https://kubernetes.default.svc"
        if first != name and not local:
            message = f"cluster {name!r} has the destination of cluster {first!r}; write its own name or server"
            yield DESTINATION.at(specs.sources[f"cluster/{name}"], ("argocd", "destination"), message)


@dataclass(frozen=True, slots=True)
class Declared:
    """A cluster and where it was written."""

    cluster: Cluster
    source: Source

    def pools(self) -> Iterator[Finding]:
        """Yield pools whose shape does not exist or contradicts itself, and labels that are not theirs to set."""
        for name, pool in self.cluster.pools.items():
            path: Path = ("pools", name)
            for label in pool.labels:
                if label in {POOL, HOSTNAME, *self.cluster.levels.values()}:
                    message = f"label {label!r} is set by Trainyard or differs from node to node; remove it"
                    yield POOL_LABEL.at(self.source, (*path, "labels", label), message, key=True)
            if pool.notice_seconds is not None and not pool.spot:
                message = "noticeSeconds is for nodes that are taken away; write spot: true, or remove it"
                yield NO_EFFECT.at(self.source, (*path, "noticeSeconds"), message)
            if pool.price_per_gpu_hour is not None and known(pool.shape) and not pool.node.gpus:
                message = f"pricePerGpuHour is of GPUs, and nodes of pool {name!r} have none; remove it"
                yield NO_EFFECT.at(self.source, (*path, "pricePerGpuHour"), message)
            if not known(pool.shape):
                message = f"shape {pool.shape!r} does not exist; {did_you_mean(str(pool.shape), names(), limit=6)}"
                yield SHAPE.at(self.source, (*path, "shape"), message)
                continue
            if isinstance(pool.shape, Shape):
                yield from self.shape((*path, "shape"), pool.shape)
            for field, listed in (("pci", pool.pci), ("interfaces", pool.interfaces)):
                if listed and len(listed) != len(pool.node.nics):
                    message = (
                        f"{field} lists {len(listed)}, but a node has {len(pool.node.nics)} NICs; list one for each"
                    )
                    yield PCI.at(self.source, (*path, field), message)

    def shape(self, path: Path, shape: Shape) -> Iterator[Finding]:
        """Yield devices of a spelled-out shape that hang on no NUMA node, on two, or do not exist."""
        if not shape.numa:
            return
        for field, count in (("gpus", shape.gpus.count if shape.gpus else 0), ("nics", len(shape.nics))):
            listed = sorted(index for numa in shape.numa for index in getattr(numa, field))
            if listed != list(range(count)):
                message = f"numa lists {field} {listed}, but the node has {count}; list each index from 0 once"
                yield NUMA.at(self.source, (*path, "numa"), message)

    def levels(self) -> Iterator[Finding]:
        """Yield topology levels that repeat one another, and pools whose nodes do not split evenly over them."""
        seen: dict[str, str] = {"hostname": HOSTNAME}
        for index, entry in enumerate(self.cluster.topology):
            for level, label in entry.items():
                if level == "hostname":
                    yield TOPOLOGY.at(
                        self.source, ("topology", index), "level 'hostname' is added by itself; remove it"
                    )
                elif level in seen or label in seen.values():
                    what = f"level {level!r}" if level in seen else f"label {label!r}"
                    message = f"{what} stands in the topology twice; remove one"
                    yield TOPOLOGY.at(self.source, ("topology", index, level), message, key=level in seen)
                seen[level] = label
        for name, pool in self.cluster.pools.items():
            yield from self.split(("pools", name), pool, seen)

    def split(self, path: Path, pool: Pool, levels: dict[str, str]) -> Iterator[Finding]:
        """Yield racks that do not divide the nodes, blocks that do not divide the racks, and both without a level."""
        if pool.nodes % pool.racks:
            message = f"nodes is {pool.nodes}, which {pool.racks} racks do not share evenly; change nodes or racks"
            yield RACKS.at(self.source, (*path, "racks"), message)
        if pool.racks % pool.blocks:
            message = f"racks is {pool.racks}, which {pool.blocks} blocks do not share evenly; change racks or blocks"
            yield BLOCKS.at(self.source, (*path, "blocks"), message)
        for field, count in (("rack", pool.racks), ("block", pool.blocks)):
            if count > 1 and field not in levels:
                message = f"{field}s is {count}, but topology has no level {field!r}; add it with its node label"
                yield NO_LEVEL.at(self.source, (*path, f"{field}s"), message)

    def fabric(self) -> Iterator[Finding]:
        """Yield pools that are not on the fabric, and a way of attaching that no operator of the cluster provides."""
        fabric = self.cluster.fabric
        if fabric is None:
            return
        for index, name in enumerate(fabric.pools):
            pool = self.cluster.pools.get(name)
            if pool is None:
                message = f"pool {name!r} does not exist; {did_you_mean(name, self.cluster.pools)}"
                yield UNKNOWN_POOL.at(self.source, ("fabric", "pools", index), message)
            elif known(pool.shape) and not pool.node.nics and fabric.attach != "none":
                message = f"pool {name!r} has no NICs in its shape; remove it, or spell its shape out with nics"
                yield FABRIC_NICS.at(self.source, ("fabric", "pools", index), message)
        yield from self.attachment(fabric)

    def attachment(self, fabric: Fabric) -> Iterator[Finding]:
        """Yield a way of attaching pods that no operator of the cluster provides; those we install are named first."""
        able = (name for name, facts in releases().items() if fabric.attach in facts.attaches)
        wanted = sorted(able, key=lambda name: (name not in operators(), name))
        if wanted and not fabric.resources and not any(name in self.cluster.operators for name in wanted):
            message = f"attach is {fabric.attach!r}, which needs an operator; add {' or '.join(wanted)}"
            yield FABRIC_ATTACH.at(self.source, ("fabric", "attach"), message)
