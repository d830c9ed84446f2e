"""The nodes that a cluster declares, as Kueue sees them, and what the drivers' controllers make of its objects."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from trainyard.labels import HOSTNAME, POOL
from trainyard.sizing import nvlink
from trainyard.sizing.fabrics import plan
from trainyard.sizing.node import cores, size
from trainyard.sizing.quota import per_node
from trainyard.sizing.starts import present
from trainyard.specs import Cluster, Pool

MAX_PODS = 110
"""Pods that a kubelet takes by default (kubernetes v1.35 pkg/kubelet/apis/config/v1beta1/defaults.go)."""

CLAIM = "ResourceClaimTemplate"

Object = dict[str, Any]


def nodes(cluster: Cluster) -> Iterator[Object]:
    """Yield the nodes that the cluster declares, each with what its daemons hold."""
    for pool_name, pool in cluster.pools.items():
        held = pool.node.daemons
        daemons = {"cpu": text(cores(held.cpus) * 1000) + "m", "memory": text(size(held.memory))}
        offered = offers(cluster, pool_name, pool)
        for index in range(pool.nodes):
            name = f"{pool_name}-{index:03}"
            labels = {**pool.labels, POOL: pool_name, **places(cluster, pool, index), HOSTNAME: name}
            yield {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": labels},
                "spec": {"taints": [taint.model_dump() for taint in pool.taints]},
                "status": {"allocatable": offered},
            }
            yield {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"daemons-{name}", "namespace": "kube-system"},
                "spec": {
                    "nodeName": name,
                    "containers": [{"name": "all", "image": "all", "resources": {"requests": daemons}}],
                },
                "status": {"phase": "Running"},
            }


def offers(cluster: Cluster, pool_name: str, pool: Pool) -> dict[str, str]:
    """Return the allocatable resources of one node: what is there for jobs and daemons together.

    Channels of NVLink domains are claimed, not offered by the kubelet. Of pods those are taken off that daemons are
    beyond the one that stands for all.
    """
    found = {name: each for name, each in per_node(cluster, pool_name).items() if name != nvlink.RESOURCE}
    found |= {f"hugepages-{page}": Fraction(size(amount)) for page, amount in pool.node.huge_pages.items()}
    found["cpu"] += cores(pool.node.daemons.cpus)
    found["memory"] += size(pool.node.daemons.memory)
    whole = {name: text(each * 1000) + "m" if name == "cpu" else text(each) for name, each in found.items()}
    daemons = len(present(cluster, pool_name)) - 1
    return {**whole, "pods": str(max(0, (pool.kubelet.max_pods if pool.kubelet else MAX_PODS) - daemons))}


def per_host(cluster: Cluster, pool_name: str) -> dict[str, int]:
    """Return what one node has that its kubelet does not count: channels of NVLink, addresses of its own blocks."""
    channels = {name: int(count) for name, count in nvlink.per_node(cluster, cluster.pools[pool_name]).items()}
    blocks = plan.addresses_per_node(cluster, pool_name)
    return channels | {addresses(name): count for name, count in blocks.items()}


def together(cluster: Cluster) -> dict[str, int]:
    """Return what all nodes have together: the addresses of networks without blocks."""
    return {addresses(name): count for name, count in plan.shared_addresses(cluster).items()}


def addresses(network: str) -> str:
    """Return how addresses of a network are called among what pods take."""
    return f"addresses of {network}"


def text(amount: Any) -> str:
    """Return an amount as a whole number, rounded down."""
    return str(int(amount))


def places(cluster: Cluster, pool: Pool, index: int) -> dict[str, str]:
    """Return the labels of where a node stands: racks and blocks share nodes evenly, and fill NVLink domains."""
    number = {"rack": index * pool.racks // pool.nodes, "block": index * pool.blocks // pool.nodes}
    if pool.nvlink:
        number[pool.nvlink] = index // pool.node.nvlink_nodes
    named = list(cluster.levels.items())[:-1]
    return {label: f"{level}-{number.get(level, 0)}" for level, label in named}


def channel(domain: Object) -> Object:
    """Return the claim template that the driver's controller makes of a ComputeDomain.

    NVIDIA/k8s-dra-driver-gpu v0.4.0 templates/compute-domain-workload-claim-template.tmpl.yaml, with the server's
    defaults; the class is the one of `allocationMode: Single`.
    """
    request = {"deviceClassName": nvlink.CLASS, "allocationMode": "ExactCount", "count": 1}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": CLAIM,
        "metadata": {
            "name": domain["spec"]["channel"]["resourceClaimTemplate"]["name"],
            "namespace": domain["metadata"]["namespace"],
        },
        "spec": {"spec": {"devices": {"requests": [{"name": "channel", "exactly": request}]}}},
    }
