"""What NCCL, RCCL and Gloo must be told about the cluster's own network, whatever the fabric."""

from __future__ import annotations

from trainyard.render.sizing.base import Sized
from trainyard.specs import Cluster

INTERFACE = "eth0"
"""The interface of a pod on the cluster network, as every CNI plugin names it (CNI specification, CNI_IFNAME)."""


def interface(cluster: Cluster) -> str:
    """Return the interface that carries the start-up of the process group."""
    return (cluster.fabric.interface if cluster.fabric else None) or INTERFACE


def environment(cluster: Cluster, *, pods: int, gpus: int) -> dict[str, Sized[str]]:
    """Return environment variables, the same for every role of a run that has GPUs."""
    found: dict[str, Sized[str]] = {}
    if gpus:
        found["NCCL_DEBUG"] = Sized("WARN", "WARN: prints the version and errors, but no line per rank and channel")
    if pods > 1:
        found |= interfaces(interface(cluster), gpus=gpus)
    return found


def interfaces(name: str, *, gpus: int) -> dict[str, Sized[str]]:
    """Return the interface by the names that the libraries know."""
    why = f"{name}: process groups start over the cluster network"
    found = {"GLOO_SOCKET_IFNAME": Sized(name, why)}
    if gpus:
        found["NCCL_SOCKET_IFNAME"] = Sized(f"={name}", f"{why}; '=' matches only this name")
    return found
