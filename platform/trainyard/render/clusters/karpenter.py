"""Karpenter's objects of pools that it scales: which nodes it starts, with which image, and when it removes them.

Types and rules as of aws/karpenter-provider-aws v1.14.1 and kubernetes-sigs/karpenter v1.14.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.pools import selector_of
from trainyard.render.clusters.nodes import files
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing import gpus
from trainyard.render.sizing.kubelet import amount, settings
from trainyard.render.sizing.node import huge_pages
from trainyard.specs import Cluster, Pool
from trainyard.specs.models.scaling import NodeClass, Scaling

GROUP = "karpenter.sh"
AWS = "karpenter.k8s.aws"

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
NODE_POOL = "karpenter.sh/nodepool"
"""Labels that Karpenter gives every node: its type, how it is paid for, and its NodePool's name."""

NAME = "karpenter"

ROOT = {"al2023": "/dev/xvda", "bottlerocket": "/dev/xvdb"}
"""Device with the kubelet's folder, by the family of the image (pkg/providers/amifamily)."""


def scaled(cluster: Cluster) -> Iterator[str]:
    """Yield the pools whose nodes Karpenter starts."""
    yield from (name for name in cluster.pools if cluster.autoscaler_of(name) == NAME)


def resources(cluster: Cluster) -> Iterator[Resource]:
    """Yield the node pool, the node class and, where nodes have huge pages, the overlay of every pool."""
    for name in scaled(cluster):
        pool, at = cluster.pools[name], ("pools", name, "scaling")
        scaling = pool.scaling or Scaling()
        yield make_object(f"{GROUP}/v1", "NodePool", name, at, node_pool(name, pool, scaling))
        if scaling.node_class is not None:
            spec = node_class(cluster, name, scaling.node_class)
            yield make_object(f"{AWS}/v1", "EC2NodeClass", name, (*at, "nodeClass"), spec)
        if pages := huge_pages(pool.node):
            capacity = {resource: amount(count) for resource, count in pages.items()}
            own = selector_of(name, pool.selector).items()
            selecting = [requirement(key, value) for key, value in own if key != INSTANCE_TYPE]
            spec = {"requirements": [*instances(pool), *selecting], "capacity": capacity}
            yield make_object(f"{GROUP}/v1alpha1", "NodeOverlay", name, ("pools", name, "shape"), spec)


def make_object(api_version: str, kind: str, name: str, at: Path, spec: dict[str, Any]) -> Resource:
    """Return an object of a pool, which has the pool's name."""
    return Resource(api_version, kind, name, at, fields={"spec": spec})


def node_pool(name: str, pool: Pool, scaling: Scaling) -> dict[str, Any]:
    """Return a NodePool that removes no node with a run on it.

    Only empty nodes go, all at once: what is left costs and does nothing. A budget keeps drifted nodes, and there is no
    age limit. Pods on nodes that are not spot say `karpenter.sh/do-not-disrupt` besides, which Karpenter respects as
    long as there is no `terminationGracePeriod` (kubernetes-sigs/karpenter v1.14.1 pkg/controllers/disruption/types.go
    NewCandidate).
    """
    node = {
        "nodeClassRef": {"group": AWS, "kind": "EC2NodeClass", "name": name},
        "requirements": [*instances(pool), requirement(CAPACITY_TYPE, capacity_type(pool))],
        "taints": [taint.model_dump(exclude_defaults=True) | {"effect": taint.effect} for taint in pool.taints] or None,
        "expireAfter": "Never",
    }
    return {
        "template": {"metadata": {"labels": labels(name, pool)}, "spec": node},
        "disruption": {
            "consolidationPolicy": "WhenEmpty",
            "consolidateAfter": f"{scaling.idle_minutes}m",
            "budgets": [{"nodes": "0", "reasons": ["Drifted"]}, {"nodes": "100%", "reasons": ["Empty"]}],
        },
        "limits": {"nodes": pool.nodes},
    }


def labels(name: str, pool: Pool) -> dict[str, str]:
    """Return the labels that Karpenter gives the nodes; it knows those of the shape by itself, or drivers add them.

    A label that selects the nodes is given in any case but where a requirement or Karpenter itself brings it: it starts
    no node for pods that select a label unknown to it.
    """
    by_itself = {INSTANCE_TYPE, CAPACITY_TYPE, NODE_POOL}
    selecting = {key: value for key, value in selector_of(name, pool.selector).items() if key not in by_itself}
    return dict(sorted({**gpus.configured_labels(name, pool), **pool.labels, **selecting}.items()))


def capacity_type(pool: Pool) -> str:
    """Return how the nodes are paid for."""
    return "reserved" if pool.reservation else "spot" if pool.spot else "on-demand"


def instances(pool: Pool) -> list[dict[str, Any]]:
    """Return the requirement of the instance type that the shape is of; none where it says none."""
    of_shape = pool.node.labels.get(INSTANCE_TYPE)
    return [requirement(INSTANCE_TYPE, of_shape)] if of_shape else []


def requirement(key: str, value: str) -> dict[str, Any]:
    """Return the requirement of one value of a label."""
    return {"key": key, "operator": "In", "values": [value]}


def node_class(cluster: Cluster, name: str, stated: NodeClass) -> dict[str, Any]:
    """Return an EC2NodeClass; EFA interfaces follow from the pods, which ask for all of a node.

    Without `networkInterfaces` Karpenter counts those of the instance type (pkg/providers/instancetype/types.go efas).
    Files of the nodes go into the user data, which it merges with its own (bootstrap/nodeadm.go parseUserData).
    """
    pool = cluster.pools[name]
    volume = {
        "deviceName": ROOT[stated.image.partition("@")[0]],
        "ebs": {"volumeSize": stated.root_volume, "volumeType": "gp3", "encrypted": True, "deleteOnTermination": True},
    }
    data = "".join(file.text for file in files(cluster, name) if file.name in {"nodeconfig.yaml", "userdata.toml"})
    return {
        "amiSelectorTerms": [{"alias": stated.image}],
        "role": stated.role,
        "subnetSelectorTerms": [{"id": subnet} for subnet in stated.subnets],
        "securityGroupSelectorTerms": [{"id": group} for group in stated.security_groups],
        "capacityReservationSelectorTerms": [{"id": pool.reservation.id}] if pool.reservation else None,
        "blockDeviceMappings": [volume],
        "instanceStorePolicy": "RAID0" if pool.on_local_disks else None,
        "kubelet": {"maxPods": settings(pool)["maxPods"]},
        "userData": data or None,
    }
