"""What the file of a cluster must state of its training fabric, because it follows from nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.render.sizing.fabrics.rails import HOST, IPOIB_HEADER, LARGE, SECONDARY, has_verbs
from trainyard.specs import Cluster, Fabric
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

IB_KUBERNETES = "network-operator"
"""The operator that brings ib-kubernetes along, which asks UFM to put a pod's GUID into its partition."""

CNI = Rule(
    id="rdma-cni-kind",
    title="The attach of a fabric is a way that its type supports.",
    why="the pod would get no interface or one of another network, and NCCL finds no device",
    fix="use a value of attach that the type supports",
    source="NVIDIA network-operator documentation v26.4 deployment-guide-kubernetes.rst",
)
NETDEV = Rule(
    id="rdma-roce-netdev",
    title="Pods on RoCE get a network interface beside the RDMA device.",
    why="RoCE finds peers by IP addresses of the pod; without one NCCL fails with 'Failed to modify QP to RTR'",
    fix="set attach to macvlan, sriov or hostdev",
    source="akash-network/provider issue 424; Azure/aks-rdma-infiniband docs",
)
TRAFFIC_CLASS = Rule(
    id="nccl-tc",
    title="A RoCE fabric sets the traffic class that its switches keep lossless.",
    why="NCCL uses class 0 by default, where switches drop packets, and throughput collapses under load",
    fix="set trafficClass to DSCP × 4 + ECN bits, 106 for DSCP 26; set 0 if no class is lossless",
    source="NCCL 2.30 user guide, NCCL_IB_TC; NVIDIA network-operator documentation v26.4 nic-conf-operator",
    severity=Severity.WARNING,
)
INTERFACE = Rule(
    id="nccl-ifname",
    title="The bootstrap interface is one that pods have.",
    why="NCCL and Gloo find no interface of that name, and the job fails before its first step",
    fix="set interface to the network device that has the node's address, such as eno1",
    source="NCCL 2.30 user guide, NCCL_SOCKET_IFNAME",
)
INFINIBAND = Rule(
    id="rdma-ib-prereq",
    title="An InfiniBand fabric names its subnet manager; a partition also names what adds pods to it.",
    why=(
        "ports stay down without a subnet manager, and only UFM gives virtual functions full membership in a partition"
    ),
    fix="set subnetManager: its name, release and operator; with partitionKey also set guids and ufmSecret",
    source="NVIDIA network-operator documentation v26.4 deployment-guide-kubernetes.rst",
)


FRAME = Rule(
    id="rdma-mtu-chain",
    title="The MTU of a fabric is one that its ports take.",
    why="a NIC refuses a larger MTU, so pods are never attached, or switches drop larger frames",
    fix="set mtu to that of the switch ports: usually 9000, or 4092 for IPoIB in datagram mode",
    source=(
        "nvidia-holoscan/holohub tutorials/high_performance_networking: `ip -d link` of ConnectX-7, maxmtu 9978; "
        "linux-rdma/opensm doc/partition-config.txt"
    ),
    severity=Severity.WARNING,
)
SWITCHED_OFF = Rule(
    id="rdma-fabric-env",
    title="No variable in fabric.env switches the fabric off.",
    why="every job of the fabric would train over TCP, and its NICs would be requested for nothing",
    fix="remove the variable from fabric.env",
    source="NCCL 2.30 user guide, NCCL_IB_DISABLE and NCCL_NET",
)
RAILS = Rule(
    id="rdma-rails",
    title="A fabric has as many rails as its nodes have NICs.",
    why="a NIC without a rail carries no traffic: with four rails for eight NICs, half of the bandwidth is lost",
    fix="remove rails: the default follows from the shapes; waive this if the other NICs have another purpose",
    source="docs/fabric.md",
    severity=Severity.WARNING,
)

MOVED = frozenset({"sriov", "hostdev", "macvlan"})
"""Ways of attaching by which a pod has one of many devices of a NIC, or NICs that differ from node to node."""

ADAPTER = re.compile(r"=?mlx\d_\d+(?::\d+)?")
"""One adapter by its number, which leaves all others unused."""

LARGEST_FRAME = 9978
"""Bytes of the largest MTU that mlx5 takes, of ConnectX-4 Lx to ConnectX-7; ports of switches often end below."""
DSCP = frozenset(
    (*range(8, 57, 8), *(precedence for low in range(10, 39, 8) for precedence in (low, low + 2, low + 4)), 46)
)
"""Code points that switches know by name: CS1 to CS7, AF11 to AF43, EF (RFC 2474, 2597, 3246)."""


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield the findings on fields that the fabric lacks or that its type does not use; ids are the catalogue's."""
    fabric = cluster.fabric
    if fabric is None:
        return
    yield from check_attach(cluster, fabric, source)
    yield from check_env(fabric, source)
    if not has_verbs(cluster):
        return
    if fabric.type == "roce" and fabric.traffic_class is None:
        message = "roce has no trafficClass, so NCCL uses class 0; set the lossless class, or 0"
        yield TRAFFIC_CLASS.at(source, ("fabric", "type"), message)
    if fabric.type == "roce":
        yield from check_ethernet(fabric, source)
    yield from check_rails(cluster, fabric, source)
    if fabric.type == "infiniband":
        yield from check_infiniband(fabric, source)
        most = LARGE - IPOIB_HEADER
        if fabric.attach in SECONDARY and "mtu" in fabric.model_fields_set and fabric.mtu > most:
            message = f"mtu is {fabric.mtu}, but interfaces on InfiniBand carry at most {most}; use that"
            yield FRAME.at(source, ("fabric", "mtu"), message)
    if fabric.attach == HOST and fabric.interface is None:
        message = "attach 'host' shows pods all interfaces of the node; set interface to the bootstrap one"
        yield INTERFACE.at(source, ("fabric", "attach"), message)
    yield from check_partition(cluster, fabric, source)


def check_env(fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield variables that keep every job of the fabric off it."""
    for name, value in fabric.env.items():
        if (name == "NCCL_IB_DISABLE" and value.strip() not in {"", "0"} and fabric.type != "efa") or (
            name == "NCCL_NET" and value.strip().lower() == "socket"
        ):
            message = f"env sets {name}: {value[:20]!r}, which takes every job off the fabric; remove it"
            yield SWITCHED_OFF.at(source, ("fabric", "env", name), message)
        elif name == "NCCL_IB_HCA" and fabric.attach in MOVED and ADAPTER.fullmatch(value.strip()):
            message = f"env sets NCCL_IB_HCA: {value[:20]!r}, but pods get other NICs of the node each time; remove it"
            yield SWITCHED_OFF.at(source, ("fabric", "env", name), message)


def check_ethernet(fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield frames that Ethernet does not carry, and a code point in place of the class that has it."""
    if fabric.mtu > LARGEST_FRAME:
        message = f"mtu is {fabric.mtu}, but Ethernet ports take at most {LARGEST_FRAME}; use the MTU of the switches"
        yield FRAME.at(source, ("fabric", "mtu"), message)
    said = fabric.traffic_class
    if said is not None and said in DSCP and said // 4 not in DSCP and said // 4:
        message = f"trafficClass {said} means DSCP {said // 4}; for DSCP {said} write {4 * said + 2}"
        yield TRAFFIC_CLASS.at(source, ("fabric", "trafficClass"), message)


def check_rails(cluster: Cluster, fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield fewer rails than a pool of the fabric has NICs for."""
    if fabric.rails is None:
        return
    for name, pool in cluster.pools.items():
        if (fabric.pools and name not in fabric.pools) or not is_known_shape(pool.shape):
            continue
        nics = len(pool.node.nics)
        if nics > fabric.rails:
            message = f"rails is {fabric.rails}, but nodes of pool {name!r} have {nics} NICs; remove rails"
            yield RAILS.at(source, ("fabric", "rails"), message)


def check_attach(cluster: Cluster, fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield a way of attaching that the type of fabric does not have."""
    modes = fabric_type(cluster).modes
    if fabric.attach in modes:
        return
    if fabric.type == "roce" and fabric.attach == "rdma-shared":
        message = "attach 'rdma-shared' gives pods no network interface, which roce needs; use macvlan"
        yield NETDEV.at(source, ("fabric", "attach"), message)
        return
    message = (
        f"attach is {fabric.attach!r}, but a fabric of type {fabric.type!r} supports only: {', '.join(sorted(modes))}"
    )
    yield CNI.at(source, ("fabric", "attach"), message)


def check_infiniband(fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield a subnet that nobody is said to manage, and classes of Ethernet."""
    if fabric.subnet_manager is None:
        message = "infiniband needs a subnet manager; set subnetManager to its name, release and operator"
        yield INFINIBAND.at(source, ("fabric", "type"), message)
    for field in ("traffic_class", "fifo_traffic_class", "gid_index"):
        if getattr(fabric, field) is not None:
            alias = str(Fabric.model_fields[field].alias)
            message = f"infiniband ignores {alias}; remove it, and set serviceLevel if needed"
            yield TRAFFIC_CLASS.at(source, ("fabric", alias), message)


def check_partition(cluster: Cluster, fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield a partition that nothing puts virtual functions into, and what it is for without one."""
    field = "partitionKey" if fabric.partition_key or not fabric.partition_keys else "partitionKeys"
    path = ("fabric", field)
    said = {"guids": fabric.guids, "ufmSecret": fabric.ufm_secret}
    if not fabric.partitioned:
        for field in (name for name, value in said.items() if value is not None):
            message = f"{field} is only used with partitions; set partitionKey, or remove it"
            yield INFINIBAND.at(source, ("fabric", field), message)
        return
    operator = cluster.operators.get(IB_KUBERNETES)
    missing = [name for name, value in said.items() if value is None]
    if fabric.type != "infiniband" or fabric.attach != "sriov":
        message = (
            f"{field} is only for virtual functions on infiniband, not {fabric.attach!r} on {fabric.type}; remove it"
        )
        yield INFINIBAND.at(source, path, message)
    elif operator is None:
        message = f"{field} needs ib-kubernetes; add operator {IB_KUBERNETES}, which installs it"
        yield INFINIBAND.at(source, path, message)
    elif operator.managed and missing:
        message = f"{field} also needs {' and '.join(missing)}, with which ib-kubernetes connects to UFM"
        yield INFINIBAND.at(source, path, message)
    elif fabric.guids is not None and fabric.guids[1].lower() < fabric.guids[0].lower():
        message = f"guids end at {fabric.guids[1]}, before their start; write the first, then the last"
        yield INFINIBAND.at(source, ("fabric", "guids"), message)
