"""What a cluster must say of NVLink that goes beyond a node, and who makes the channels that pods claim."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.findings import Finding, did_you_mean
from trainyard.kinds import Resolved
from trainyard.rules import Rule
from trainyard.sizing import nvlink
from trainyard.specs import Cluster
from trainyard.specs.models.pools import Pool
from trainyard.specs.shapes import known
from trainyard.specs.sources import Source

DRIVER = Rule(
    id="spec/nvlink-driver",
    title="A cluster whose NVLink spans nodes has the driver that makes its channels.",
    why="without a channel GPUs of other nodes are reached over the network alone, at a tenth of the speed",
    fix="add dra-driver-nvidia-gpu to operators, with managed: false where the provider brings it",
    source="NVIDIA/k8s-dra-driver-gpu v0.4.0 README.md, ComputeDomains",
)
LEVEL = Rule(
    id="spec/nvlink-level",
    title="A pool whose NVLink spans nodes names the topology level of its domains.",
    why="Kueue would spread a job over domains, between which there is no NVLink",
    fix="add a level with the label of the domain to topology, and name it as nvlink of the pool",
    source="NVIDIA/k8s-device-plugin v0.20.0 docs/gpu-feature-discovery/README.md, nvidia.com/gpu.clique",
)
WHOLE = Rule(
    id="run/nvlink-whole-nodes",
    title="Pods that share memory over NVLink beyond their node have all GPUs of a node.",
    why="a node has one channel: a second pod there stays pending, though Kueue counts its GPUs as free",
    fix="ask for all GPUs of a node, on fewer nodes",
    source="NVIDIA/k8s-dra-driver-gpu v0.4.0 cmd/compute-domain-kubelet-plugin/driver.go",
    layer="run",
)


def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pools whose NVLink spans nodes and whose domains nobody names or serves, and levels for nothing."""
    there = {name: pool for name, pool in cluster.pools.items() if known(pool.shape)}
    for name, pool in there.items():
        if pool.nvlink is not None:
            yield from check_level(cluster, name, pool, source)
        if pool.node.nvlink_nodes == 1:
            continue
        if nvlink.DRIVER not in cluster.operators:
            message = f"NVLink of pool {name!r} spans {pool.node.nvlink_nodes} nodes; add {nvlink.DRIVER} to operators"
            yield DRIVER.at(source, ("pools", name, "shape"), message)
        if pool.nvlink is None:
            message = f"NVLink of pool {name!r} spans {pool.node.nvlink_nodes} nodes; name the level as nvlink"
            yield LEVEL.at(source, ("pools", name, "shape"), message)


def check_level(cluster: Cluster, name: str, pool: Pool, source: Source) -> Iterator[Finding]:
    """Yield a level that does not exist, or that says of a single node what it is not."""
    path = ("pools", name, "nvlink")
    if pool.node.nvlink_nodes == 1:
        message = f"nvlink of pool {name!r} is {pool.nvlink!r}, but NVLink of its nodes ends at each node; remove it"
        yield LEVEL.at(source, path, message)
    elif pool.nvlink not in cluster.levels:
        hint = did_you_mean(pool.nvlink or "", cluster.levels)
        yield LEVEL.at(
            source, path, f"nvlink of pool {name!r} is {pool.nvlink!r}, which is no level of topology; {hint}"
        )


def check_job(run: Resolved) -> Iterator[Finding]:
    """Yield roles whose pods claim a channel and leave GPUs of their node to others, who find none."""
    for role, size in zip(run.specs, run.sizing.roles, strict=True):
        gpus = role.pool.node.gpus
        if nvlink.CLAIM in size.fabric.claims and gpus is not None and role.gpus != gpus.count:
            message = f"gpusPerNode is {role.gpus}, but a node has one channel of NVLink; ask for {gpus.count}"
            yield WHOLE.at(run.run.source, (*role.path, "gpusPerNode"), message)
