"""Networks of Google Kubernetes Engine: one object a NIC that pods name, and one that says where the NIC is.

Facts: GoogleCloudPlatform/gke-networking-api v0.2.0 apis/network/v1/network_types.go, gkenetworkparamset_types.go;
GKE documentation, maximize GPU network bandwidth: both objects of a network have one name, and the type is Device.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.labels import SYNC_WAVE
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.render.sizing.fabrics.gke import Gke
from trainyard.specs import Cluster

PROJECT, RELEASE = "gke-networking-api", "0.2.0"
"""The project of their API types, and its release by which they are checked: GKE says of none which it serves."""

GROUP = "networking.gke.io"
PARAMETERS = "GKENetworkParamSet"
KINDS = (f"{GROUP}/{PARAMETERS}", f"{GROUP}/Network")
"""Cluster-scoped kinds, as `group/Kind`; GKE defines them where multi-networking is on."""

DEVICE = "NetDevice"
"""Mode of a NIC that the node's kernel drives, such as a gVNIC's."""

WAVE = "-1"
"""Parameters come before the networks that name them."""


def kinds(cluster: Cluster) -> tuple[str, ...]:
    """Return the kinds that the cluster has for its networks."""
    return KINDS if next(resources(cluster), None) is not None else ()


def device_mode(cluster: Cluster, name: str) -> str:
    """Return how pods get the NIC of a network: as the fabric does, or plainly where the fabric does not use it."""
    kind, fabric = fabric_type(cluster), cluster.fabric
    return kind.device_mode if isinstance(kind, Gke) and fabric and name in fabric.networks else DEVICE


def resources(cluster: Cluster) -> Iterator[Resource]:
    """Yield both objects of every network whose subnet the cluster's file says."""
    fabric = cluster.fabric
    if fabric is None or cluster.simulated is not None or not isinstance(fabric_type(cluster), Gke):
        return
    for name, where in fabric.subnets.items():
        at = ("fabric", "subnets", name)
        spec = {"vpc": where.vpc, "vpcSubnet": where.subnet, "deviceMode": device_mode(cluster, name)}
        notes = {SYNC_WAVE: WAVE}
        yield Resource(f"{GROUP}/v1", PARAMETERS, name, at, annotations=notes, fields={"spec": spec})
        reference = {"group": GROUP, "kind": PARAMETERS, "name": name}
        network = {"type": "Device", "parametersRef": reference}
        yield Resource(f"{GROUP}/v1", "Network", name, at, fields={"spec": network})
