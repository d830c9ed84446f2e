"""The network between nodes that training traffic uses, as a cluster declares it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictInt

from trainyard.specs.models.base import Cidr, Count, Image, Name, Spec, Text, wrong

Attach = Literal["sriov", "hostdev", "macvlan", "rdma-shared"]
"""How pods get a NIC of an RDMA fabric."""


def no_capability(value: Any) -> Any:
    """Refuse what was once a choice: runtimes clear ambient capabilities, so that only root keeps IPC_LOCK at exec.

    Source: containerd v2.1 internal/cri/server/container_create.go WithoutAmbientCaps.
    """
    if value == "capability":
        raise wrong("gone", "is 'capability', which only root keeps; write node, nri, or provided by the image")
    return value


class Fabric(Spec):
    """The network between nodes that training traffic uses."""

    type: Literal["roce", "infiniband", "efa", "gpudirect-tcpx", "gpudirect-tcpxo", "gpudirect-rdma", "none"]
    mtu: Annotated[StrictInt, Field(ge=1280, le=65520)] = 9000
    rails: Count | None = None
    """Networks that a whole node is attached to; one NIC a rail. Default: those of the NICs of its pools' shapes."""
    addresses: Cidr | None = None
    """Range for secondary addresses, split over the rails."""
    attach: Literal[Attach, "none"] = "none"
    """How pods get a NIC, where the type of fabric leaves a choice."""
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
