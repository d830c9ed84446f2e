"""The subnets of a GKE fabric's networks, from which Trainyard makes the cluster's Network objects."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.clusters.gke_networks import DEVICE, device_mode
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.render.sizing.fabrics.gke import Gke
from trainyard.specs import Cluster, Fabric
from trainyard.specs.sources import Source

SUBNETS = Rule(
    id="spec/fabric-subnets",
    title="Each network of a fabric on Google Kubernetes Engine has a subnet that no other network uses.",
    why="GKE marks such a Network as not ready and refuses pods that name it",
    fix="write VPC and subnet of every network, as the node pool has them",
    source="GoogleCloudPlatform/gke-networking-api v0.2.0 apis/network/v1/gkenetworkparamset_types.go",
)

OWN = "default"
"""The Network that GKE makes for the first interface of all pods."""


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield subnets that are missing, that no network has, or that two networks share."""
    fabric, kind = cluster.fabric, fabric_type(cluster)
    if fabric is None or not fabric.subnets:
        return
    if not isinstance(kind, Gke):
        message = f"fabric {fabric.type!r} has no Network objects; remove subnets"
        yield SUBNETS.at(source, ("fabric", "subnets"), message)
        return
    yield from check_names(fabric, kind, source)
    yield from check_places(cluster, fabric, source)


def check_names(fabric: Fabric, kind: Gke, source: Source) -> Iterator[Finding]:
    """Yield networks without a subnet, and subnets of networks that the nodes cannot have."""
    missing = [name for name in fabric.networks if name not in fabric.subnets]
    if missing:
        message = f"network {missing[0]!r} has no entry in subnets; add its VPC and subnet"
        yield SUBNETS.at(source, ("fabric", "subnets"), message)
    more = [name for name in fabric.subnets if name not in fabric.networks and name != OWN]
    for name in more if missing else more[kind.spare_networks :]:
        message = f"network {name!r} is not in networks; {did_you_mean(name, missing or fabric.networks, limit=8)}"
        yield SUBNETS.at(source, ("fabric", "subnets", name), message, key=True)
    if OWN in fabric.subnets:
        message = f"network {OWN!r} is GKE's own; use another name"
        yield SUBNETS.at(source, ("fabric", "subnets", OWN), message, key=True)


def check_places(cluster: Cluster, fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield networks in the place of an earlier one: a VPC has one plain NIC of a node, a subnet one RDMA NIC."""
    seen: dict[tuple[str, str], str] = {}
    for name, where in fabric.subnets.items():
        plain = device_mode(cluster, name) == DEVICE
        place = (where.vpc, "" if plain else where.subnet)
        first = seen.setdefault(place, name)
        if first != name:
            what = f"VPC {where.vpc!r}" if plain else f"subnet {where.subnet!r}"
            message = f"networks {first!r} and {name!r} are both in {what}; give each its own"
            yield SUBNETS.at(source, ("fabric", "subnets", name, "vpc" if plain else "subnet"), message)
