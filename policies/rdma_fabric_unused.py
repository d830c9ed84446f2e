"""A job of several whole nodes must use the cluster's RDMA network.

Why: Otherwise it trains over the cluster's own network, at a fraction of the speed and without any warning.
Fix: request the RDMA devices and attach their networks; if TCP is intended, waive this.
Source: NVIDIA/nccl 2.30 docs/userguide/source/env.rst NCCL_NET; k8snetworkplumbingwg/sriov-network-operator v1.6.0
"""

from collections.abc import Iterator

from trainyard.checks import WHOLE_GPUS, Pods, Problem, Severity, World, is_rdma, rdma_resources

SEVERITY = Severity.WARNING
WIDE = 8
"""GPUs of a server that usually has RDMA NICs for them."""

ATTACHING = ("networking.gke.io/interfaces", "k8s.v1.cni.cncf.io/networks")
"""Annotations that attach a pod to a fabric in other ways."""


def check(world: World) -> Iterator[Problem]:
    """Find such gangs if RDMA devices are among the objects; the preflight checks jobs of described clusters."""
    known = frozenset() if world.inventory is not None else rdma_resources(world)
    for job in world.training_jobs() if known else ():
        for pods in job.pod_sets():
            requested = {name: need for name, need in pods.needs.items() if need.amount}
            gpus = [need for name, need in requested.items() if name in WHOLE_GPUS and need.amount >= WIDE]
            if (
                gpus
                and pods.count > 1
                and not is_attached(pods)
                and not any(is_rdma(name, known) for name in requested)
            ):
                message = (
                    f"{pods.count} whole-node pods request no RDMA device, so they train over TCP"
                    f"; request {', '.join(sorted(known))}"
                )
                yield Problem(gpus[0].place, message)


def is_attached(pods: Pods) -> bool:
    """Say whether pods reach a fabric without a device: by annotations, claims or the node's network."""
    claims = pods.spec.get("resourceClaims") or pods.spec.get("hostNetwork") is True
    return bool(claims) or any(name in pods.annotations for name in ATTACHING)
