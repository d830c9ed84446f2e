"""Whether GPUs and NICs of a pool can reach each other's memory, by what its file says of kernel and driver."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators.gpu_operator import GpuOperator, policy
from trainyard.render.operators.install import sites
from trainyard.render.sizing.fabrics.rails import on_fabric
from trainyard.specs import Cluster
from trainyard.specs.models.system import System
from trainyard.specs.releases.facts import lookup
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

OLDEST_KERNEL = (5, 12)
"""Exports memory of GPUs as DMA-BUF (NVIDIA/cloud-native-docs gpu-operator/gpu-operator-rdma.rst)."""

DRIVERS = frozenset({"doca", "operator"})
"""Drivers of NICs that nvidia-peermem works with: the vendor's, on the host or by NVIDIA's Network Operator."""

PREREQUISITE = Rule(
    id="gpu-dmabuf-prereq",
    title="Nodes of an RDMA fabric support GPUDirect: a kernel with DMA-BUF, or nvidia-peermem with its NIC driver.",
    why="otherwise all traffic is copied through host memory, far slower and without an error",
    fix=(
        "use kernel 5.12 or newer; or install DOCA or OFED, set nicDriver: doca, and enable driver.rdma in gpu-operator"
    ),
    source="NVIDIA/cloud-native-docs gpu-operator/gpu-operator-rdma.rst",
    layer="node",
    severity=Severity.WARNING,
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pools with NVIDIA GPUs on a fabric of verbs whose kernel or driver is said to be too little.

    Somebody else's GPU Operator is taken to be as ours would be.
    """
    if not all(is_known_shape(pool.shape) for pool in cluster.pools.values()):
        return
    site = next((one_site for one_site in sites(cluster) if one_site.name == GpuOperator.name), None)
    peermem = site is not None and lookup(policy(site), "driver.rdma.enabled") is True
    for name, pool in cluster.pools.items():
        gpus, system = pool.node.gpus, cluster.system_of(name)
        if gpus is None or gpus.vendor != "nvidia" or not on_fabric(cluster, name):
            continue
        if peermem and system.nic_driver not in DRIVERS:
            have = f"nicDriver is {system.nic_driver!r}" if system.nic_driver else "nicDriver is not set"
            message = f"gpu-operator loads nvidia-peermem, which needs DOCA or OFED, but {have} for {name!r}"
            yield PREREQUISITE.at(source, where(cluster, name, "nic_driver"), message)
        elif not peermem and system.kernel is not None and release_of(system.kernel) < OLDEST_KERNEL:
            message = f"kernel of {name!r} is {system.kernel}, but GPUDirect with DMA-BUF needs 5.12 or newer"
            yield PREREQUISITE.at(source, where(cluster, name, "kernel"), message)


def where(cluster: Cluster, name: str, field: str) -> Path:
    """Return where the cluster's file says a fact of a pool's system, or could say it."""
    own = getattr(cluster.pools[name].system, field) is not None
    alias = System.model_fields[field].alias or field
    return ("pools", name, "system", alias) if own else ("system", alias)


def release_of(kernel: str) -> tuple[int, int]:
    """Return major and minor of a kernel such as `6.8.0-45-generic`."""
    major, _, rest = kernel.partition(".")
    digits = next((rest[:end] for end in range(len(rest), 0, -1) if rest[:end].isdecimal()), "0")
    return int(major), int(digits)
