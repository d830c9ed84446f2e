"""Whether a pod may start as many threads as a program on a whole node has."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.specs import Cluster
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

PIDS = Rule(
    id="node/pids-limit",
    title="Pods may have as many threads as training programs start on a node.",
    why="each thread counts: data loaders fail with 'can't start new thread', often hours after the start",
    fix="remove podPidsLimit, or set 16384 or more",
    source="kubernetes v1.35 pkg/kubelet/cm/pod_container_manager_linux.go; Linux, Documentation/admin-guide/cgroup-v2",
    layer="node",
    severity=Severity.WARNING,
)

OF_GPU = 64
"""Threads of a rank beside those that compute: of CUDA, NCCL and eight loaders with their own (assumed)."""


@CLUSTER.check(after=("inventory.check_shapes",))
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield limits below a thread for each CPU of the node and some for each GPU."""
    for name, pool in cluster.pools.items():
        limit = pool.kubelet.pod_pids_limit if pool.kubelet is not None else None
        if limit is None or not is_known_shape(pool.shape):
            continue
        gpus = pool.node.gpus.count if pool.node.gpus is not None else 0
        needed = pool.node.cpus + OF_GPU * gpus
        if limit < needed:
            message = f"podPidsLimit is {limit}, but a pod of a whole node starts {needed} threads or more; remove it"
            yield PIDS.at(source, ("pools", name, "kubelet", "podPidsLimit"), message)
