"""Pods whose GPUs share memory over NVLink beyond their node: a channel of the domain, and nodes of one domain.

A ComputeDomain of the run makes the channels; every pod claims one, and starts when the daemon of its node is up.
Facts: NVIDIA/k8s-dra-driver-gpu v0.4.0 api/nvidia.com/resource/v1beta1/computedomain.go, templates of its controller.
"""

from __future__ import annotations

from fractions import Fraction

from trainyard.render.sizing.base import Attached, Sized
from trainyard.specs import Cluster, Pool
from trainyard.specs.run import Run
from trainyard.specs.shapes import is_known_shape

DRIVER = "dra-driver-nvidia-gpu"
"""The operator that serves ComputeDomains."""

CLASS = "compute-domain-default-channel.nvidia.com"
"""DeviceClass of the channels that a ComputeDomain's template claims."""

RESOURCE = "nvidia.com/nvlink-channel"
"""What Kueue counts for one claim: the name that our configuration of Kueue gives to the class."""

CLAIM = "nvlink-channel"

SETTINGS = {
    "NCCL_MNNVL_ENABLE": "1",
    "NCCL_CUMEM_ENABLE": "1",
    "NCCL_NVLS_ENABLE": "1",
}
"""NCCL 2.30 user guide, environment variables: multi-node NVLink, memory that can be shared, NVLink SHARP."""


def reaches(cluster: Cluster, pool: Pool) -> bool:
    """Whether pods of the pool are placed for NVLink that goes beyond their node."""
    return DRIVER in cluster.operators and is_known_shape(pool.shape) and pool.node.nvlink_nodes > 1


def spans(cluster: Cluster, pool: Pool) -> bool:
    """Whether such pods claim channels, which nobody makes on a rehearsal."""
    return cluster.simulated is None and reaches(cluster, pool)


def domain(run_name: str) -> str:
    """Return the name of the claim template that the run's ComputeDomain makes; the domain is called as the run."""
    return f"{run_name}-channel"


def attach_channel(run: Run, pool: Pool, *, pods: int) -> Attached:
    """Return a channel and what NCCL must be told, for pods that have peers in their domain."""
    if pods == 1 or not spans(run.cluster, pool):
        return Attached()
    why = f"NVLink spans {pool.node.nvlink_nodes} nodes of the pool"
    return Attached(env={name: Sized(value, why) for name, value in SETTINGS.items()}, claims={CLAIM: domain(run.name)})


def per_node(cluster: Cluster, pool: Pool) -> dict[str, Fraction]:
    """Return how many channels jobs can have of one node, as a quota counts them: one.

    Of all channels of a node the driver offers the first alone (NVIDIA/k8s-dra-driver-gpu v0.4.0
    cmd/compute-domain-kubelet-plugin/driver.go).
    """
    return {RESOURCE: Fraction(1)} if pool.node.gpus and spans(cluster, pool) else {}
