"""What a cluster says about its machines must agree: pools, shapes, racks and fabric."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity, count_of, did_you_mean
from trainyard.base.labels import HOSTNAME, POOL
from trainyard.base.rules import Rule
from trainyard.judge.preflight.job.placement import POOL as UNKNOWN_POOL
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators import operators
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.fabric import Fabric
from trainyard.specs.models.pools import Pool
from trainyard.specs.releases import releases
from trainyard.specs.shapes import Shape, is_known_shape, names
from trainyard.specs.sources import Source

DOCS = "docs/clusters.md"
KUEUE = "kubernetes-sigs/kueue v0.19.2"

RDMA_NAME = re.compile(r"mlx[45]_(?:bond_)?\d+|bnxt_re\d+|irdma\d+|roce(?:P\d+)?[spox][0-9a-f]\w*")
"""Names that drivers and udev give RDMA devices, and never network devices; those of InfiniBand may be alike
(`ibp23s0`). linux-rdma/rdma-core kernel-boot/rdma_rename.c."""

POOL_LABEL = Rule(
    id="spec/pool-label",
    title="A pool sets only labels that Trainyard does not set and that all its nodes share.",
    why="flavors and topologies select nodes by these labels, and would select the wrong nodes or none",
    fix="remove the label",
    source=DOCS,
)
SHAPE = Rule(
    id="spec/unknown-shape",
    title="The shape of a pool is a known preset or is spelled out.",
    why="all sizes of pods follow from the shape of a node",
    fix="use a known preset, or spell the shape out",
    source=DOCS,
)
PCI = Rule(
    id="spec/pci",
    title="A pool lists a PCI address or network device for every NIC of its shape, or for none.",
    why="entries are matched to NICs by position, so one missing entry shifts all that follow",
    fix="list an address or device for every NIC, in the shape's order",
    source=DOCS,
)
NUMA = Rule(
    id="spec/numa-devices",
    title="Every GPU and NIC of a shape belongs to exactly one NUMA node.",
    why="the kubelet's alignment is computed from it, and would be wrong",
    fix="list every index once, counting from 0",
    source=DOCS,
)
TOPOLOGY = Rule(
    id="spec/topology",
    title="Every topology level has its own name and node label; hostname is added automatically.",
    why="Kueue refuses a Topology that has a level twice",
    fix="remove the level, or correct its label",
    source=f"{KUEUE} apis/kueue/v1beta2/topology_types.go",
)
RACKS = Rule(
    id="spec/racks",
    title="The nodes of a pool divide evenly into its racks.",
    why="the number of pods that fit one rack is computed from this",
    fix="change nodes or racks",
    source=DOCS,
)
BLOCKS = Rule(
    id="spec/blocks",
    title="The racks of a pool divide evenly into its blocks.",
    why="the number of pods that fit one block is computed from this",
    fix="change racks or blocks",
    source=DOCS,
)
BLOCKS_UNSAID = Rule(
    id="spec/blocks-unset",
    title="A pool of several racks says how many blocks they form, where the topology has blocks.",
    why="without blocks all racks count as one block, so a job of a whole block could seem to fit and wait for ever",
    fix="write the number of blocks, 1 included",
    source=DOCS,
    severity=Severity.WARNING,
)
NO_LEVEL = Rule(
    id="spec/topology-level",
    title="A pool of several racks or blocks has a topology level for them.",
    why="without the level Kueue cannot keep ranks together, and reports nothing",
    fix="add the level and its node label to topology",
    source=DOCS,
)
FABRIC_NICS = Rule(
    id="spec/fabric-nics",
    title="Every pool on the fabric has NICs.",
    why="without NICs pods cannot be attached to the fabric",
    fix="remove the pool from fabric.pools, or spell its shape out with nics",
    source=DOCS,
)
FABRIC_ATTACH = Rule(
    id="spec/fabric-attach",
    title="The cluster has an operator for the fabric's attach.",
    why="otherwise no NIC is advertised, so pods that request one stay pending",
    fix="add an operator for it, or change attach",
    source=DOCS,
)


NO_EFFECT = Rule(
    id="spec/no-effect",
    title="Every field that is set has an effect.",
    why="readers would believe a setting that is not applied",
    fix="remove the field, or set the field that it depends on",
    source="docs/clusters.md",
    severity=Severity.WARNING,
)


@CLUSTER.check()
def check_shapes(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pools whose shape does not exist."""
    for name, pool in cluster.pools.items():
        if not is_known_shape(pool.shape):
            message = f"shape {pool.shape!r} does not exist; {did_you_mean(str(pool.shape), names(), limit=6)}"
            yield SHAPE.at(source, ("pools", name, "shape"), message)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield the problems inside a cluster."""
    declared = Declared(cluster, source)
    for part in (declared.pools, declared.levels, declared.fabric):
        yield from part()


@dataclass(frozen=True, slots=True)
class Declared:
    """A cluster and where it was written."""

    cluster: Cluster
    source: Source

    def pools(self) -> Iterator[Finding]:
        """Yield pools whose shape contradicts itself, and labels that are not theirs to set."""
        for name, pool in self.cluster.pools.items():
            path: Path = ("pools", name)
            for label, value in pool.labels.items():
                stays = label == POOL and pool.selector is not None and value == name  # for runs from before it
                if label in {POOL, HOSTNAME, *self.cluster.levels.values()} and not stays:
                    message = f"label {label!r} is set by Trainyard or differs between nodes; remove it"
                    yield POOL_LABEL.at(self.source, (*path, "labels", label), message, key=True)
            if pool.notice_seconds is not None and not pool.spot:
                message = "noticeSeconds only applies to spot nodes; set spot: true, or remove it"
                yield NO_EFFECT.at(self.source, (*path, "noticeSeconds"), message)
            if pool.price_per_gpu_hour is not None and is_known_shape(pool.shape) and not pool.node.gpus:
                message = f"pricePerGpuHour is set, but nodes of pool {name!r} have no GPUs; remove it"
                yield NO_EFFECT.at(self.source, (*path, "pricePerGpuHour"), message)
            if not is_known_shape(pool.shape):
                continue
            if isinstance(pool.shape, Shape):
                yield from self.shape((*path, "shape"), pool.shape)
            rdma = [(index, name) for index, name in enumerate(pool.interfaces) if RDMA_NAME.fullmatch(name)]
            for index, device in rdma[:1]:
                message = f"{device!r} is an RDMA device, but interfaces lists network devices; use the name in "
                message += f"/sys/class/infiniband/{device}/device/net"
                yield PCI.at(self.source, (*path, "interfaces", index), message)
            for field, listed in (("pci", pool.pci), ("interfaces", pool.interfaces)):
                if listed and len(listed) != len(pool.node.nics):
                    entries = count_of(len(listed), "entry", "entries")
                    message = f"{field} has {entries}, but a node has {len(pool.node.nics)} NICs; list one per NIC"
                    yield PCI.at(self.source, (*path, field), message)

    def shape(self, path: Path, shape: Shape) -> Iterator[Finding]:
        """Yield devices of a spelled-out shape that hang on no NUMA node, on two, or do not exist."""
        if not shape.numa:
            return
        for field, count in (("gpus", shape.gpus.count if shape.gpus else 0), ("nics", len(shape.nics))):
            listed = sorted(index for numa in shape.numa for index in getattr(numa, field))
            if listed != list(range(count)):
                message = f"numa lists {field} {listed}, but the node has {count}; list every index once, from 0"
                yield NUMA.at(self.source, (*path, "numa"), message)

    def levels(self) -> Iterator[Finding]:
        """Yield topology levels that repeat one another, and pools whose nodes do not split evenly over them."""
        seen: dict[str, str] = {"hostname": HOSTNAME}
        nodes_alone = [*self.cluster.levels.values()] == [HOSTNAME]
        for index, entry in enumerate(() if nodes_alone else self.cluster.topology):
            for level, label in entry.items():
                if level == "hostname":
                    yield TOPOLOGY.at(
                        self.source, ("topology", index), "level 'hostname' is added automatically; remove it"
                    )
                elif level in seen or label in seen.values():
                    what = f"level {level!r}" if level in seen else f"label {label!r}"
                    message = f"{what} appears twice in topology; remove one"
                    yield TOPOLOGY.at(self.source, ("topology", index, level), message, key=level in seen)
                seen[level] = label
        for name, pool in self.cluster.pools.items():
            yield from self.split(("pools", name), pool, seen)

    def split(self, path: Path, pool: Pool, levels: dict[str, str]) -> Iterator[Finding]:
        """Yield racks that do not divide the nodes, blocks that do not divide the racks, and both without a level."""
        if pool.nodes % pool.racks:
            message = f"nodes is {pool.nodes}, which is not a multiple of {pool.racks} racks; change nodes or racks"
            yield RACKS.at(self.source, (*path, "racks"), message)
        if pool.racks % pool.blocks:
            message = f"racks is {pool.racks}, which is not a multiple of {pool.blocks} blocks; change racks or blocks"
            yield BLOCKS.at(self.source, (*path, "blocks"), message)
        if pool.racks > 1 and {"rack", "block"} <= levels.keys() and "blocks" not in pool.model_fields_set:
            message = (
                f"{pool.racks} racks count as one block, because blocks is not set; write how many blocks they form"
            )
            yield BLOCKS_UNSAID.at(self.source, (*path, "racks"), message)
        for field, count in (("rack", pool.racks), ("block", pool.blocks)):
            if count > 1 and field not in levels:
                message = f"{field}s is {count}, but topology has no level {field!r}; add it with its node label"
                yield NO_LEVEL.at(self.source, (*path, f"{field}s"), message)

    def fabric(self) -> Iterator[Finding]:
        """Yield pools that are not on the fabric, and a way of attaching that no operator of the cluster provides."""
        fabric = self.cluster.fabric
        if fabric is None:
            return
        if "mtu" in fabric.model_fields_set and fabric_type(self.cluster).of_a_cloud:
            message = f"mtu is {fabric.mtu}, but the cloud's network decides it for fabric {fabric.type!r}; remove it"
            yield NO_EFFECT.at(self.source, ("fabric", "mtu"), message)
        for index, name in enumerate(fabric.pools):
            pool = self.cluster.pools.get(name)
            if pool is None:
                message = f"pool {name!r} does not exist; {did_you_mean(name, self.cluster.pools)}"
                yield UNKNOWN_POOL.at(self.source, ("fabric", "pools", index), message)
            elif is_known_shape(pool.shape) and not pool.node.nics and fabric.attach != "none":
                message = f"pool {name!r} has no NICs in its shape; remove it from the fabric, or add nics to the shape"
                yield FABRIC_NICS.at(self.source, ("fabric", "pools", index), message)
        yield from self.attachment(fabric)

    def attachment(self, fabric: Fabric) -> Iterator[Finding]:
        """Yield a way of attaching pods that no operator of the cluster provides; those we install are named first."""
        able = (name for name, facts in releases().items() if fabric.attach in facts.attaches)
        wanted = sorted(able, key=lambda name: (name not in operators(), name))
        if wanted and not fabric.resources and not any(name in self.cluster.operators for name in wanted):
            message = f"attach {fabric.attach!r} needs an operator; add {' or '.join(wanted)}"
            yield FABRIC_ATTACH.at(self.source, ("fabric", "attach"), message)
