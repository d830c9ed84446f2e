"""Prerequisites of the training fabric: switches, NICs, device plugins, and what providers add to nodes.

Facts: GoogleCloudPlatform/container-engine-accelerators (gpudirect-*/nccl-*-installer.yaml,
nri_device_injector/nri-device-injector.yaml); awsdocs/amazon-eks-user-guide latest/ug/ml/node-efa.adoc; NVIDIA
MLNX_OFED documentation, quality of service.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from trainyard.render.clusters import nodes
from trainyard.render.clusters.node_modules import RDMA_MODULES
from trainyard.render.operators.gke_gpudirect import NAME, PLUGINS
from trainyard.render.operators.install import sites
from trainyard.render.prerequisites.amazon import efa
from trainyard.render.prerequisites.base import Prerequisite, Site, names_text, of_pools
from trainyard.render.prerequisites.nodes import in_words
from trainyard.render.prerequisites.questions import AllExisting, Definitions, Existing, NodeOffers, namespaced
from trainyard.render.sizing.fabrics import devices, fabric_type, plan
from trainyard.render.sizing.fabrics.rails import rails
from trainyard.specs import Cluster, Fabric, Pool
from trainyard.specs.shapes import Nic

Area = Callable[[Site, Fabric], Iterator[Prerequisite]]

CODES = 4
"""A traffic class is a DSCP, then two bits of ECN (RFC 3168)."""

HEADERS = 28
"""Bytes of the headers of IPv4 and ICMP."""

CLASS_BITS = 8
"""NICs map DSCP to priority by its upper three bits (NVIDIA MLNX_OFED documentation, quality of service)."""

GOOGLE = "https://raw.githubusercontent.com/GoogleCloudPlatform/container-engine-accelerators/master"
NETWORKS = "/apis/networking.gke.io/v1/networks"
INJECTOR = "nri_device_injector/nri-device-injector"


def resources(site: Site, fabric: Fabric) -> Iterator[Prerequisite]:
    """Yield the devices of NICs that a plugin of somebody else's advertises."""
    cluster = site.cluster
    if devices.advertiser(cluster) is not None:
        return
    for name in plan.pools(cluster):
        found = {resource: Fraction(count) for resource, count in devices.per_node(cluster, name).items()}
        if found:
            one = {resource: Fraction(1) for resource in found} if fabric.attach in devices.SHARED else found
            yield Prerequisite(
                f"{of_pools([name])} offer `{in_words(one)}`",
                "pods on the fabric request these devices, and stay pending without them",
                ("fabric", "resources"),
                "install the device plugin of the NICs, such as NVIDIA's Network Operator",
                NodeOffers(name, one),
            )


def nics(site: Site, fabric: Fabric) -> Iterator[Prerequisite]:
    """Yield virtual functions, which only a node's firmware allows, and the places of NICs that the file says."""
    cluster = site.cluster
    for name, pool in plan.pools(cluster).items():
        there = [nic for nic in pool.node.nics if nic.rail in rails(cluster, name)]
        if fabric.attach == "sriov":
            count = max((devices.functions_per_nic(cluster, pool, nic.rail) for nic in there), default=1)
            address = next((nic.pci for nic in there if nic.pci), "ADDRESS")
            yield Prerequisite(
                f"{of_pools([name])} have SR-IOV and the IOMMU on in their firmware",
                f"each NIC is split into {count} virtual function{'s' if count > 1 else ''} for pods",
                ("fabric", "attach"),
                "switch both on in the setup of the nodes' firmware",
                look=f"`cat /sys/bus/pci/devices/{address}/sriov_totalvfs`, on a node",
            )
        if devices.advertiser(cluster) is not None or fabric.attach == "macvlan":
            yield from places(name, pool, fabric, there)


def places(name: str, pool: Pool, fabric: Fabric, there: list[Nic]) -> Iterator[Prerequisite]:
    """Yield where the NICs of a pool's nodes are, or how they are called: what operators choose them by."""
    addresses = [nic.pci for nic in there if nic.pci]
    names = [nic.interface for nic in there if nic.interface]
    by_name = fabric.attach in devices.SHARED or len(addresses) < len(there)
    found = names if by_name else addresses
    if not there or len(found) < len(there):
        return
    field = "interfaces" if by_name else "pci"
    yield Prerequisite(
        f"on {of_pools([name])} the NICs of the fabric are {'called' if by_name else 'at'} {', '.join(found)}",
        "operators choose the NICs of each rail by these; another one would serve the wrong rail, or none",
        ("pools", name, field if getattr(pool, field) else "shape"),
        f"name them so by udev, or write the names that they have on all nodes into `{field}`"
        if by_name
        else f"write what `lspci -D -d 15b3:` prints into `{field}`; nodes with others need a pool of their own",
        look="`ls /sys/class/net`, on each node" if by_name else "`lspci -D -d 15b3:`, on each node",
    )


def modules(site: Site, fabric: Fabric) -> Iterator[Prerequisite]:
    """Yield the kernel modules by which device plugins know an RDMA device, where no file or driver loads them.

    Both plugins take a NIC only with its uverbs, umad and rdma_cm device files (Mellanox/k8s-rdma-shared-dev-plugin
    pkg/resources/rdma_device_spec.go; k8snetworkplumbingwg/sriov-network-device-plugin docs/rdma). rdma-core loads
    ib_umad for InfiniBand alone (linux-rdma/rdma-core kernel-boot/modules).
    """
    cluster = site.cluster
    if fabric.attach in ("none", "host"):
        return
    there = [name for name in plan.pools(cluster) if not nic_drivers(cluster, name)]
    if there:
        listed = names_text([f"`{module}`" for module in RDMA_MODULES])
        get = "install rdma-core in the node's image"
        if any(cluster.distribution_of(name).modules.load for name in there):
            get += ", or write `nicDriver: inbox`, and a file of `nodes/` loads them; DOCA loads its own"
        yield Prerequisite(
            f"{of_pools(there)} load the kernel modules {listed}",
            "device plugins skip NICs that lack the device files of these modules",
            ("fabric", "attach"),
            get,
            look="`ls /dev/infiniband`, on a node, prints rdma_cm, and umad and uverbs of each NIC",
        )


def nic_drivers(cluster: Cluster, pool: str) -> bool:
    """Whether the file says which driver the NICs of a pool have: it loads its modules, or a file of nodes does."""
    return cluster.system_of(pool).nic_driver is not None or bool(nodes.needs(cluster, pool).load)


def switches(_site: Site, fabric: Fabric) -> Iterator[Prerequisite]:
    """Yield the settings of switches that pods count on."""
    if fabric.type not in ("roce", "infiniband") or fabric.attach == "none":
        return
    vlans = sorted(set(fabric.vlans.values()))
    carried = f" and VLANs {names_text([str(vlan) for vlan in vlans])}" if vlans else ""
    yield Prerequisite(
        f"ports of the fabric's switches carry packets of {fabric.mtu} bytes{carried}",
        "pods send packets of this size; smaller ports drop them, and NCCL waits until it times out",
        ("fabric", "vlans") if vlans else ("fabric", "mtu"),
        "set it on every port of the rails",
        look="`ibv_devinfo`, on a node, prints the active MTU"
        if fabric.type == "infiniband"
        else f"`ping -M do -s {fabric.mtu - HEADERS} ADDRESS`, from node to node on a rail",
    )
    if fabric.node_prefix is not None:
        yield Prerequisite(
            f"leaf switches route a /{fabric.node_prefix} of every rail to each node",
            "each node has a block of addresses of its own behind the gateway of its rail",
            ("fabric", "nodePrefix"),
            "set the addresses and routes on the leaf switches",
            look="`ip route`, in a pod on the fabric",
        )


def lossless(_site: Site, fabric: Fabric) -> Iterator[Prerequisite]:
    """Yield the quality of service of RoCE, on switches and NICs."""
    if fabric.type != "roce" or fabric.traffic_class is None:
        return
    code = fabric.traffic_class // CODES
    priority = code // CLASS_BITS
    yield Prerequisite(
        f"switches and NICs trust DSCP, and keep DSCP {code} lossless (PFC on priority {priority}, with ECN)",
        "training traffic has this DSCP; RoCE stalls where packets of it are dropped",
        ("fabric", "trafficClass"),
        f"`mlnx_qos -i DEVICE --trust dscp --pfc {','.join('1' if level == priority else '0' for level in range(8))}`"
        ", on every NIC after each boot, and the same on switches",
        look="`mlnx_qos -i DEVICE`, on a node",
    )


def subnets(site: Site, fabric: Fabric) -> Iterator[Prerequisite]:
    """Yield subnet manager and partitions of InfiniBand.

    Virtual functions need an OpenSM that serves them (k8snetworkplumbingwg/ib-sriov-cni README.md); the option is
    assumed, from MLNX_OFED's documentation of SR-IOV on InfiniBand.
    """
    if fabric.type != "infiniband":
        return
    yield Prerequisite(
        "a subnet manager runs on the fabric" + (f" ({fabric.subnet_manager})" if fabric.subnet_manager else ""),
        "without one no port becomes active",
        ("fabric", "subnetManager") if fabric.subnet_manager else ("fabric", "type"),
        "run OpenSM or UFM beside the switches",
        look="`cat /sys/class/infiniband/*/ports/1/state`, on a node, prints 4: ACTIVE",
    )
    if fabric.attach == "sriov":
        yield Prerequisite(
            "the subnet manager serves virtual functions (`virt_enabled 2` of OpenSM)",
            "by default it gives them no address, and their ports stay down",
            ("fabric", "attach"),
            "write `virt_enabled 2` into opensm.conf, or switch virtualization on in UFM, and restart it",
            look="`grep virt_enabled /etc/opensm/opensm.conf`, where it runs",
        )
    names = {operator.name: operator.facts.namespace for operator in sites(site.cluster)}
    if fabric.ufm_secret and "network-operator" in names:
        yield Prerequisite(
            f"Secret `{names['network-operator']}/{fabric.ufm_secret}` has the account for UFM",
            "ib-kubernetes puts virtual functions into partitions with it",
            ("fabric", "ufmSecret"),
            "create it with the keys `UFM_USERNAME`, `UFM_PASSWORD` and `UFM_ADDRESS`",
            namespaced("Secret", "secrets", names["network-operator"], fabric.ufm_secret),
        )


def google(site: Site, fabric: Fabric) -> Iterator[Prerequisite]:
    """Yield networks, NCCL's plugin and the device injector of GKE, as far as they are not ours."""
    if fabric.type not in PLUGINS:
        return
    there = [name for name in site.cluster.pools if fabric_type(site.cluster).reaches(site.cluster, name)]
    yield from networks(fabric, there)
    operator = site.cluster.operators.get(NAME)
    if operator is not None and operator.managed:
        return
    ours = f"add {NAME} to operators" if operator is None else "remove `managed: false`"
    daemons = [
        (
            f"{fabric.type}/{PLUGINS[fabric.type].name}",
            f"NCCL's plugin for {fabric.type} is on {of_pools(there)}, at the path that pods mount",
        )
    ]
    if fabric.daemon is not None:
        what = f"the NRI device injector runs on {of_pools(there)}; it gives GPUs to the fabric's daemon"
        daemons.append((INJECTOR, what))
    for file, what in daemons:
        name = "device-injector" if file == INJECTOR else file.rpartition("/")[2]
        yield Prerequisite(
            what,
            "pods on the fabric do not start without it",
            ("fabric", "daemon") if file == INJECTOR else ("fabric", "type"),
            f"{ours}, or `kubectl apply -f {GOOGLE}/{file}.yaml`",
            Existing("DaemonSet", f"kube-system/{name}", f"/apis/apps/v1/namespaces/kube-system/daemonsets/{name}"),
        )


def networks(fabric: Fabric, pools: list[str]) -> Iterator[Prerequisite]:
    """Yield the Network objects that somebody else makes, and where the nodes' NICs are for those that are ours."""
    others = [name for name in fabric.networks if name not in fabric.subnets]
    if others:
        yield Prerequisite(
            f"Networks {names_text([f'`{name}`' for name in others])} exist, each with its GKENetworkParamSet",
            "pods on the fabric get an interface of each",
            ("fabric", "networks"),
            "write VPC and subnet of each into `fabric.subnets`, or add the objects to platform/extra (GKE "
            "documentation, set up multi-network support for Pods)",
            AllExisting(tuple(Existing("Network", name, f"{NETWORKS}/{name}") for name in others)),
        )
    if fabric.subnets:
        places = names_text([f"`{where.subnet}`" for where in fabric.subnets.values()])
        yield Prerequisite(
            f"the cluster has Dataplane V2 and multi-networking, and {of_pools(pools)} have NICs in subnets {places}",
            "pods get these NICs; without multi-networking no Network can be created",
            ("fabric", "subnets"),
            "`gcloud container clusters create --enable-dataplane-v2 --enable-multi-networking`, and "
            "`--additional-node-network network=VPC,subnetwork=SUBNET` of each for the node pool",
            Definitions({"networks.networking.gke.io": ("v1",), "gkenetworkparamsets.networking.gke.io": ("v1",)}),
        )


AREAS: tuple[Area, ...] = (resources, nics, modules, switches, lossless, subnets, efa, google)
"""Parts of the fabric, in the order of the list; each looks at the fabric's type itself."""


def every(site: Site) -> Iterator[Prerequisite]:
    """Yield the prerequisites of the cluster's fabric, none where it has none."""
    if site.cluster.fabric is not None:
        for area in AREAS:
            yield from area(site, site.cluster.fabric)
