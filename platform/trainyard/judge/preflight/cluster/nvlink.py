"""What a cluster must say of NVLink that goes beyond a node, and who makes the channels that pods claim."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.sizing import nvlink
from trainyard.specs import Cluster
from trainyard.specs.models.pools import Pool
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

DRIVER = Rule(
    id="spec/nvlink-driver",
    title="A cluster whose NVLink spans nodes has the driver for its channels.",
    why="without a channel, traffic to GPUs of other nodes takes the network, at a tenth of the speed",
    fix="add dra-driver-nvidia-gpu to operators; set managed: false if the provider installs it",
    source="NVIDIA/k8s-dra-driver-gpu v0.4.0 README.md, ComputeDomains",
)
LEVEL = Rule(
    id="spec/nvlink-level",
    title="A pool whose NVLink spans nodes names the topology level of its NVLink domains.",
    why="otherwise Kueue spreads a job over several domains, which have no NVLink between them",
    fix="add a level with the domain's label to topology, and set the pool's nvlink to it",
    source="NVIDIA/k8s-device-plugin v0.20.0 docs/gpu-feature-discovery/README.md, nvidia.com/gpu.clique",
)

CLIQUE = "nvidia.com/gpu.clique"
"""The label by which GPU feature discovery tells the NVLink domains of a cluster apart."""


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pools whose NVLink spans nodes and whose domains nobody names or serves, and levels for nothing."""
    there = {name: pool for name, pool in cluster.pools.items() if is_known_shape(pool.shape)}
    for name, pool in there.items():
        if pool.nvlink is not None:
            yield from check_level(cluster, name, pool, source)
        if pool.node.nvlink_nodes == 1:
            continue
        if nvlink.DRIVER not in cluster.operators:
            message = f"NVLink of pool {name!r} spans {pool.node.nvlink_nodes} nodes; add {nvlink.DRIVER} to operators"
            yield DRIVER.at(source, ("pools", name, "shape"), message)
        if pool.nvlink is None:
            message = (
                f"NVLink of pool {name!r} spans {pool.node.nvlink_nodes} nodes; set the pool's nvlink to the "
                "topology level"
            )
            yield LEVEL.at(source, ("pools", name, "shape"), message)


def check_level(cluster: Cluster, name: str, pool: Pool, source: Source) -> Iterator[Finding]:
    """Yield a level that does not exist, or that says of a single node what it is not."""
    path = ("pools", name, "nvlink")
    if pool.node.nvlink_nodes == 1:
        message = f"nvlink of pool {name!r} is {pool.nvlink!r}, but its NVLink does not leave the node; remove it"
        yield LEVEL.at(source, path, message)
    elif pool.nvlink not in cluster.levels:
        hint = did_you_mean(pool.nvlink or "", cluster.levels)
        yield LEVEL.at(
            source, path, f"nvlink of pool {name!r} is {pool.nvlink!r}, which is not a level of topology; {hint}"
        )
    elif CLIQUE in (labels := {label: level for level, label in cluster.levels.items()}) and (
        pool.nvlink != labels[CLIQUE]
    ):
        message = f"nvlink of pool {name!r} is {pool.nvlink!r}, but level {labels[CLIQUE]!r} has the domains' label"
        yield LEVEL.at(source, path, f"{message} {CLIQUE}; write {labels[CLIQUE]}")
