"""The network between nodes that training traffic uses, as a cluster declares it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictInt

from trainyard.specs.models.base import Cidr, Count, Name, Spec, Text

Attach = Literal["sriov", "hostdev", "macvlan", "rdma-shared"]
"""How pods get a NIC of an RDMA fabric."""


class Fabric(Spec):
    """The network between nodes that training traffic uses."""

    type: Literal["roce", "infiniband", "efa", "gpudirect-tcpx", "gpudirect-tcpxo", "none"]
    mtu: Annotated[StrictInt, Field(ge=1280, le=65520)] = 9000
    rails: Count | None = None
    """Networks that a whole node is attached to; one NIC a rail. Default: those of the NICs of its pools' shapes."""
    addresses: Cidr | None = None
    """Range for secondary addresses, split over the rails."""
    attach: Literal[Attach, "none"] = "none"
    """How pods get a NIC, where the type of fabric leaves a choice."""
    memlock: Literal["node", "capability"] = "node"
    """Where locked memory is allowed: the container runtime's limit on the node, or IPC_LOCK in the pod."""
    pools: tuple[Name, ...] = ()
    """Pools on the fabric; default: those whose shape has NICs for it."""
    interface: Text | None = None
    """Interface for bootstrap traffic in the pod; default eth0."""
