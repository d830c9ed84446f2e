"""RoCE and InfiniBand: NICs that pods are given, one a rail, and reach by verbs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from trainyard.base.labels import NETWORKS
from trainyard.render.sizing.base import Attached, Sized
from trainyard.render.sizing.fabrics import devices, rails
from trainyard.render.sizing.fabrics.base import FabricType, Share
from trainyard.specs import Cluster

ADAPTERS = "NCCL_IB_HCA"
"""Variable with the RDMA devices that NCCL uses, which is for pods that see all of a node's."""

VOLUMES = ({"name": "fabric-devices", "hostPath": {"path": "/dev/infiniband", "type": "Directory"}},)
MOUNTS = ({"name": "fabric-devices", "mountPath": "/dev/infiniband"},)
"""The node's verbs devices, where no plugin hands them out (oracle-quickstart/oci-hpc-oke, host network)."""


class Verbs(FabricType):
    """NCCL's own transport `IB`; a subclass says over which link."""

    locks_memory = True

    def usable(self, cluster: Cluster) -> bool:
        """Whether the cluster says how NICs are handed to pods."""
        return rails.has_verbs(cluster)

    def reaches(self, cluster: Cluster, pool_name: str) -> bool:
        """Whether the pool has NICs, and there is a way to hand them to pods."""
        return rails.on_fabric(cluster, pool_name)

    def level_on(self, cluster: Cluster) -> str:
        """Return `privileged` where pods share the node's network: neither it nor its paths are had for less."""
        return "privileged" if rails.attach(cluster) == rails.HOST else self.level

    def serves_whole_nodes(self, cluster: Cluster) -> bool:
        """Whether pods share the node's network, in which the ports of two jobs would clash."""
        return rails.attach(cluster) == rails.HOST

    def per_node(self, cluster: Cluster, pool_name: str) -> Mapping[str, Fraction]:
        """Return the NICs, virtual functions or shares of each rail."""
        return {name: Fraction(count) for name, count in devices.per_node(cluster, pool_name).items()}

    def attached(self, share: Share) -> Attached:
        """Return one NIC a rail, and its network where it comes as an interface; or the node's own network."""
        cluster = share.cluster
        if rails.attach(cluster) == rails.HOST:
            return Attached(env=self.environment(cluster, share.pool_name), volumes=VOLUMES, mounts=MOUNTS, host=True)
        taken = rails.rails_of(cluster, share.pool_name, share.gpus)
        networks = [rails.network(cluster, rail) for rail in taken] if rails.attach(cluster) in rails.SECONDARY else []
        return Attached(
            devices={name: sized_count(count) for name, count in devices.requests(cluster, taken).items()},
            annotations={NETWORKS: ",".join(networks)} if networks else {},
            env=self.environment(cluster, share.pool_name) if taken else {},
        )

    def network_devices(self, cluster: Cluster) -> Mapping[str, str]:
        """Return the network of each rail whose NICs, or functions of them, are devices of their own."""
        if rails.attach(cluster) not in rails.SECONDARY - devices.SHARED:
            return {}
        return {rails.network(cluster, rail): devices.resource(cluster, rail) for rail in rails.every_rail(cluster)}

    def environment(self, cluster: Cluster, pool_name: str) -> dict[str, Sized[str]]:
        """Return the variables for NCCL and RCCL about the fabric.

        Names and values as in the NCCL 2.30 user guide, which RCCL follows. HCA list and algorithms stay unset where
        NCCL finds them better itself: names of virtual functions differ from pod to pod. RCCL used DMA-BUF only where
        told to, until ROCm/rocm-systems#3607 (2026-02), and without it stages all through the host, unless the vendor's
        driver of NICs gives it peer memory.
        """
        found = dict(self.transport)
        if rails.attach(cluster) in {*devices.SHARED, rails.HOST}:
            found[ADAPTERS] = adapters(cluster, pool_name)
        level = cluster.fabric.service_level if cluster.fabric else None
        if level is not None:
            found["NCCL_IB_SL"] = Sized(str(level), "serviceLevel of the fabric")
        gpus = cluster.pools[pool_name].node.gpus
        peers = cluster.system_of(pool_name).nic_driver in {"doca", "operator"}
        if gpus is not None and gpus.vendor == "amd" and not peers:
            found["NCCL_DMABUF_ENABLE"] = Sized("1", "AMD GPUs: NICs access their memory by DMA-BUF")
        return found


def adapters(cluster: Cluster, pool_name: str) -> Sized[str]:
    """Return the list of adapters to use, where a pod sees all of its node's."""
    taken = rails.rails(cluster, pool_name)
    names = ",".join(nic.name for nic in cluster.pools[pool_name].node.nics if nic.rail in taken)
    return Sized(f"={names}", f"the training NICs of pool {pool_name!r}; pods see all NICs of the node")


def sized_count(count: int) -> Sized[int]:
    """Return a number of NICs, virtual functions or shares, and why."""
    return Sized(
        count, "fabric: rdma; one NIC per rail" if count == 1 else f"fabric: rdma; one NIC per rail, {count} rails"
    )
