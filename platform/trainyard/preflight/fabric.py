"""What the file of a cluster must state of its training fabric, because it follows from nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.findings import Finding, Severity
from trainyard.rules import Rule
from trainyard.sizing.fabrics import fabric_type
from trainyard.sizing.fabrics.rails import HOST, has_verbs
from trainyard.specs import Cluster, Fabric
from trainyard.specs.shapes import known
from trainyard.specs.sources import Source

IB_KUBERNETES = "network-operator"
"""The operator that brings ib-kubernetes along, which asks UFM to put a pod's GUID into its partition."""

CNI = Rule(
    id="rdma-cni-kind",
    title="Pods are attached in a way that fits the type of fabric.",
    why="the pod would get an interface of another network, or none, and NCCL finds no device",
    fix="choose one of the ways that the type of fabric has",
    source="NVIDIA network-operator documentation v26.4 deployment-guide-kubernetes.rst",
)
NETDEV = Rule(
    id="rdma-roce-netdev",
    title="Pods on RoCE get the interface of a NIC beside its RDMA device.",
    why="RoCE finds its peers by addresses of the pod's network: 'Failed to modify QP to RTR'",
    fix="write attach: macvlan, sriov or hostdev",
    source="akash-network/provider issue 424; Azure/aks-rdma-infiniband docs",
)
TRAFFIC_CLASS = Rule(
    id="nccl-tc",
    title="RoCE states the traffic class that its switches keep lossless.",
    why="NCCL sends in class 0 otherwise, which switches drop from, and throughput collapses when many send to one",
    fix="write trafficClass: DSCP times four and two ECN bits, 106 for DSCP 26; 0 where nothing is lossless",
    source="NCCL 2.30 user guide, NCCL_IB_TC; NVIDIA network-operator documentation v26.4 nic-conf-operator",
    severity=Severity.WARNING,
)
INTERFACE = Rule(
    id="nccl-ifname",
    title="The interface that process groups start over is one that pods have.",
    why="NCCL and Gloo find no interface of that name, and the job ends before its first step",
    fix="write interface: the network device with the node's own address, such as eno1",
    source="NCCL 2.30 user guide, NCCL_SOCKET_IFNAME",
)
INFINIBAND = Rule(
    id="rdma-ib-prereq",
    title="InfiniBand states what manages its subnet, and a partition what puts pods into it.",
    why="without a subnet manager ports stay down, and with other drivers' partitions functions get no full membership",
    fix="write subnetManager: what it is, its release, and who runs it; beside partitionKey, guids and ufmSecret",
    source="NVIDIA network-operator documentation v26.4 deployment-guide-kubernetes.rst",
)


FRAME = Rule(
    id="rdma-mtu-chain",
    title="Frames of RoCE are no larger than Ethernet takes.",
    why="a NIC refuses the size, so that pods are never attached, or switches drop what is larger",
    fix="write the MTU of the switches' ports, 9000 as a rule",
    source="nvidia-holoscan/holohub tutorials/high_performance_networking: `ip -d link` of ConnectX-7, maxmtu 9978",
    severity=Severity.WARNING,
)
SWITCHED_OFF = Rule(
    id="rdma-fabric-env",
    title="The variables of a fabric leave it on.",
    why="every job of the fabric would train over TCP, with NICs that it asks for and does not use",
    fix="remove the variable from fabric.env",
    source="NCCL 2.30 user guide, NCCL_IB_DISABLE and NCCL_NET",
)
RAILS = Rule(
    id="rdma-rails",
    title="A fabric has as many rails as its nodes have NICs.",
    why="NICs without a rail carry nothing: with four rails of eight, half of the bandwidth is left",
    fix="remove rails, which then follows from the shapes; waive it where the other NICs are for something else",
    source="docs/clusters.md",
    severity=Severity.WARNING,
)

LARGEST_FRAME = 9978
"""Bytes of the largest MTU that mlx5 takes, of ConnectX-4 Lx to ConnectX-7; ports of switches often end below."""
DSCP = frozenset((*range(8, 57, 8), *(each for low in range(10, 39, 8) for each in (low, low + 2, low + 4)), 46))
"""Code points that switches know by name: CS1 to CS7, AF11 to AF43, EF (RFC 2474, 2597, 3246)."""


def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield what the fabric leaves unsaid, and what it says that its type has no use for; ids are the catalogue's."""
    fabric = cluster.fabric
    if fabric is None:
        return
    yield from check_attach(cluster, fabric, source)
    yield from check_env(fabric, source)
    if not has_verbs(cluster):
        return
    if fabric.type == "roce" and fabric.traffic_class is None:
        message = "roce states no trafficClass, so NCCL sends in class 0; state the lossless one, or 0"
        yield TRAFFIC_CLASS.at(source, ("fabric", "type"), message)
    if fabric.type == "roce":
        yield from check_ethernet(fabric, source)
    yield from check_rails(cluster, fabric, source)
    if fabric.type == "infiniband":
        yield from check_infiniband(fabric, source)
    if fabric.attach == HOST and fabric.interface is None:
        message = "attach 'host' shows pods the node's interfaces; name in interface the one for bootstrap"
        yield INTERFACE.at(source, ("fabric", "attach"), message)
    yield from check_partition(cluster, fabric, source)


def check_env(fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield variables that keep every job of the fabric off it."""
    for name, value in fabric.env.items():
        if (name == "NCCL_IB_DISABLE" and value.strip() not in {"", "0"} and fabric.type != "efa") or (
            name == "NCCL_NET" and value.strip().lower() == "socket"
        ):
            message = f"env has {name}: {value[:20]!r}, with which every job leaves the fabric; remove it"
            yield SWITCHED_OFF.at(source, ("fabric", "env", name), message)


def check_ethernet(fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield frames that Ethernet does not carry, and a code point in place of the class that has it."""
    if fabric.mtu > LARGEST_FRAME:
        message = f"mtu is {fabric.mtu}, but ports of Ethernet take {LARGEST_FRAME} at most; write that of the switches"
        yield FRAME.at(source, ("fabric", "mtu"), message)
    said = fabric.traffic_class
    if said is not None and said in DSCP and said // 4 not in DSCP and said // 4:
        message = f"trafficClass {said} is DSCP {said // 4}; DSCP {said} is trafficClass {4 * said + 2}"
        yield TRAFFIC_CLASS.at(source, ("fabric", "trafficClass"), message)


def check_rails(cluster: Cluster, fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield fewer rails than a pool of the fabric has NICs for."""
    if fabric.rails is None:
        return
    for name, pool in cluster.pools.items():
        if (fabric.pools and name not in fabric.pools) or not known(pool.shape):
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
        message = "attach 'rdma-shared' gives pods no interface, which roce needs; write macvlan"
        yield NETDEV.at(source, ("fabric", "attach"), message)
        return
    message = f"attach is {fabric.attach!r}, but a fabric of type {fabric.type!r} has: {', '.join(sorted(modes))}"
    yield CNI.at(source, ("fabric", "attach"), message)


def check_infiniband(fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield a subnet that nobody is said to manage, and classes of Ethernet."""
    if fabric.subnet_manager is None:
        message = "infiniband needs a subnet manager; write in subnetManager what it is, and who runs it"
        yield INFINIBAND.at(source, ("fabric", "type"), message)
    for field in ("traffic_class", "fifo_traffic_class", "gid_index"):
        if getattr(fabric, field) is not None:
            alias = str(Fabric.model_fields[field].alias)
            message = f"{alias} means nothing to infiniband; remove it, lanes are chosen by serviceLevel"
            yield TRAFFIC_CLASS.at(source, ("fabric", alias), message)


def check_partition(cluster: Cluster, fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield a partition that nothing puts virtual functions into, and what it is for without one."""
    field = "partitionKey" if fabric.partition_key or not fabric.partition_keys else "partitionKeys"
    path = ("fabric", field)
    said = {"guids": fabric.guids, "ufmSecret": fabric.ufm_secret}
    if not fabric.partitioned:
        for field in (name for name, value in said.items() if value is not None):
            message = f"{field} is for ib-kubernetes, which serves partitions; write partitionKey, or remove it"
            yield INFINIBAND.at(source, ("fabric", field), message)
        return
    operator = cluster.operators.get(IB_KUBERNETES)
    missing = [name for name, value in said.items() if value is None]
    if fabric.type != "infiniband" or fabric.attach != "sriov":
        message = f"{field} is for virtual functions on infiniband, not {fabric.attach!r} on {fabric.type}"
        yield INFINIBAND.at(source, path, message)
    elif operator is None:
        message = f"{field} needs ib-kubernetes, which {IB_KUBERNETES} brings along; add it to operators"
        yield INFINIBAND.at(source, path, message)
    elif operator.managed and missing:
        message = f"{field} needs {' and '.join(missing)} for ib-kubernetes, which talks to UFM; write them"
        yield INFINIBAND.at(source, path, message)
    elif fabric.guids is not None and fabric.guids[1].lower() < fabric.guids[0].lower():
        message = f"guids end at {fabric.guids[1]}, before they begin; write the first, then the last"
        yield INFINIBAND.at(source, ("fabric", "guids"), message)
