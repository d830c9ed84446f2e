"""SR-IOV Network Operator: virtual functions of every rail, on every pool of the fabric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from trainyard.render.operators import nic_configuration
from trainyard.render.operators.base import Conflict, Operator, Site, merge
from trainyard.render.operators.stated_values import check_folders, if_true, leaves, stated
from trainyard.render.parts.health import by_field
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.fabrics.devices import functions_per_nic, pool_resource, reports_numa
from trainyard.render.sizing.fabrics.plan import link, nics, pools
from trainyard.render.sizing.fabrics.rails import rails
from trainyard.render.sizing.software import cni
from trainyard.specs import Fabric
from trainyard.specs.releases.facts import lookup
from trainyard.specs.shapes import Nic

API = "sriovnetwork.openshift.io/v1"

DRIVER_LOADED = "network.nvidia.com/operator.mofed.wait"
"""Label of nodes by which the network operator says whether its driver of NICs must still be waited for."""

INSIDE = "sriov-network-operator"
"""Where the network operator's chart has the values of this one."""

OF_VALUES = (
    "configDaemonNodeSelector",
    "configurationMode",
    "disableDrain",
    "disablePlugins",
    "featureGates",
    "logLevel",
)
"""Values of `sriovOperatorConfig` that are fields of the configuration."""

LINKS = {"ethernet": "eth", "infiniband": "ib"}

HEALTH = by_field(
    "syncStatus",
    waiting="Waiting for the node's daemon",
    healthy="Succeeded",
    degraded="Failed",
    reason="lastSyncError",
)


class SriovNetworkOperator(Operator):
    """The chart installs the operator; its configuration is ours, and policies that drain nodes are hardware."""

    name = "sriov-network-operator"
    health: ClassVar[Mapping[str, str]] = {"sriovnetwork.openshift.io/SriovNetworkNodeState": HEALTH}

    def values(self, site: Site) -> dict[str, Any]:
        """Leave the operator's configuration to us, and put plugins where the nodes look for them."""
        return {"sriovOperatorConfig": {"deploy": False}, **plugin_folder(site)}

    def own(self, site: Site) -> Iterator[Resource]:
        """Yield the operator's configuration."""
        yield configuration(site)

    def hardware(self, site: Site) -> Iterator[Resource]:
        """Yield the policies of all pools."""
        yield from policies(site)

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield a second configuration, and folders that are not those of the nodes."""
        yield from check_configuration(site)


CHART = "k8snetworkplumbingwg/sriov-network-operator v1.6.0 deployment/sriov-network-operator-chart"


def check_configuration(site: Site, section: str = "") -> Iterator[Conflict]:
    """Yield values of the chart's own SriovOperatorConfig that ours does not have; and the plugins' folder."""
    inside, source = f"{section}sriovOperatorConfig", f"{CHART}/templates/sriovoperatorconfig.yaml"
    why = "operators/ has the SriovOperatorConfig already; remove it"
    yield from if_true(site, {f"{inside}.deploy": why}, source)
    for name, _ in leaves(stated(site, inside) or {}):
        if name and name.partition(".")[0] not in {"deploy", *OF_VALUES}:
            message = f"{inside}.{name} has no effect, as Trainyard renders the SriovOperatorConfig; remove it"
            yield Conflict(f"{inside}.{name}", message, source, breaks=False)
    yield from check_folders(site, f"{CHART}/values.yaml", binaries=f"{section}operator.cniBinPath")


def plugin_folder(site: Site) -> dict[str, Any]:
    """Return the chart's value for the folder of CNI plugins, where it is not the usual one."""
    folders = cni(site.cluster)
    return {} if folders.is_usual else {"operator": {"cniBinPath": folders.binaries}}


def configuration(site: Site) -> Resource:
    """Return the configuration; the operator's daemon runs on the pools of the fabric.

    Injector and webhook stay off: they want certificates, pods here name their devices themselves, and the policies
    are checked before they are applied. Where the network operator brings the driver of NICs, it comes first; so does
    the NIC configuration operator, which then alone writes firmware. Without a selector the daemon asks for the label
    node-role.kubernetes.io/worker (sriov-network-operator v1.6.0 pkg/consts/constants.go).
    """
    names = list(pools(site.cluster))
    selector = site.cluster.selector_of(names[0]) if len(names) == 1 else {"kubernetes.io/os": "linux"}
    if any(site.cluster.system_of(name).nic_driver == "operator" for name in names):
        selector[DRIVER_LOADED] = "false"
    configured = nic_configuration.configures(site.cluster)
    if configured:
        selector[nic_configuration.CONFIGURED] = "false"
    spec = {
        "configDaemonNodeSelector": selector,
        "configurationMode": "daemon",
        "disableDrain": False,
        **({"disablePlugins": ["mellanox"]} if configured else {}),
        "enableInjector": False,
        "enableOperatorWebhook": False,
        "logLevel": 2,
    }
    fields = {"spec": merge(spec, read_values(site))}
    return Resource(API, "SriovOperatorConfig", "default", site.at, site.facts.namespace, fields=fields)


def read_values(site: Site) -> dict[str, Any]:
    """Return the fields of the configuration that the cluster's file has, as values of the chart.

    Source: sriov-network-operator v1.6.0 deployment/sriov-network-operator-chart/templates/sriovoperatorconfig.yaml.
    """
    values = site.choice.values
    values = values if site.name == OPERATOR.name else values.get(INSIDE) or {}
    own = lookup(values, "sriovOperatorConfig")
    found = {key: value for key, value in own.items() if key in OF_VALUES} if isinstance(own, Mapping) else {}
    controllers = lookup(values, "operator.admissionControllers.enabled")
    if controllers is not None:
        found |= {"enableInjector": controllers, "enableOperatorWebhook": controllers}
    return found


def policies(site: Site) -> Iterator[Resource]:
    """Yield a policy for each rail of each pool, and how many of the pool's nodes may be away at a time."""
    fabric = site.cluster.fabric
    if fabric is None or fabric.attach != "sriov":
        return
    for name, pool in pools(site.cluster).items():
        yield pool_config(site, name)
        for rail in rails(site.cluster, name):
            found = nics(pool, fabric, rail)
            if found:
                yield node_policy(site, name, fabric, rail, found)


def pool_config(site: Site, pool: str) -> Resource:
    """Return the pool's limits: one node is drained at a time, and RDMA devices belong to one pod each.

    The RDMA mode is the same on all nodes of a pool and matches the `rdma` plugin of the networks.
    """
    spec = {
        "maxUnavailable": 1,
        "nodeSelector": {"matchLabels": site.cluster.selector_of(pool)},
        "rdmaMode": "exclusive",
    }
    return Resource(API, "SriovNetworkPoolConfig", pool, ("pools", pool), site.facts.namespace, fields={"spec": spec})


def node_policy(site: Site, pool: str, fabric: Fabric, rail: int, found: tuple[Nic, ...]) -> Resource:
    """Return the policy that makes virtual functions on the NICs of one rail.

    The MTU is set here: networks of virtual functions have no field for it. Interfaces of InfiniBand take theirs from
    the subnet manager. Functions keep their NUMA node from the kubelet where it would refuse pods for it, or freeze.
    """
    kind, cluster = link(fabric), site.cluster
    spec = {
        "deviceType": "netdevice",
        "excludeTopology": None if reports_numa(cluster, pool) else True,
        "isRdma": True,
        "linkType": LINKS[kind],
        "mtu": fabric.mtu if kind == "ethernet" else None,
        "nicSelector": selector(found),
        "nodeSelector": cluster.selector_of(pool),
        "numVfs": functions_per_nic(cluster, cluster.pools[pool], rail),
        "resourceName": pool_resource(cluster, rail),
    }
    name = f"{pool}-rail-{rail}"
    return Resource(
        API, "SriovNetworkNodePolicy", name, ("fabric", "rails"), site.facts.namespace, fields={"spec": spec}
    )


def selector(found: tuple[Nic, ...]) -> dict[str, list[str]]:
    """Return how the policy finds the NICs: by PCI address where all are known, else by network device.

    `pfNames` are compared with network devices, never with RDMA devices such as `mlx5_0` (sriov-network-operator
    v1.6.0 api/v1/helper.go SriovNetworkNicSelector.Selected).
    """
    if all(nic.pci is not None for nic in found):
        return {"rootDevices": [nic.pci for nic in found if nic.pci is not None]}
    return {"pfNames": [nic.interface for nic in found if nic.interface is not None]}


OPERATOR = SriovNetworkOperator()
