"""What a type of fabric is to a pod: the devices it asks for, and all that goes into the pod beside them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from trainyard.render.sizing.base import Attached, Sized
from trainyard.specs import Cluster
from trainyard.specs.transports import net_name


@dataclass(frozen=True, slots=True)
class Share:
    """One role of a run, as the fabric sees it."""

    cluster: Cluster
    pool_name: str
    gpus: int
    """Of each pod."""
    pods: int
    """All pods of the run that train."""


class FabricType(ABC):
    """A type of fabric; one module each in this folder, with its sources."""

    name: ClassVar[str]
    """As cluster files write it."""
    modes: ClassVar[tuple[str, ...]] = ("none",)
    """Ways of attaching pods that it knows."""
    locks_memory: ClassVar[bool] = False
    """Whether pods on it lock the memory of their buffers, which nodes must allow."""
    level: ClassVar[str] = "restricted"
    """The Pod Security level that its pods need at least."""
    whole_nodes: ClassVar[bool] = False
    """Whether only pods with all GPUs of a node can be attached."""
    named_networks: ClassVar[bool] = False
    """Whether the cluster must say the names of its networks, one a NIC."""
    of_a_cloud: ClassVar[bool] = False
    """Whether it is a cloud's network, whose MTU no object of a cluster sets."""
    has_daemon: ClassVar[bool] = False
    """Whether pods run a daemon, whose image the cluster must say."""

    def usable(self, _cluster: Cluster) -> bool:
        """Whether pods of the cluster can be attached to the fabric at all."""
        return True

    def level_on(self, _cluster: Cluster) -> str:
        """Return the Pod Security level that its pods need at least on the cluster."""
        return self.level

    def serves_whole_nodes(self, _cluster: Cluster) -> bool:
        """Whether only pods with all GPUs of a node can be attached on the cluster."""
        return self.whole_nodes

    @property
    def transport(self) -> dict[str, Sized[str]]:
        """The variable by which NCCL takes the fabric's transport or fails; none where no name is safe."""
        name = net_name(self.name)
        return {"NCCL_NET": Sized(name, "fabric: rdma; NCCL fails instead of falling back to TCP")} if name else {}

    def serves(self, cluster: Cluster, level: str) -> bool:
        """Whether pods of a team at a Pod Security level may be attached to the fabric."""
        return level == "privileged" or self.level_on(cluster) != "privileged"

    def network_devices(self, _cluster: Cluster) -> Mapping[str, str]:
        """Return the networks of device type that pods name, each with the resource that a pod requests for it."""
        return {}

    @abstractmethod
    def reaches(self, cluster: Cluster, pool_name: str) -> bool:
        """Whether pods on the pool can be attached to the fabric."""

    @abstractmethod
    def per_node(self, cluster: Cluster, pool_name: str) -> Mapping[str, Fraction]:
        """Return the fabric's resources that jobs can have of one node of the pool, by name."""

    @abstractmethod
    def attached(self, share: Share) -> Attached:
        """Return the annotations, devices and variables that a pod needs on the fabric."""
