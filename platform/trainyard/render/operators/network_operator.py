"""NVIDIA Network Operator: the chart, and as hardware the one NicClusterPolicy with what the fabric needs on nodes."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from trainyard.base.pools import node_terms
from trainyard.render.operators import nic_configuration
from trainyard.render.operators import sriov_network_operator as sriov
from trainyard.render.operators.base import Conflict, Operator, Site, tolerations
from trainyard.render.operators.stated_values import check_folders, if_false
from trainyard.render.parts.health import by_field
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.fabrics import devices
from trainyard.render.sizing.fabrics.plan import Network, block_size, by_nv_ipam, pools, subnets
from trainyard.render.sizing.fabrics.rails import SECONDARY, attach, every_rail, rails
from trainyard.render.sizing.software import cni
from trainyard.specs import Cluster
from trainyard.specs.shapes import Nic

POLICY = "nic-cluster-policy"
"""The operator takes one NicClusterPolicy, of this name, and ignores every other (v26.4.1 pkg/consts/consts.go)."""

API = "mellanox.com/v1alpha1"
ADDRESSES = "nv-ipam.nvidia.com/v1alpha1"

VENDOR = "15b3"
"""PCI vendor ID of Mellanox, whose NICs the operator is for."""

HEALTH = by_field("state", waiting="Waiting for the operator", healthy="ready", degraded="error", reason="reason")

CHART = "Mellanox/network-operator v26.4.1 deployment/network-operator"

UNEQUAL = [
    {"name": "cni-plugins", "requests": {"cpu": "100m", "memory": "50Mi"}, "limits": {"cpu": "300m", "memory": "200Mi"}}
]
"""Of the copier of CNI plugins, which is Guaranteed by default (v26.4.1 manifests/state-container-networking-plugins).

A Guaranteed pod takes its NUMA node out of every wider group of the static memory manager, so that no whole-node pod
would start beside it.
"""


class NetworkOperator(Operator):
    """The chart installs the operator; what it does to nodes stands in `hardware/` and is synced by hand."""

    name = "network-operator"
    health: ClassVar[Mapping[str, str]] = {"mellanox.com/NicClusterPolicy": HEALTH}

    def values(self, site: Site) -> dict[str, Any]:
        """Bring along what is wanted: SR-IOV, and maintenance of nodes for NICs; the chart's hook applies definitions.

        Argo CD runs both hooks of the chart before it applies anything. One of them reads a NicClusterPolicy and
        fails until its definition is there (v26.4.1 cmd/keep-ncp), so the other one has to apply it.
        """
        values: dict[str, Any] = {"upgradeCRDs": True, **cni_folders(site)}
        if makes_functions(site):
            values["sriovNetworkOperator"] = {"enabled": True}
            values["sriov-network-operator"] = {"sriovOperatorConfig": {"deploy": False}, **sriov.plugin_folder(site)}
        if nic_configuration.configures(site.cluster):
            values["maintenanceOperator"] = {"enabled": True}
        return values

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield values that take away what the fabric needs, and folders that are not those of the nodes."""
        needed = {"upgradeCRDs": "the chart's hook keep-ncp then fails on a new cluster; remove it"}
        yield from if_false(site, needed, f"{CHART}/templates/keep-ncp-hook.yaml")
        if makes_functions(site):
            why = "attach 'sriov' needs it; remove it, or add sriov-network-operator to operators"
            yield from if_false(site, {"sriovNetworkOperator.enabled": why}, f"{CHART}/values.yaml")
            yield from sriov.check_configuration(site, "sriov-network-operator.")
        if nic_configuration.configures(site.cluster):
            why = "qos by the operator drains nodes with it; remove it"
            yield from if_false(site, {"maintenanceOperator.enabled": why}, f"{CHART}/values.yaml")
        folders = {"binaries": "operator.cniBinDirectory", "config": "operator.cniNetworkDirectory"}
        yield from check_folders(site, f"{CHART}/templates/operator.yaml", **folders)

    def own(self, site: Site) -> Iterator[Resource]:
        """Yield the configuration of the SR-IOV operator that it brings along."""
        if makes_functions(site):
            yield sriov.configuration(site)

    def hardware(self, site: Site) -> Iterator[Resource]:
        """Yield the NicClusterPolicy, pools of addresses, whose definitions the operator makes, and SR-IOV policies."""
        found = spec(site)
        if found:
            where = {
                "nodeAffinity": affinity(site.cluster),
                "tolerations": tolerations(pools(site.cluster).values()) or None,
            }
            yield Resource(API, "NicClusterPolicy", POLICY, site.at, fields={"spec": {**where, **found}})
        if numbers(site):
            for name, subnet in subnets(site.cluster).items():
                yield address_pool(site, name, subnet)
        if makes_functions(site):
            yield from sriov.policies(site)
        yield from nic_configuration.templates(site)


def cni_folders(site: Site) -> dict[str, Any]:
    """Return the chart's values for the folders of CNI plugins and their configuration, where they are not usual."""
    folders = cni(site.cluster)
    if folders.is_usual:
        return {}
    return {"operator": {"cniBinDirectory": folders.binaries, "cniNetworkDirectory": folders.config}}


def makes_functions(site: Site) -> bool:
    """Whether the SR-IOV operator comes along: where functions are wanted and it is not installed by itself."""
    return attach(site.cluster) == "sriov" and devices.advertiser(site.cluster) == site.name


def numbers(site: Site) -> bool:
    """Whether nv-ipam gives interfaces their addresses."""
    return attach(site.cluster) in SECONDARY and by_nv_ipam(site.cluster) and bool(pools(site.cluster))


def spec(site: Site) -> dict[str, Any]:
    """Return the parts that the fabric needs, each with its image; none where all is done by others.

    Multus stays an operator of its own: pods use networks of their own namespace alone there. A driver of NICs is
    replaced on a node when a person drains it.
    """
    cluster, fabric = site.cluster, site.cluster.fabric
    way = attach(cluster) if devices.advertiser(cluster) == site.name else "none"
    found: dict[str, Any] = {}
    if any(cluster.system_of(name).nic_driver == "operator" for name in pools(cluster)):
        found["ofedDriver"] = {**image(site, "ofedDriver"), "upgradePolicy": {"autoUpgrade": False}}
    if way in devices.SHARED:
        found["rdmaSharedDevicePlugin"] = {
            **image(site, "rdmaSharedDevicePlugin"),
            "config": text(shared_devices(cluster)),
        }
    if way == "hostdev":
        found["sriovDevicePlugin"] = {**image(site, "sriovDevicePlugin"), "config": text(whole_devices(cluster))}
    if way in SECONDARY or numbers(site):
        plugins = {**image(site, "cniPlugins"), "containerResources": UNEQUAL}
        found["secondaryNetwork"] = {"cniPlugins": plugins}
    if numbers(site):
        found["nvIpam"] = {**image(site, "nvIpam"), "enableWebhook": False}
    if fabric is not None and fabric.partitioned and fabric.guids and fabric.ufm_secret:
        first, last = fabric.guids
        own = {"pKeyGUIDPoolRangeStart": first, "pKeyGUIDPoolRangeEnd": last, "ufmSecret": fabric.ufm_secret}
        found["ibKubernetes"] = {**image(site, "ibKubernetes"), **own}
    return {**found, **nic_configuration.parts(site)}


def image(site: Site, component: str) -> dict[str, Any]:
    """Return image, repository and version of a component, which the policy must name."""
    return dict(site.components[component])


def text(value: Any) -> str:
    """Return a configuration as the device plugins read it."""
    return json.dumps(value, indent=2) + "\n"


def affinity(cluster: Cluster) -> dict[str, Any]:
    """Return the nodes that the fabric is on."""
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms(cluster)}}


def terms(cluster: Cluster) -> list[dict[str, Any]]:
    """Return the selector of the fabric's nodes."""
    return node_terms(map(cluster.selector_of, pools(cluster)))


def there(cluster: Cluster) -> dict[str, list[Nic]]:
    """Return the NICs of each resource, over all pools of the fabric."""
    found: dict[str, list[Nic]] = {}
    for rail in every_rail(cluster):
        for name, pool in pools(cluster).items():
            on_rail = [nic for nic in pool.node.nics if nic.rail == rail and rail in rails(cluster, name)]
            found.setdefault(devices.pool_resource(cluster, rail), []).extend(on_rail)
    return found


def shared_devices(cluster: Cluster) -> dict[str, Any]:
    """Return the configuration of the plugin that shares RDMA devices (k8s-rdma-shared-dev-plugin v1.5.3 README.md)."""
    types = sorted({pool.node.nic_type for pool in pools(cluster).values() if pool.node.nic_type})
    by_type = {"vendors": [VENDOR], "deviceIDs": types} if devices.by_type(cluster) else None
    return {
        "configList": [
            {
                "resourceName": name,
                "rdmaHcaMax": devices.SHARED_PODS,
                "selectors": by_type or {"ifNames": sorted({nic.interface for nic in nics if nic.interface})},
            }
            for name, nics in there(cluster).items()
        ]
    }


def whole_devices(cluster: Cluster) -> dict[str, Any]:
    """Return the configuration of the plugin that gives whole NICs (sriov-network-device-plugin v3.9 README.md)."""
    told = all(devices.reports_numa(cluster, name) for name in pools(cluster))
    return {
        "resourceList": [
            {
                "resourcePrefix": devices.resource_prefix(cluster),
                "resourceName": name,
                **({} if told else {"excludeTopology": True}),
                "selectors": [{"pciAddresses": sorted({nic.pci for nic in nics if nic.pci}), "isRdma": True}],
            }
            for name, nics in there(cluster).items()
        ]
    }


def address_pool(site: Site, name: str, subnet: Network) -> Resource:
    """Return the pool of addresses of one network: blocks of one flat range, or a routed block for each node."""
    fabric, cluster = site.cluster.fabric, site.cluster
    selector = {"nodeSelector": {"nodeSelectorTerms": terms(cluster)}}
    if fabric is not None and fabric.node_prefix is not None:
        fields = routed_pool(fabric.node_prefix, subnet, fabric.node_blocks, fabric.routes)
        kind = "CIDRPool"
    else:
        first = str(subnet[1])
        fields = {
            "subnet": str(subnet),
            "perNodeBlockSize": block_size(cluster, name),
            "exclusions": [{"startIP": first, "endIP": first}],
        }
        kind = "IPPool"
    at = ("fabric", "addresses")
    return Resource(ADDRESSES, kind, name, at, site.facts.namespace, fields={"spec": {**fields, **selector}})


def routed_pool(prefix: int, subnet: Network, places: Mapping[str, int], routes: tuple[str, ...]) -> dict[str, Any]:
    """Return the pool of a rail whose nodes have a block each: the rail's other blocks are reached by its gateway.

    The gateway is the first address of a block; in a block of two the network's own address counts (nvidia-k8s-ipam
    v0.4.0 api/v1alpha1/helpers.go GetGatewayForSubnet).
    """
    size = 2 ** (subnet.max_prefixlen - prefix)
    gateway = 0 if size <= 2 else 1
    fixed = [
        {"nodeName": node, "prefix": f"{subnet[block * size]}/{prefix}", "gateway": str(subnet[block * size + gateway])}
        for node, block in places.items()
    ]
    return {
        "cidr": str(subnet),
        "perNodeNetworkPrefix": prefix,
        "gatewayIndex": gateway,
        "routes": [{"dst": str(subnet)}, *({"dst": str(ipaddress.ip_network(route))} for route in routes)],
        "staticAllocations": fixed or None,
    }


OPERATOR = NetworkOperator()
