"""A cluster whose nodes have two sockets with four GPUs each, and pools beside them without."""

from __future__ import annotations

from typing import Any

from make import CPU_NODE, fields, make_cluster
from trainyard.specs import Cluster

NUMA = [
    {"cpus": "0-15,32-47", "memory": "256Gi", "gpus": [0, 1, 2, 3], "nics": [0, 1]},
    {"cpus": "16-31,48-63", "memory": "256Gi", "gpus": [4, 5, 6, 7], "nics": [2, 3]},
]
GPU_NODE = fields(
    CPU_NODE,
    {
        "cpus": 64,
        "memory": "512Gi",
        "ephemeralStorage": "1000Gi",
        "gpus": {"count": 8, "vendor": "nvidia", "product": "TEST", "memory": "80Gi"},
        "nics": [{"name": f"mlx5_{rail}", "rail": rail, "speed": "400G", "link": "either"} for rail in range(4)],
        "numa": NUMA,
        "reserved": {"cpus": 4, "memory": "16Gi"},
        "daemons": {"cpus": 2, "memory": "16Gi"},
    },
)
SRIOV = {"sriov-network-operator": {"version": "1.6.0"}}
ROCE = {"type": "roce", "rails": 4, "attach": "sriov", "addresses": "10.56.0.0/16"}
PINNED = {"topologyManagerPolicy": "restricted", "cpuManagerPolicy": "static"}


def cluster(
    *, kubelet: dict[str, Any] | None = None, shape: dict[str, Any] | str | None = None, **changes: Any
) -> Cluster:
    """Return a cluster whose pool `gpu` has nodes of two sockets with four GPUs each."""
    gpu: dict[str, Any] = {"shape": shape or GPU_NODE, "nodes": 4, **({"kubelet": kubelet} if kubelet else {})}
    changes = {"operators": SRIOV, **changes}
    return make_cluster(pools={"gpu": gpu, "cpu": {"shape": CPU_NODE, "nodes": 4}}, **changes)
