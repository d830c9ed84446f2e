"""RDMA over Converged Ethernet."""

from __future__ import annotations

from trainyard.render.sizing.base import Sized
from trainyard.render.sizing.fabrics.verbs import Verbs
from trainyard.specs import Cluster


class Roce(Verbs):
    """Verbs over Ethernet: pods need the interface beside the device, and mark their packets for a lossless class."""

    name = "roce"
    modes = ("none", "sriov", "hostdev", "macvlan", "host")

    def environment(self, cluster: Cluster, pool_name: str) -> dict[str, Sized[str]]:
        """Return the variables for verbs, and the classes and the GID that the fabric states.

        Unset, packets are in class 0, which switches may drop (NCCL 2.30 user guide, NCCL_IB_TC, NCCL_IB_FIFO_TC).
        """
        fabric = cluster.fabric
        said = {
            "NCCL_IB_TC": (fabric.traffic_class if fabric else None, "trafficClass"),
            "NCCL_IB_FIFO_TC": (fabric.fifo_traffic_class if fabric else None, "fifoTrafficClass"),
            "NCCL_IB_GID_INDEX": (fabric.gid_index if fabric else None, "gidIndex"),
        }
        stated = {
            name: Sized(str(value), f"{at} of the fabric") for name, (value, at) in said.items() if value is not None
        }
        return {**super().environment(cluster, pool_name), **stated}


FABRIC = Roce()
