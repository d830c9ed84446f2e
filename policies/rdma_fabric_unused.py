"""A gang of whole nodes uses the RDMA network of its cluster.

Why: it trains over the cluster's own network, at a fraction of the speed that is paid for, and nothing says so.
Fix: ask for the RDMA devices and attach the networks; or waive, where TCP is meant.
Source: NVIDIA/nccl 2.30 docs/userguide/source/env.rst NCCL_NET; k8snetworkplumbingwg/sriov-network-operator v1.6.0
"""

from collections.abc import Iterator

from trainyard.checks import WHOLE_GPUS, Pods, Problem, Severity, World, is_rdma, rdma_resources

SEVERITY = Severity.WARNING
WIDE = 8
"""GPUs of servers that are built with NICs for them."""

OTHERS = ("networking.gke.io/interfaces", "k8s.v1.cni.cncf.io/networks")
"""Annotations by which a pod gets to a fabric in other ways."""


def check(world: World) -> Iterator[Problem]:
    """Look for such gangs where RDMA devices are among the objects; of a described cluster each job is asked."""
    known = frozenset() if world.inventory is not None else rdma_resources(world)
    for job in world.training_jobs() if known else ():
        for pods in job.pod_sets():
            asked = {name: need for name, need in pods.needs.items() if need.amount}
            gpus = [need for name, need in asked.items() if name in WHOLE_GPUS and need.amount >= WIDE]
            if gpus and pods.count > 1 and not attached(pods) and not any(is_rdma(name, known) for name in asked):
                message = (
                    f"{pods.count} pods of whole nodes ask for no RDMA device; there are: {', '.join(sorted(known))}"
                )
                yield Problem(gpus[0].place, message)


def attached(pods: Pods) -> bool:
    """Say whether pods reach a fabric without asking for a device: by annotations, claims or the node's network."""
    claims = pods.spec.get("resourceClaims") or pods.spec.get("hostNetwork") is True
    return bool(claims) or any(name in pods.annotations for name in OTHERS)
