"""Prerequisites of the training fabric: switches, NICs, device plugins, and what providers add to nodes.

Facts: GoogleCloudPlatform/container-engine-accelerators (gpudirect-*/nccl-*-installer.yaml,
nri_device_injector/nri-device-injector.yaml); awsdocs/amazon-eks-user-guide latest/ug/ml/node-efa.adoc; NVIDIA
MLNX_OFED documentation, quality of service.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from trainyard.render.operators.gke_gpudirect import NAME, PLUGINS
from trainyard.render.operators.install import sites
from trainyard.render.prerequisites import nics
from trainyard.render.prerequisites.amazon import efa
from trainyard.render.prerequisites.base import Prerequisite, Site, names_text, of_pools
from trainyard.render.prerequisites.nodes import in_words
from trainyard.render.prerequisites.questions import AllExisting, Definitions, Existing, NodeOffers, namespaced
from trainyard.render.sizing.fabrics import devices, fabric_type, plan
from trainyard.render.sizing.fabrics.rails import IPOIB_HEADER, LARGE, SECONDARY, one_for_all, rails
from trainyard.specs import Fabric

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
            count = len(rails(cluster, name))
            shared = fabric.attach in devices.SHARED and one_for_all(cluster)
            whole = f", and each of them gives a pod all {count} NICs of the fabric" if shared else ""
            one = {resource: Fraction(1) for resource in found} if fabric.attach in devices.SHARED else found
            yield Prerequisite(
                f"{of_pools([name])} offer `{in_words(one)}`{whole}",
                "pods on the fabric request these devices, and stay pending without them",
                ("fabric", "resources"),
                "install the device plugin of the NICs, such as NVIDIA's Network Operator",
                NodeOffers(name, one),
            )


def packets(_site: Site, fabric: Fabric) -> Iterator[Prerequisite]:
    """Yield the size of packets on InfiniBand: of the ports, and of the interfaces that pods get.

    IPoIB takes four bytes of a packet, and a group has 2048 bytes by default (linux-rdma/opensm
    doc/partition-config.txt: mtu=4, where 5 is 4096).
    """
    if fabric.type != "infiniband" or fabric.attach == "none":
        return
    yield Prerequisite(
        f"ports of the fabric's switches and NICs are active with an MTU of {LARGE} bytes",
        "InfiniBand sends packets of at most this size; smaller ones cost bandwidth",
        ("fabric", "type"),
        "allow it on the switches and in the subnet manager",
        look=f"`ibv_devinfo`, in a pod on the fabric, prints active_mtu: {LARGE}",
    )
    if fabric.attach in SECONDARY and LARGE // 2 - IPOIB_HEADER < fabric.mtu <= LARGE - IPOIB_HEADER:
        yield Prerequisite(
            f"the IPoIB group of the pods' partition allows packets of {LARGE} bytes (`mtu=5` of OpenSM)",
            f"interfaces of pods carry {fabric.mtu} bytes and {IPOIB_HEADER} of IPoIB; by default a group has 2048",
            ("fabric", "mtu"),
            "write `ipoib, mtu=5` for the partition into partitions.conf, or set it in UFM",
            look=f"`cat /sys/class/net/net1/mtu`, in a pod on the fabric, prints {LARGE - IPOIB_HEADER}",
        )


def switches(_site: Site, fabric: Fabric) -> Iterator[Prerequisite]:
    """Yield the settings of Ethernet's switches that pods count on."""
    if fabric.type != "roce" or fabric.attach == "none":
        return
    vlans = sorted(set(fabric.vlans.values()))
    carried = f" and VLANs {names_text([str(vlan) for vlan in vlans])}" if vlans else ""
    yield Prerequisite(
        f"ports of the fabric's switches carry packets of {fabric.mtu} bytes{carried}",
        "pods send packets of this size; smaller ports drop them, and NCCL waits until it times out",
        ("fabric", "vlans") if vlans else ("fabric", "mtu"),
        "set it on every port of the rails",
        look=f"`ping -M do -s {fabric.mtu - HEADERS} ADDRESS`, from node to node on a rail",
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
        look=f"`grep . /sys/class/infiniband/*/ports/1/state`, {nics.POD}, prints 4: ACTIVE for the fabric's",
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


AREAS: tuple[Area, ...] = (
    resources,
    nics.functions,
    nics.places,
    nics.names,
    nics.ports,
    nics.paths,
    nics.modules,
    packets,
    switches,
    lossless,
    subnets,
    efa,
    google,
)
"""Parts of the fabric, in the order of the list; each looks at the fabric's type itself."""


def every(site: Site) -> Iterator[Prerequisite]:
    """Yield the prerequisites of the cluster's fabric, none where it has none."""
    if site.cluster.fabric is not None:
        for area in AREAS:
            yield from area(site, site.cluster.fabric)
