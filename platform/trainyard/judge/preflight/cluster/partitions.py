"""Whether AMD GPUs have the mode that a pool sets."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.specs import Cluster
from trainyard.specs.gpus import generation_of
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

MODE = Rule(
    id="gpu-partition",
    title="The partition of a pool is a mode that its GPUs have.",
    why="the device config manager fails on every node, so nodes offer other GPUs than quotas and jobs count",
    fix="use a pair of compute and memory modes that docs/reference/gpus.md lists for the GPUs",
    source="torvalds/linux drivers/gpu/drm/amd/amdgpu/aqua_vanjaram.c; docs/reference/gpus.md",
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield partitions of GPUs that have none, or not this pair of modes."""
    for name, pool in cluster.pools.items():
        if pool.partition is None or not is_known_shape(pool.shape):
            continue
        path, gpus = ("pools", name, "partition"), pool.node.gpus
        if gpus is None or gpus.vendor != "amd" or pool.mig is not None or pool.sharing is not None:
            there = "no GPUs" if gpus is None else f"GPUs of {gpus.vendor}"
            message = f"partition splits whole AMD GPUs, but pool {name!r} has {there}; remove it"
            yield MODE.at(source, path, message)
            continue
        row = generation_of(gpus.product)
        if row is None or pool.partition.mode in row.partitions:
            continue
        modes = f"use one of {', '.join(row.partitions)}" if row.partitions else "remove it"
        message = f"partition is {pool.partition.mode}, which {row.called} GPUs do not have; {modes}"
        yield MODE.at(source, path, message)
