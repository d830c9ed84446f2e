"""What a provider's fabric needs that a cluster must say, and what it asks of the jobs that train over it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.sizing.fabrics import FabricType, fabric_type
from trainyard.specs import Cluster, Fabric
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

GOOGLE = "GoogleCloudPlatform/container-engine-accelerators 2026-06"

NETWORKS = Rule(
    id="spec/fabric-networks",
    title="A fabric of Google Kubernetes Engine lists one network for each NIC of its nodes.",
    why="GKE refuses a pod that names a missing network, and a NIC without a network carries no traffic",
    fix="list the cluster's Network objects in the order of the NICs",
    source=f"{GOOGLE} gpudirect-tcpxo/nccl-test-latest.yaml, gpudirect-rdma/nccl-test.yaml",
)
DAEMON = Rule(
    id="spec/fabric-daemon",
    title="A fabric whose pods run a daemon names the daemon's image.",
    why="the daemon, its NCCL plugin and NCCL must be of one release, and the nodes' installer brought the plugin",
    fix="set daemon to the image of the installer's release, by digest",
    source=f"{GOOGLE} gpudirect-tcpxo/README.md",
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield the findings on fields that the cluster must still state about its fabric."""
    fabric, kind = cluster.fabric, fabric_type(cluster)
    if fabric is None:
        return
    if kind.named_networks:
        yield from check_networks(cluster, fabric, kind, source)
    elif fabric.networks:
        message = f"fabric {fabric.type!r} uses no named networks; remove networks"
        yield NETWORKS.at(source, ("fabric", "networks"), message)
    if kind.has_daemon and fabric.daemon is None:
        message = f"fabric {fabric.type!r} needs a daemon in every pod; set daemon to its image"
        yield DAEMON.at(source, ("fabric", "type"), message)
    elif fabric.daemon is not None and not kind.has_daemon:
        message = f"fabric {fabric.type!r} runs no daemon in pods; remove daemon"
        yield DAEMON.at(source, ("fabric", "daemon"), message)


def check_networks(cluster: Cluster, fabric: Fabric, kind: FabricType, source: Source) -> Iterator[Finding]:
    """Yield networks that are listed twice, and pools with more or fewer NICs than there are networks."""
    count = len(fabric.networks)
    twice = next((name for name in fabric.networks if fabric.networks.count(name) > 1), None)
    if twice is not None:
        message = f"networks lists {twice!r} more than once; list one network per NIC"
        yield NETWORKS.at(source, ("fabric", "networks"), message)
    there = [name for name, pool in cluster.pools.items() if is_known_shape(pool.shape)]
    for name in (pool_name for pool_name in there if kind.reaches(cluster, pool_name)):
        nics = len(cluster.pools[name].node.nics)
        if nics and nics != count:
            message = (
                f"networks has {count} entries, but nodes of pool {name!r} have {nics} NICs; list one network per NIC"
            )
            yield NETWORKS.at(source, ("fabric", "networks" if count else "type"), message)
