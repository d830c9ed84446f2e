"""NVIDIA's NIC configuration operator: trust, PFC and ECN of the NICs of a RoCE fabric, by the network operator.

Facts: Mellanox/nic-configuration-operator network-operator-v26.4.1 README.md, pkg/configuration; Mellanox/network-
operator v26.4.1 manifests/state-nic-configuration-operator; network-operator-docs nic-fw-configuration.rst.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.operators.base import Site
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.fabrics.devices import functions_per_nic
from trainyard.render.sizing.fabrics.plan import pools
from trainyard.render.sizing.fabrics.rails import attach, rails
from trainyard.specs import Cluster
from trainyard.specs.gpus import generation_of

API = "configuration.net.nvidia.com/v1alpha1"

CONFIGURED = "network.nvidia.com/operator.nic-configuration.wait"
"""Label of nodes by which it says whether firmware of NICs must still be waited for; functions are made after that."""

KEEPS_POWER = ("Blackwell", "Blackwell Ultra")
"""Generations of GPUs whose machines have a controller that keeps NICs powered while the node boots.

There only a reset of the firmware applies its settings, and the node would boot for ever (nic-fw-configuration.rst).
"""

PRIORITIES = 8

BRINGS = "network-operator"
"""The operator that runs it."""


def is_asked(cluster: Cluster) -> bool:
    """Whether the cluster's file leaves the NICs of its fabric to the NIC configuration operator."""
    fabric = cluster.fabric
    return fabric is not None and fabric.type == "roce" and fabric.qos is not None and fabric.qos.by == "operator"


def configures(cluster: Cluster) -> bool:
    """Whether the NIC configuration operator sets the NICs of the fabric."""
    asked = cluster.installs(BRINGS) and is_asked(cluster)
    return asked and lossless_priority(cluster) is not None and bool(pools(cluster))


def lossless_priority(cluster: Cluster) -> int | None:
    """Return the priority that NICs and switches keep lossless; None where the cluster does not say it."""
    fabric = cluster.fabric
    if fabric is None or fabric.qos is None:
        return None
    return fabric.class_priority if fabric.qos.priority is None else fabric.qos.priority


def parts(site: Site) -> dict[str, Any]:
    """Return the section of the NicClusterPolicy that runs the operator and its daemon; none where nothing asks."""
    if not configures(site.cluster):
        return {}
    reset = {"env": [{"name": "FW_RESET_AFTER_CONFIG_UPDATE", "value": "true"}]}
    images = site.components
    return {
        "nicConfigurationOperator": {
            "operator": dict(images["nicConfigurationOperator"]),
            "configurationDaemon": dict(images["nicConfigurationDaemon"]),
            **(reset if any(keeps_power(site.cluster, name) for name in pools(site.cluster)) else {}),
        }
    }


def keeps_power(cluster: Cluster, pool: str) -> bool:
    """Whether NICs of the pool keep their power while a node boots."""
    gpus = cluster.pools[pool].node.gpus
    generation = generation_of(gpus.product) if gpus else None
    return generation is not None and generation.title in KEEPS_POWER


def templates(site: Site) -> Iterator[Resource]:
    """Yield a template for the NICs of each pool on the fabric; a NIC that two templates match gets neither."""
    if not configures(site.cluster):
        return
    for name in pools(site.cluster):
        found = addresses(site.cluster, name)
        if found and site.cluster.pools[name].node.nic_type is not None:
            fields = {"spec": template(site.cluster, name, found)}
            yield Resource(
                API, "NicConfigurationTemplate", name, ("fabric", "qos"), site.facts.namespace, fields=fields
            )


def addresses(cluster: Cluster, pool: str) -> list[str]:
    """Return the PCI addresses of the pool's NICs on the fabric; none unless all are known."""
    there = rails(cluster, pool)
    found = [nic.pci for nic in cluster.pools[pool].node.nics if nic.rail in there]
    return sorted(address for address in found if address) if all(found) else []


def template(cluster: Cluster, pool: str, found: list[str]) -> dict[str, Any]:
    """Return the spec: firmware for RoCE, and for as many functions as the SR-IOV operator makes.

    ECN is on for all priorities once RoCE is optimized. With type of service 0 packets keep the class that the program
    gives them, so that `trafficClass` alone decides.
    """
    priority = lossless_priority(cluster)
    pfc = ",".join("1" if index == priority else "0" for index in range(PRIORITIES))
    return {
        "nodeSelector": cluster.selector_of(pool),
        "nicSelector": {"nicType": cluster.pools[pool].node.nic_type, "pciAddresses": found},
        "template": {
            "linkType": "Ethernet",
            "numVfs": functions(cluster, pool),
            "roceOptimized": {"enabled": True, "qos": {"trust": "dscp", "pfc": pfc, "tos": 0}},
        },
    }


def functions(cluster: Cluster, pool: str) -> int:
    """Return how many virtual functions the firmware of each NIC must allow."""
    if attach(cluster) != "sriov":
        return 0
    node = cluster.pools[pool]
    return max(functions_per_nic(cluster, node, rail) for rail in rails(cluster, pool))
