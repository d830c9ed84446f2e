"""Whether somebody acts on the field by which the GPU Operator is to install NVIDIA's driver."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.judge.preflight.cluster.gpu_driver import OPERATOR
from trainyard.judge.preflight.cluster.inventory import NO_EFFECT
from trainyard.judge.preflight.cluster.pairing import NEEDS
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.sizing.software import nvidia_pools
from trainyard.specs import Cluster
from trainyard.specs.sources import Source


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield fields that ask for a driver of an operator that is not there, or that somebody else configures."""
    if cluster.installs(OPERATOR):
        return
    for path in places(cluster):
        if OPERATOR not in cluster.operators:
            message = f"gpuDriver 'operator' needs {OPERATOR}, or no node gets a driver; add it to operators"
            yield NEEDS.at(source, path, message, source="docs/reference/distributions.md")
        else:
            message = f"gpuDriver has no effect while {OPERATOR} is managed: false; remove it, or managed: false"
            yield NO_EFFECT.at(source, path, message, shared=[("operators", OPERATOR, "managed")])


def places(cluster: Cluster) -> Iterator[Path]:
    """Yield the fields of the cluster and of its pools with NVIDIA GPUs that name the operator."""
    pools = nvidia_pools(cluster)
    if pools and cluster.system.gpu_driver == "operator":
        yield ("system", "gpuDriver")
    for name, pool in pools.items():
        if pool.system.gpu_driver == "operator":
            yield ("pools", name, "system", "gpuDriver")
