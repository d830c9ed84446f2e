"""What NCCL, RCCL and Gloo must be told about the network of a run."""

from __future__ import annotations

from trainyard.sizing import fabric
from trainyard.sizing.base import Sized
from trainyard.specs import Cluster


def environment(cluster: Cluster, pool_name: str, *, rdma: bool, pods: int, gpus: int) -> dict[str, Sized[str]]:
    """Return environment variables, the same for every role of a run that has GPUs.

    Names and values as in the NCCL 2.30 user guide, which RCCL follows. GID index, HCA list and algorithms stay unset
    where NCCL finds them better itself: GIDs are dynamic since 2.21, names of virtual functions differ from pod to pod.
    """
    found: dict[str, Sized[str]] = {}
    if gpus:
        found["NCCL_DEBUG"] = Sized("WARN", "WARN: errors and the version, not a line per rank and channel")
    if pods > 1:
        found |= _interfaces(cluster, gpus=gpus)
    if rdma and cluster.fabric is not None:
        found["NCCL_NET"] = Sized("IB", "fabric: rdma; NCCL fails instead of falling back to TCP")
        if cluster.fabric.attach in fabric.SHARED:
            found["NCCL_IB_HCA"] = _adapters(cluster, pool_name)
    return found


def _interfaces(cluster: Cluster, *, gpus: int) -> dict[str, Sized[str]]:
    name = (cluster.fabric.interface if cluster.fabric else None) or "eth0"
    why = f"{name}: the cluster network carries the start-up of the process group"
    found = {"GLOO_SOCKET_IFNAME": Sized(name, why)}
    if gpus:
        found["NCCL_SOCKET_IFNAME"] = Sized(f"={name}", f"{why}; = takes no name that merely begins so")
    return found


def _adapters(cluster: Cluster, pool_name: str) -> Sized[str]:
    rails = fabric.rails(cluster, pool_name)
    names = ",".join(nic.name for nic in cluster.pools[pool_name].node.nics if nic.rail in rails)
    return Sized(f"={names}", f"the training NICs of pool {pool_name!r}; shared mode shows all of the node's")
