"""What is wrong with rails that are routed: each node has a block of addresses of each rail, behind a gateway."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.render.sizing.fabrics.plan import (
    NV_IPAM,
    Network,
    blocks,
    by_nv_ipam,
    carried_interfaces,
    pods_of_block,
    pools,
)
from trainyard.render.sizing.fabrics.rails import one_for_all
from trainyard.specs import Cluster, Fabric
from trainyard.specs.sources import Source

ROUTED = Rule(
    id="rdma-l3-rails",
    title="Routed rails have a block of addresses per node and rail, and an operator that assigns the blocks.",
    why="otherwise only ranks behind one leaf switch connect, and all other connections time out",
    fix="set nodePrefix, and install network-operator: its nv-ipam assigns blocks and gateways",
    source="NVIDIA/k8s-launch-kit profiles/spectrum-x; Mellanox/nvidia-k8s-ipam v0.4.0 README.md, CIDRPool",
)


def check(cluster: Cluster, ranges: dict[str, Network], source: Source) -> Iterator[Finding]:
    """Yield routes without blocks, blocks that nothing gives out, and blocks too small, too few or given twice."""
    fabric = cluster.fabric
    if fabric is None:
        return
    if fabric.node_prefix is None:
        for field in ("routes", "node_blocks"):
            if getattr(fabric, field):
                alias = str(Fabric.model_fields[field].alias)
                message = f"{alias} only applies to routed rails; set nodePrefix"
                yield ROUTED.at(source, ("fabric", alias), message)
        return
    if not by_nv_ipam(cluster):
        message = f"nodePrefix needs nv-ipam, which assigns a block to each node; add operator {NV_IPAM}"
        yield ROUTED.at(source, ("fabric", "nodePrefix"), message)
    if one_for_all(cluster):
        message = "nodePrefix needs one device resource per rail, but all rails share one; name one for each rail"
        yield ROUTED.at(source, ("fabric", "nodePrefix"), message)
        return
    yield from check_blocks(cluster, fabric, fabric.node_prefix, ranges, source)


def check_blocks(
    cluster: Cluster, fabric: Fabric, prefix: int, ranges: dict[str, Network], source: Source
) -> Iterator[Finding]:
    """Yield a rail whose blocks are too few or too small, or that give a node's block to another."""
    nodes = sum(pool.nodes for pool in pools(cluster).values())
    for name, subnet in ranges.items():
        count, most = blocks(subnet, prefix), max(carried_interfaces(cluster, name).values(), default=0)
        if count < nodes:
            message = f"{name} has {count} blocks of /{prefix} in {subnet}, but {nodes} nodes; use a larger range"
            yield ROUTED.at(source, ("fabric", "nodePrefix"), message)
            return
        room = pods_of_block(subnet, prefix)
        if room < most:
            message = f"a block of /{prefix} has {room} addresses for pods, but a node has {most} interfaces"
            yield ROUTED.at(source, ("fabric", "nodePrefix"), f"{message}; write virtualFunctions")
            return
        for node, block in fabric.node_blocks.items():
            first = next(other for other, its in fabric.node_blocks.items() if its == block)
            if block >= count or first != node:
                why = f"there are {count}" if block >= count else f"{first!r} has it"
                yield ROUTED.at(source, ("fabric", "nodeBlocks", node), f"node {node!r} has block {block}, but {why}")
        return
