"""What a provider's fabric needs that a cluster must say, and what it asks of the jobs that train over it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.findings import Finding
from trainyard.kinds import Resolved
from trainyard.rules import Rule
from trainyard.sizing import RoleSpec
from trainyard.sizing.fabrics import FabricType, fabric_type
from trainyard.sizing.roles import wants_rdma
from trainyard.specs import Cluster, Fabric
from trainyard.specs.shapes import known
from trainyard.specs.sources import Source

GOOGLE = "GoogleCloudPlatform/container-engine-accelerators 2026-06"

NETWORKS = Rule(
    id="spec/fabric-networks",
    title="A fabric of Google Kubernetes Engine names a network for every NIC of its nodes.",
    why="a pod that names a network that does not exist is refused, and NICs without one carry nothing",
    fix="list the cluster's Network objects in the order of the NICs",
    source=f"{GOOGLE} gpudirect-tcpxo/nccl-test-latest.yaml, gpudirect-rdma/nccl-test.yaml",
)
DAEMON = Rule(
    id="spec/fabric-daemon",
    title="A fabric whose pods run a daemon says which release.",
    why="daemon, plugin and NCCL go together by release, and the plugin is what the nodes' installer brought",
    fix="give the image, by digest, of the release that the installer names",
    source=f"{GOOGLE} gpudirect-tcpxo/README.md",
)
WHOLE = Rule(
    id="run/fabric-whole-nodes",
    title="A fabric that serves whole nodes is for pods with all GPUs of a node.",
    why="its daemon and its settings count on every GPU and every NIC of the machine",
    fix="ask for all GPUs of a node, or set fabric: tcp",
    source=f"{GOOGLE} gpudirect-tcpxo/README.md",
    layer="run",
)
LEVEL = Rule(
    id="run/fabric-pod-security",
    title="A team whose pods need paths of the node for their fabric has a namespace that admits them.",
    why="Pod Security refuses the pods at creation, so that the job waits for pods that never come",
    fix="raise the team's podSecurity on this cluster alone, or set fabric: tcp",
    source="kubernetes v1.35 staging/src/k8s.io/pod-security-admission/policy/check_hostPathVolumes.go",
    layer="run",
)


def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield what the cluster must still say of its fabric."""
    fabric, kind = cluster.fabric, fabric_type(cluster)
    if fabric is None:
        return
    if kind.named_networks:
        yield from check_networks(cluster, fabric, kind, source)
    elif fabric.networks:
        message = f"networks are named, but fabric {fabric.type!r} attaches pods by no network of a name; remove them"
        yield NETWORKS.at(source, ("fabric", "networks"), message)
    if kind.has_daemon and fabric.daemon is None:
        message = f"fabric {fabric.type!r} needs a daemon in every pod; give its image as daemon"
        yield DAEMON.at(source, ("fabric", "type"), message)
    elif fabric.daemon is not None and not kind.has_daemon:
        message = f"daemon is given, but pods on fabric {fabric.type!r} run none; remove it"
        yield DAEMON.at(source, ("fabric", "daemon"), message)


def check_networks(cluster: Cluster, fabric: Fabric, kind: FabricType, source: Source) -> Iterator[Finding]:
    """Yield pools with more or fewer NICs than there are networks."""
    count = len(fabric.networks)
    there = [name for name, pool in cluster.pools.items() if known(pool.shape)]
    for name in (each for each in there if kind.reaches(cluster, each)):
        nics = len(cluster.pools[name].node.nics)
        if nics and nics != count:
            message = f"fabric names {count} networks, but nodes of pool {name!r} have {nics} NICs; name one for each"
            yield NETWORKS.at(source, ("fabric", "networks" if count else "type"), message)


def check_job(run: Resolved) -> Iterator[Finding]:
    """Yield what a job over the fabric may not be: a part of a node, of a namespace too strict."""
    job, source, cluster = run.run.job, run.run.source, run.run.cluster
    kind = fabric_type(cluster)
    on = [role for role in run.specs if wants_rdma(job, role) and kind.reaches(cluster, role.pool_name)]
    if not on:
        return
    level = run.run.team.level_on(run.run.cluster_name)
    if not kind.serves(cluster, level):
        message = (
            f"fabric {kind.name!r} mounts paths of the node, but team {run.run.team_name!r} is {level} on"
            f" {run.run.cluster_name!r}; raise it there"
        )
        yield LEVEL.at(source, ("fabric",), message)
    for role in on if kind.serves_whole_nodes(cluster) else ():
        yield from check_whole(role, kind, source)


def check_whole(role: RoleSpec, kind: FabricType, source: Source) -> Iterator[Finding]:
    """Yield a role whose pods have a part of a node's GPUs."""
    gpus = role.pool.node.gpus
    if gpus is not None and role.gpus != gpus.count:
        message = f"gpusPerNode is {role.gpus}, but fabric {kind.name!r} serves whole nodes; ask for {gpus.count}"
        yield WHOLE.at(source, (*role.path, "gpusPerNode"), message)
