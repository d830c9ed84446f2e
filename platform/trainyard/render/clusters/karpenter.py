"""Karpenter's objects of pools that it scales: which nodes it starts, with which image, and when it removes them.

Types and rules as of aws/karpenter-provider-aws v1.14.1 and kubernetes-sigs/karpenter v1.14.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.pools import selector_of
from trainyard.render.clusters.node_parts import PAGES_SETTING
from trainyard.render.clusters.nodes import files, needs
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing import gpus
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.render.sizing.fabrics.efa import DEVICE
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


BOUNDARY = "//"
"""Between the parts of user data, which is in MIME (pkg/providers/amifamily/bootstrap/mime)."""


FIRST_CARD = {"p6-b300.48xlarge": 1}
"""First network card with EFA, where it is not the first of all: 17 cards, 16 of EFA.

pkg/providers/instancetype/zz_generated.vpclimits.go; website/content/en/docs/reference/instance-types.md.
"""

OWN_PLACES = frozenset({"p6e-gb200.36xlarge"})
"""Instance types whose EFA is in places of its own (designs/efa-for-static-capacity.md): Karpenter's default holds."""


def scaled(cluster: Cluster) -> Iterator[str]:
    """Yield the pools whose nodes Karpenter starts."""
    yield from (name for name in cluster.pools if cluster.is_karpenters(name))


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
    """Return an EC2NodeClass, with the pool's subnets, groups and disks.

    Settings of the nodes go into the user data, which it merges with its own (bootstrap/nodeadm.go parseUserData).
    """
    pool = cluster.pools[name]
    volume = {
        "deviceName": ROOT[stated.image.partition("@")[0]],
        "ebs": {"volumeSize": stated.root_volume, "volumeType": "gp3", "encrypted": True, "deleteOnTermination": True},
    }
    return {
        "amiSelectorTerms": [{"alias": stated.image}],
        "role": stated.role,
        "subnetSelectorTerms": [{"id": subnet} for subnet in stated.subnets],
        "securityGroupSelectorTerms": [{"id": group} for group in stated.security_groups],
        "capacityReservationSelectorTerms": [{"id": pool.reservation.id}] if pool.reservation else None,
        "placementGroupSelector": {"name": stated.placement_group} if stated.placement_group else None,
        "blockDeviceMappings": [volume],
        "networkInterfaces": interfaces(cluster, name) or None,
        "instanceStorePolicy": "RAID0" if pool.on_local_disks else None,
        "kubelet": {"maxPods": settings(pool)["maxPods"]},
        "userData": user_data(cluster, name) or None,
    }


def interfaces(cluster: Cluster, name: str) -> list[dict[str, Any]]:
    """Return a node's interfaces: one with addresses, and one of EFA alone on each card that has EFA.

    Without them Karpenter gives every interface an address, and a node no EFA if its first pod asks for none
    (pkg/providers/launchtemplate/launchtemplate.go generateNetworkInterfaces, pkg/providers/amifamily/resolver.go).
    Places as in the Amazon EC2 user guide, EFA on instances with multiple network cards, and Karpenter's
    designs/efa-for-static-capacity.md.
    """
    shape = cluster.pools[name].node
    kind = shape.labels.get(INSTANCE_TYPE, "")
    if DEVICE not in fabric_type(cluster).per_node(cluster, name) or kind in OWN_PLACES:
        return []
    first = FIRST_CARD.get(kind, 0)
    cards = range(first, first + shape.devices[DEVICE])
    return [interface(0, 0, "interface"), *(interface(card, 0 if card else 1, "efa-only") for card in cards)]


def interface(card: int, device: int, kind: str) -> dict[str, Any]:
    """Return one interface of a node."""
    return {"networkCardIndex": card, "deviceIndex": device, "interfaceType": kind}


def user_data(cluster: Cluster, name: str) -> str:
    """Return the settings of a pool's nodes, without the comment that says where the file of them belongs.

    On Amazon Linux huge pages are set by a script beside the NodeConfig: cloud-init runs it before nodeadm starts the
    kubelet, which counts them (amazon-eks-ami templates/al2023/runtime/rootfs nodeadm-run.service). That the images
    set any aside is said of an installer which they run with `--minimal` (provisioners/install-efa.sh).
    """
    texts = {file.name: file.text.partition("\n")[2] for file in files(cluster, name)}
    pages = needs(cluster, name).pages
    if "userdata.toml" in texts or not pages:
        return texts.get("userdata.toml") or texts.get("nodeconfig.yaml", "")
    script = f"#!/bin/bash\nsysctl -w {PAGES_SETTING}={pages}\n"
    parts = {"application/node.eks.aws": texts.get("nodeconfig.yaml"), 'text/x-shellscript; charset="us-ascii"': script}
    bodies = [f"--{BOUNDARY}\nContent-Type: {kind}\n\n{text}" for kind, text in parts.items() if text]
    head = f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="{BOUNDARY}"\n\n'
    return "".join([head, *bodies, f"--{BOUNDARY}--\n"])
