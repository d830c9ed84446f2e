"""What a cluster must say of NVLink that goes beyond a node, and who makes the channels that pods claim."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.sizing import nvlink
from trainyard.specs import Cluster
from trainyard.specs.gpus import model_of
from trainyard.specs.models.pools import Pool
from trainyard.specs.shapes import Shape, is_known_shape
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

NODES = Rule(
    id="spec/nvlink-nodes",
    title="NVLink of a pool's GPUs reaches as many nodes as its shape says.",
    why="runs get a ComputeDomain whose nodes have no NVLink between them, so pods wait, or fail when NCCL starts",
    fix="set nvlinkNodes of the shape to the nodes of one NVLink domain, or remove it",
    source="NVIDIA data sheets of each model, as docs/reference/gpus.md lists them",
    severity=Severity.WARNING,
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
        yield from check_nodes(name, pool, source)
        if nvlink.DRIVER not in cluster.operators:
            message = f"NVLink of pool {name!r} spans {pool.node.nvlink_nodes} nodes; add {nvlink.DRIVER} to operators"
            yield DRIVER.at(source, ("pools", name, "shape"), message)
        if pool.nvlink is None:
            message = (
                f"NVLink of pool {name!r} spans {pool.node.nvlink_nodes} nodes; set the pool's nvlink to the "
                "topology level"
            )
            yield LEVEL.at(source, ("pools", name, "shape"), message)


def check_nodes(name: str, pool: Pool, source: Source) -> Iterator[Finding]:
    """Yield a shape whose domain has more GPUs than the links of a known model connect."""
    gpus, nodes = pool.node.gpus, pool.node.nvlink_nodes
    model = model_of(gpus.product) if gpus is not None else None
    if gpus is None or model is None or gpus.count * nodes <= (model.link.gpus if model.link else 1):
        return
    there = f"connects {model.link.gpus} GPUs at most" if model.link else "does not exist"
    message = f"nvlinkNodes of pool {name!r} is {nodes}, but NVLink of {model.called} {there}"
    path = ("pools", name, "shape", "nvlinkNodes") if isinstance(pool.shape, Shape) else ("pools", name, "shape")
    yield NODES.at(source, path, f"{message}; lower nvlinkNodes" if model.link else f"{message}; remove it")


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
