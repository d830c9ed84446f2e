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
        raise validation_error(
            "gone", "is 'capability', which only root keeps; write node, nri, or provided by the image"
        )
    return value


Guid = Annotated[StrictStr, Form(r"[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){7}", "a GUID such as 02:00:00:00:00:00:00:00")]
PartitionKey = Annotated[StrictStr, Form(r"0x[0-9a-fA-F]{1,4}", "a partition key such as '0x6', in quotes")]

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


class Fabric(Spec):
    """The network between nodes that training traffic uses."""

    type: Literal["roce", "infiniband", "efa", "gpudirect-tcpx", "gpudirect-tcpxo", "gpudirect-rdma", "none"]
    """The transport; what a pod gets for it is in the guide."""
    mtu: Annotated[StrictInt, Field(ge=1280, le=65520)] = 9000
    """Bytes of the largest packet on the fabric; switches, nodes and pods have the same."""
    rails: Few | None = None
    """Networks that a whole node is attached to; one NIC a rail. Default: those of the NICs of its pools' shapes."""
    addresses: Cidr | None = None
    """Range for secondary addresses, split over the rails."""
    attach: Literal[Attach, "host", "none"] = "none"
    """How pods get a NIC, where the type leaves a choice; `host` shares the node's own network and devices."""
    memlock: Annotated[Literal["node", "nri", "provided"], BeforeValidator(no_capability)] = "node"
    """Who lifts the limit on locked memory: our files for nodes, their NRI plugin ulimit-adjuster, or their image."""
    networks: tuple[Name, ...] = ()
    """Names of the cluster's Network objects for the fabric, in the order of the NICs (Google Kubernetes Engine)."""
    daemon: Image | None = None
    """Image by digest of the daemon beside the program: the release that goes with the nodes' installer."""
    pools: tuple[Name, ...] = ()
    """Pools on the fabric; default: those whose shape has NICs for it."""
    interface: Text | None = None
    """Interface for bootstrap traffic in the pod; default eth0."""
    env: dict[VariableName, VariableValue] = {}
    """Environment of every pod on the fabric, over what follows from its type."""

    resources: tuple[ResourceName, ...] = ()
    """Devices that pods ask for, one for each rail or one for all; default: as our operators advertise them."""
    virtual_functions: Count | None = None
    """Functions made of each NIC; default: one where one resource names all NICs, else as many as the shape says."""
    exclude_topology: StrictBool | None = None
    """Whether devices keep their NUMA node from the kubelet; default: ours do where it would refuse pods, or freeze."""
    traffic_class: Byte | None = None
    """RoCE: the class that switches keep lossless, as NCCL_IB_TC has it: DSCP × 4 and two ECN bits, 106 for DSCP 26."""
    fifo_traffic_class: Byte | None = None
    """RoCE: the class of NCCL's control messages, where it is another."""
    service_level: Annotated[StrictInt, Field(ge=0, le=15)] | None = None
    """Service level of training traffic, as NCCL_IB_SL has it."""
    gid_index: Byte | None = None
    """RoCE: index of the GID that pods use; NCCL from 2.21 on finds it itself."""
    subnet_manager: Text | None = None
    """InfiniBand: what manages the subnet, and who runs it."""
    partition_key: PartitionKey | None = None
    """InfiniBand: the partition of training traffic, which ib-kubernetes puts virtual functions into."""
    partition_keys: dict[Name, PartitionKey] = {}
    """InfiniBand by virtual functions: the partition of each team, in place of partitionKey."""
    vlans: dict[Name, Vlan] = {}
    """RoCE by virtual functions: the VLAN of each team, which switches carry on every rail; default: all share one."""
    guids: tuple[Guid, Guid] | None = None
    """InfiniBand: first and last GUID for virtual functions; no other cluster of the same UFM has one of them."""
    ufm_secret: SubdomainName | None = None
    """InfiniBand: Secret with the account of UFM, in the network operator's namespace."""
    node_prefix: Annotated[StrictInt, Field(ge=1, le=127)] | None = None
    """Rails that are routed: length of the block of addresses that each node has of a rail, such as 31."""
    node_blocks: Annotated[dict[SubdomainName, Amount], Field(max_length=CLUSTER_NODES)] = {}
    """Rails that are routed: which block of every rail a node has, as its leaf's ports do; default: any."""
    routes: tuple[Cidr, ...] = ()
    """Rails that are routed: further ranges that are reached by a rail's gateway."""

    def partition_of(self, team: str) -> str | None:
        """Return the partition key of a team's functions, None where they are in the default partition."""
        return self.partition_keys.get(team, self.partition_key)

    @property
    def partitioned(self) -> bool:
        """Whether functions are put into partitions."""
        return bool(self.partition_key or self.partition_keys)
