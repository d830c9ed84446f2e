"""RoCE and InfiniBand: NICs that pods are given, one a rail, and reach by verbs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from trainyard.labels import NETWORKS
from trainyard.sizing.base import Attached, Sized
from trainyard.sizing.fabrics import rails
from trainyard.sizing.fabrics.base import FabricType, Share
from trainyard.specs import Cluster


class Verbs(FabricType):
    """NCCL's own transport `IB`; a subclass says over which link."""

    modes = ("none", "sriov", "hostdev", "macvlan", "rdma-shared")
    locks_memory = True

    def usable(self, cluster: Cluster) -> bool:
        """Whether the cluster says how NICs are handed to pods."""
        return rails.has_verbs(cluster)

    def reaches(self, cluster: Cluster, pool_name: str) -> bool:
        """Whether the pool has NICs, and there is a way to hand them to pods."""
        return rails.on_fabric(cluster, pool_name)

    def per_node(self, cluster: Cluster, pool_name: str) -> Mapping[str, Fraction]:
        """Return the NICs, virtual functions or shares of each rail."""
        pool = cluster.pools[pool_name]
        return {
            rails.resource(cluster, rail): Fraction(rails.functions_per_node(cluster, pool, rail))
            for rail in rails.rails(cluster, pool_name)
        }

    def attached(self, share: Share) -> Attached:
        """Return one NIC a rail, and its network where it comes as an interface."""
        cluster = share.cluster
        taken = rails.rails_of(cluster, share.pool_name, share.gpus)
        networks = [rails.network(rail) for rail in taken] if rails.attach(cluster) in rails.SECONDARY else []
        return Attached(
            devices={rails.resource(cluster, rail): one_nic(rail) for rail in taken},
            annotations={NETWORKS: ",".join(networks)} if networks else {},
            env=environment(cluster, share.pool_name) if taken else {},
        )


def environment(cluster: Cluster, pool_name: str) -> dict[str, Sized[str]]:
    """Return what NCCL and RCCL must be told of the fabric.

    Names and values as in the NCCL 2.30 user guide, which RCCL follows. GID index, HCA list and algorithms stay unset
    where NCCL finds them better itself: GIDs are dynamic since 2.21, names of virtual functions differ from pod to pod.
    """
    found = {"NCCL_NET": Sized("IB", "fabric: rdma; NCCL fails instead of falling back to TCP")}
    if rails.attach(cluster) in rails.SHARED:
        found["NCCL_IB_HCA"] = adapters(cluster, pool_name)
    return found


def adapters(cluster: Cluster, pool_name: str) -> Sized[str]:
    """Return the list of adapters to use, where a pod sees all of its node's."""
    taken = rails.rails(cluster, pool_name)
    names = ",".join(nic.name for nic in cluster.pools[pool_name].node.nics if nic.rail in taken)
    return Sized(f"={names}", f"the training NICs of pool {pool_name!r}; shared mode shows all of the node's")


def one_nic(rail: int) -> Sized[int]:
    """Return one virtual function or NIC of a rail, and why."""
    return Sized(1, f"fabric: rdma; one NIC of rail {rail}")
