"""Prerequisites of the fabric's NICs: virtual functions, places, names, ports, paths to GPUs, kernel modules."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.render.clusters import nodes
from trainyard.render.clusters.node_modules import IPOIB, RDMA_MODULES
from trainyard.render.prerequisites.base import Prerequisite, Site, names_text, of_pools
from trainyard.render.sizing.fabrics import devices, plan
from trainyard.render.sizing.fabrics.rails import HOST, rails
from trainyard.render.sizing.fabrics.verbs import ADAPTERS, adapters
from trainyard.specs import Cluster, Fabric, Pool
from trainyard.specs.shapes import Nic

LINKS = {"infiniband": ("InfiniBand", 1), "roce": ("Ethernet", 2)}
"""Link of a port as the kernel names it, and value of its LINK_TYPE (NVIDIA MFT documentation, mlxconfig)."""

POD = "in any pod on each node"


def on_rails(cluster: Cluster, name: str, pool: Pool) -> list[Nic]:
    """Return the NICs of a pool's nodes that are on the fabric."""
    return [nic for nic in pool.node.nics if nic.rail in rails(cluster, name)]


def functions(site: Site, fabric: Fabric) -> Iterator[Prerequisite]:
    """Yield virtual functions, which only a node's firmware allows; they need no IOMMU, since no VM gets them."""
    cluster = site.cluster
    for name, pool in plan.pools(cluster).items() if fabric.attach == "sriov" else ():
        there = on_rails(cluster, name, pool)
        count = max((devices.functions_per_nic(cluster, pool, nic.rail) for nic in there), default=1)
        address = next((nic.pci for nic in there if nic.pci), "ADDRESS")
        yield Prerequisite(
            f"{of_pools([name])} have SR-IOV on in their firmware",
            f"each NIC is split into {count} virtual function{'s' if count > 1 else ''} for pods",
            ("fabric", "attach"),
            "switch it on in the setup of the nodes' firmware",
            look=f"`cat /sys/bus/pci/devices/{address}/sriov_totalvfs`, {POD}, prints {count} or more",
        )


def places(site: Site, fabric: Fabric) -> Iterator[Prerequisite]:
    """Yield where the NICs of a pool's nodes are, or how they are called: what operators choose them by."""
    cluster = site.cluster
    if devices.advertiser(cluster) is None and fabric.attach != "macvlan":
        return
    for name, pool in plan.pools(cluster).items():
        there = on_rails(cluster, name, pool)
        addresses = [nic.pci for nic in there if nic.pci]
        interfaces = [nic.interface for nic in there if nic.interface]
        by_name = fabric.attach in devices.SHARED or len(addresses) < len(there)
        found = interfaces if by_name else addresses
        if not there or len(found) < len(there) or devices.by_type(cluster):
            continue
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


def names(site: Site, fabric: Fabric) -> Iterator[Prerequisite]:
    """Yield the RDMA devices that pods are told to use, where they see all of a node's.

    rdma-core renames them by their place unless its rule is masked (linux-rdma/rdma-core
    kernel-boot/rdma-persistent-naming.rules: NAME_FALLBACK); without it their numbers follow the order of probing.
    """
    cluster = site.cluster
    if fabric.attach not in {*devices.SHARED, HOST}:
        return
    for name, pool in plan.pools(cluster).items():
        stated = fabric.env.get(ADAPTERS)
        if stated is None and not pool.node.nics:
            continue
        used = stated or adapters(cluster, name).value
        masked = "mask rdma-core's udev rule that renames them, or "
        by_rule = cluster.distribution_of(name).nic_driver is None
        yield Prerequisite(
            f"on {of_pools([name])} the RDMA devices of the fabric are those that {ADAPTERS} names: {used}",
            "NCCL uses these alone; it fails without any, and ports of storage shift the numbers",
            ("fabric", "env", ADAPTERS) if stated else ("pools", name, "shape"),
            f"{masked if by_rule else ''}write their names into `{ADAPTERS}` of `fabric.env`",
            look=f"`ls -l /sys/class/infiniband`, {POD}, prints their names and PCI addresses",
        )


def ports(site: Site, fabric: Fabric) -> Iterator[Prerequisite]:
    """Yield the link of ports that can have either.

    Mellanox/network-operator-docs v26.4 deployment-guide-kubernetes.rst: ports of host and switch in InfiniBand mode.
    """
    cluster = site.cluster
    if fabric.type not in LINKS or fabric.attach == "none":
        return
    link, value = LINKS[fabric.type]
    there = [
        name
        for name, pool in plan.pools(cluster).items()
        if any(nic.link == "either" for nic in on_rails(cluster, name, pool))
    ]
    if there:
        yield Prerequisite(
            f"ports of the fabric's NICs on {of_pools(there)} are in {link} mode",
            "their NICs can have either link, and only one of them reaches the switches",
            ("fabric", "type"),
            f"`mlxconfig -d DEVICE set LINK_TYPE_P1={value}` for each NIC, and restart the nodes",
            look=f"`grep . /sys/class/infiniband/*/ports/1/link_layer`, {POD}, prints {link} for each of them",
        )


def paths(site: Site, fabric: Fabric) -> Iterator[Prerequisite]:
    """Yield the straight way between GPUs and NICs on machines of one's own.

    NCCL user guide, troubleshooting: ACS sends transfers between PCI devices through the processor, and an IOMMU asks
    for it. Virtual machines need ACS, so that clouds are left out; nodes with Grace have no PCI switches.
    """
    cluster = site.cluster
    if fabric.attach == "none":
        return
    there = [
        name
        for name, pool in plan.pools(cluster).items()
        if pool.node.gpus is not None
        and pool.node.provider is None
        and cluster.distribution_of(name).provider is None
        and pool.node.nvlink_nodes == 1
    ]
    if there:
        yield Prerequisite(
            f"PCI switches of {of_pools(there)} redirect nothing (ACS is off), and an IOMMU is off or passes through",
            "transfers between GPU and NIC go through the processor otherwise: slower, or they hang",
            ("fabric", "attach"),
            "switch ACS off in the firmware or by `setpci`, and boot with `iommu=pt` where the IOMMU is on",
            look="`lspci -vvv`, as root, prints SrcValid- in each ACSCtl; `/proc/cmdline` has iommu=pt, or "
            "`/sys/class/iommu` is empty",
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
        wanted = (*RDMA_MODULES, IPOIB) if devices.needs_ipoib(cluster) else RDMA_MODULES
        listed = names_text([f"`{module}`" for module in wanted])
        get = "install rdma-core in the node's image"
        if any(cluster.distribution_of(name).modules.load for name in there):
            get += ", or write `nicDriver: inbox`, and a file of `nodes/` loads them; DOCA loads its own"
        yield Prerequisite(
            f"{of_pools(there)} load the kernel modules {listed}",
            "device plugins skip NICs that lack the device files or network devices of these modules"
            if IPOIB in wanted
            else "device plugins skip NICs that lack the device files of these modules",
            ("fabric", "attach"),
            get,
            look="`ls /dev/infiniband`, on a node, prints rdma_cm, and umad and uverbs of each NIC",
        )


def nic_drivers(cluster: Cluster, pool: str) -> bool:
    """Whether the file says which driver the NICs of a pool have: it loads its modules, or a file of nodes does."""
    return cluster.system_of(pool).nic_driver is not None or bool(nodes.needs(cluster, pool).load)
