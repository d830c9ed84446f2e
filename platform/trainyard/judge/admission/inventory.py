"""The nodes that a cluster declares, as Kueue sees them, and what the drivers' controllers make of its objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from trainyard.render.sizing import nvlink
from trainyard.render.sizing.fabrics import plan
from trainyard.render.sizing.machines import Machine, machine, quantities
from trainyard.render.sizing.places import nodes_of
from trainyard.specs import Cluster
from trainyard.upstream.pods.resources import PODS

CLAIM = "ResourceClaimTemplate"

Object = dict[str, Any]


def nodes(cluster: Cluster) -> Iterator[Object]:
    """Yield the nodes that the cluster declares, each with what its daemons hold."""
    for pool_name in cluster.pools:
        of_pool = machine(cluster, pool_name)
        offered, held = quantities(allocatable(of_pool)), quantities(of_pool.daemon_requests)
        for name, labels in nodes_of(cluster, pool_name):
            yield {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": labels},
                "spec": {"taints": [asdict(taint) for taint in of_pool.taints]},
                "status": {"allocatable": offered},
            }
            yield {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"daemons-{name}", "namespace": "kube-system"},
                "spec": {
                    "nodeName": name,
                    "containers": [{"name": "all", "image": "all", "resources": {"requests": held}}],
                },
                "status": {"phase": "Running"},
            }


def allocatable(of_pool: Machine) -> dict[str, Fraction]:
    """Return the resources that one node offers to jobs and daemons together.

    Of places for pods those are taken off that daemons have beyond the one that stands for all.
    """
    more = len(of_pool.daemons) - 1
    return {**of_pool.allocatable, PODS: max(of_pool.allocatable[PODS] - more, Fraction(0))}


def per_host(cluster: Cluster, pool_name: str) -> dict[str, int]:
    """Return the NVLink channels and addresses of one node, which its kubelet does not count."""
    channels = {name: int(count) for name, count in machine(cluster, pool_name).claimed.items()}
    blocks = plan.addresses_per_node(cluster, pool_name)
    return channels | {addresses(name): count for name, count in blocks.items()}


def together(cluster: Cluster) -> dict[str, int]:
    """Return the network addresses that all nodes share: those of networks without blocks."""
    return {addresses(name): count for name, count in plan.shared_addresses(cluster).items()}


def addresses(network: str) -> str:
    """Return how addresses of a network are called among what pods take."""
    return f"addresses of {network}"


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
