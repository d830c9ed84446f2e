"""A job of several whole nodes must use the cluster's RDMA network.

Why: Otherwise it trains over the cluster's own network, at a fraction of the speed and without any warning.
Fix: request the RDMA devices and attach their networks; if TCP is intended, waive this.
Source: NVIDIA/nccl 2.30 docs/userguide/source/env.rst NCCL_NET; k8snetworkplumbingwg/sriov-network-operator v1.6.0
"""

from collections.abc import Iterator

from trainyard.checks import (
    WHOLE_GPUS,
    Pods,
    Problem,
    Queues,
    Severity,
    TrainingJob,
    World,
    fabric_devices,
    is_rdma,
    rdma_resources,
)

SEVERITY = Severity.WARNING
WIDE = 8
"""GPUs of a server that usually has RDMA NICs for them."""

ATTACHING = ("networking.gke.io/interfaces", "k8s.v1.cni.cncf.io/networks")
"""Annotations that attach a pod to a fabric in other ways."""


def check(world: World) -> Iterator[Problem]:
    """Find such gangs among the objects; the preflight checks the jobs that a described cluster renders."""
    queues, known = Queues(world), rdma_resources(world)
    for job in world.training_jobs():
        if world.renders(job):
            continue
        for pods in job.pod_sets():
            devices, whole = of_pools(queues, job, pods) if world.inventory is not None else (known or None, WIDE)
            requested = {name: need for name, need in pods.needs.items() if need.amount}
            gpus = [need for name, need in requested.items() if name in WHOLE_GPUS and need.amount >= whole]
            if devices is None or not gpus or pods.count < 2 or is_attached(pods):
                continue
            if not any(name in devices or is_rdma(name, known) for name in requested):
                missing = f"request {', '.join(sorted(devices))}" if devices else "attach them to the fabric's networks"
                message = f"{pods.count} whole-node pods request no RDMA device, so they train over TCP; {missing}"
                yield Problem(gpus[0].place, message)


def of_pools(queues: Queues, job: TrainingJob, pods: Pods) -> tuple[frozenset[str] | None, int]:
    """Return the devices and the GPUs of a node of the pools of pods; no devices where one is off the fabric."""
    there = queues.world.inventory
    pools = queues.pools(job, pods, WHOLE_GPUS)
    devices = [fabric_devices(queues.world, pool) if pool else None for pool in pools]
    known = [one for one in devices if one is not None]
    if there is None or not known or len(known) < len(devices):
        return None, 0
    nodes = [there.pools[pool].node for pool in pools if pool]
    return frozenset().union(*known), max(node.gpus.count if node.gpus else WIDE for node in nodes)


def is_attached(pods: Pods) -> bool:
    """Say whether pods reach a fabric without a device: by annotations, claims or the node's network."""
    claims = pods.spec.get("resourceClaims") or pods.spec.get("hostNetwork") is True
    return bool(claims) or any(name in pods.annotations for name in ATTACHING)
