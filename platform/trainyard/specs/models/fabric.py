"""The network between nodes that training traffic uses, as a cluster declares it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool, StrictInt, StrictStr

from trainyard.base.limits import CLUSTER_NODES
from trainyard.specs.models.base import (
    Amount,
    Cidr,
    Count,
    Few,
    Form,
    Image,
    Name,
    Spec,
    SubdomainName,
    Text,
    VariableName,
    VariableValue,
    validation_error,
)

Attach = Literal["sriov", "hostdev", "macvlan", "rdma-shared"]
"""How pods get a NIC of an RDMA fabric."""


def no_capability(value: Any) -> Any:
    """Refuse what was once a choice: runtimes clear ambient capabilities, so that only root keeps IPC_LOCK at exec.

    Source: containerd v2.1 internal/cri/server/container_create.go WithoutAmbientCaps.
    """
    if value == "capability":
        raise validation_error("gone", "is 'capability', which only works for root; use node, nri or provided")
    return value


Guid = Annotated[StrictStr, Form(r"[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){7}", "a GUID such as 02:00:00:00:00:00:00:00")]
PartitionKey = Annotated[StrictStr, Form(r"0x[0-9a-fA-F]{1,4}", "a partition key such as '0x6', in quotes")]

MEMBER = 0x7FFF
"""The bits of a partition key that name the partition; the highest says full or limited member (IBTA 1.6, 10.9.1).

All of them set are the default partition, which every port is in (opensm doc/partition-config.txt).
"""

ResourceName = Annotated[
    StrictStr,
    Form(
        r"[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?",
        "a resource such as nvidia.com/rail_0",
        253,
    ),
]
Vlan = Annotated[StrictInt, Field(ge=1, le=4094)]
"""IEEE 802.1Q: 0 and 4095 are no VLAN's."""
Byte = Annotated[StrictInt, Field(ge=0, le=255)]


Priority = Annotated[StrictInt, Field(ge=0, le=7)]

CLASSES_OF_PRIORITY = 32
"""Traffic classes of each priority: NICs that trust DSCP give priority DSCP / 8, and a class is DSCP × 4.

NVIDIA, mlnx_qos: the default mapping, 0-7 to priority 0, 8-15 to 1, 24-31 to 3.
"""


class Qos(Spec):
    """What keeps RoCE lossless on the NICs: they trust DSCP, and PFC and ECN are on for one priority."""

    by: Literal["operator", "provided"]
    """Component that sets the NICs: `operator`, NVIDIA's NIC configuration operator from the network operator;
    `provided`, the node's image or its administrators, after every boot."""
    priority: Priority | None = None
    """Lossless priority of NICs and switches; default: that of `trafficClass`, which is DSCP / 8."""


class Subnet(Spec):
    """Where a network of nodes is in Google Cloud."""

    vpc: Text
    """Name of the VPC network, or its path where another project shares it."""
    subnet: Text
    """Name of its subnet, or its path where another project shares it."""


class Fabric(Spec):
    """The network between nodes for training traffic."""

    type: Literal["roce", "infiniband", "efa", "gpudirect-tcpx", "gpudirect-tcpxo", "gpudirect-rdma", "none"]
    """Transport of the fabric; the guide shows what pods get for each."""
    mtu: Annotated[StrictInt, Field(ge=1280, le=65520)] = 9000
    """Bytes of the largest packet of RoCE or InfiniBand; use the same number on switches, nodes and pods."""
    rails: Few | None = None
    """Number of networks that a whole node is attached to, one NIC per rail; default: rails of the NICs in its
    pools' shapes."""
    addresses: Cidr | None = None
    """Address range of the pods' secondary interfaces, split over the rails."""
    attach: Literal[Attach, "host", "none"] = "none"
    """How pods get a NIC, if the type leaves a choice; `host` shares the node's network and devices."""
    memlock: Annotated[Literal["node", "nri", "provided"], BeforeValidator(no_capability)] = "node"
    """Component that lifts the limit on locked memory: files for nodes, the NRI plugin ulimit-adjuster, or the
    nodes' image."""
    networks: tuple[Name, ...] = ()
    """Names of the cluster's Network objects for the fabric, in the order of the NICs (Google Kubernetes Engine)."""
    subnets: dict[Name, Subnet] = {}
    """VPC and subnet of each of `networks`, from which Trainyard makes the Network objects; on A3 Ultra and A4 also of
    the second gVNIC. Default: somebody else makes them."""
    daemon: Image | None = None
    """Image of the daemon beside the program, by digest; its release must match the nodes' installer."""
    pools: tuple[Name, ...] = ()
    """Pools on the fabric; default: all pools whose shape has NICs for it."""
    interface: Text | None = None
    """The pod's interface for bootstrap traffic; default: `eth0`."""
    env: dict[VariableName, VariableValue] = {}
    """Environment variables of every pod on the fabric; they override those of the type."""

    resources: tuple[ResourceName, ...] = ()
    """Extended resources that pods request, one per rail or one for all; default: those that Trainyard's operators
    advertise."""
    virtual_functions: Count | None = None
    """Virtual functions of each NIC; default: 1 if one resource names all NICs, else the shape's number."""
    exclude_topology: StrictBool | None = None
    """Whether device plugins hide the NUMA node of devices from the kubelet; default: only where the kubelet would
    reject pods or hang."""
    traffic_class: Byte | None = None
    """RoCE: value of NCCL_IB_TC for the class that switches keep lossless: DSCP × 4 plus two ECN bits, 106 for DSCP
    26."""
    qos: Qos | None = None
    """RoCE: what keeps the priority of `trafficClass` lossless on the NICs; switches do the same."""
    fifo_traffic_class: Byte | None = None
    """RoCE: traffic class of NCCL's control messages; default: `trafficClass`."""
    service_level: Annotated[StrictInt, Field(ge=0, le=15)] | None = None
    """Value of NCCL_IB_SL: service level of training traffic."""
    gid_index: Byte | None = None
    """RoCE: index of the GID that pods use; default: NCCL 2.21 and newer find it."""
    subnet_manager: Text | None = None
    """InfiniBand: which program manages the subnet, and who runs it."""
    partition_key: PartitionKey | None = None
    """InfiniBand: partition of training traffic; ib-kubernetes puts virtual functions into it."""
    partition_keys: dict[Name, PartitionKey] = {}
    """InfiniBand with virtual functions: partition of each team, instead of `partitionKey`."""
    vlans: dict[Name, Vlan] = {}
    """RoCE with virtual functions: VLAN of each team, which switches carry on every rail; default: all teams share
    one."""
    guids: tuple[Guid, Guid] | None = None
    """InfiniBand: first and last GUID of virtual functions; no other cluster of the same UFM may use them."""
    ufm_secret: SubdomainName | None = None
    """InfiniBand: Secret with the account for UFM, in the network operator's namespace."""
    node_prefix: Annotated[StrictInt, Field(ge=1, le=127)] | None = None
    """Routed rails: prefix length of each node's address block on a rail, such as 31."""
    node_blocks: Annotated[dict[SubdomainName, Amount], Field(max_length=CLUSTER_NODES)] = {}
    """Routed rails: number of each node's block on every rail, as the ports of its leaf switch need it; default:
    any."""
    routes: tuple[Cidr, ...] = ()
    """Routed rails: further address ranges behind a rail's gateway."""

    def partition_of(self, team: str) -> str | None:
        """Return the partition key of a team's functions, None where they are in the default partition."""
        return self.partition_keys.get(team, self.partition_key)

    @property
    def class_priority(self) -> int | None:
        """The priority that NICs give to training traffic; None where no class is said, or none is lossless."""
        return self.traffic_class // CLASSES_OF_PRIORITY if self.traffic_class else None

    @property
    def partitioned(self) -> bool:
        """Whether functions are put into partitions."""
        return bool(self.partition_key or self.partition_keys)
