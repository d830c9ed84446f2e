"""Whether a Ceph cluster can come up, survive what fails, and is what the classes of its drivers name."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.prerequisites.ceph import KINDS, ROOK, declared
from trainyard.specs import Cluster
from trainyard.specs.models.ceph import Ceph
from trainyard.specs.models.storage import Storage
from trainyard.specs.sources import Source

ROOKLESS = Rule(
    id="ceph-operator",
    title="A cluster with ceph installs Rook.",
    why="Rook makes Ceph of the objects; without it they are never looked at, and claims wait",
    fix="add operators rook and ceph-csi-drivers, or remove ceph",
    source="rook/rook v1.20.6 Documentation/Getting-Started/quickstart.md",
)
QUORUM = Rule(
    id="ceph-mons",
    title="The number of Ceph's monitors is odd, and each has a node.",
    why="more than half of them must run: an even number survives no more than one less, and two never share a node",
    fix="use 3 or 5 monitors, and as many nodes",
    source="rook/rook v1.20.6 Documentation/CRDs/Cluster/ceph-cluster-crd.md, mon settings",
)
COPIES = Rule(
    id="ceph-replicas",
    title="Ceph has as many failure domains as copies of its data.",
    why="Ceph puts no two copies into one failure domain, so placement groups stay incomplete and writes hang",
    fix="lower replicas, use a finer failureDomain, or add nodes",
    source="rook/rook v1.20.6 Documentation/CRDs/Block-Storage/ceph-block-pool-crd.md",
)
SURVIVES = Rule(
    id="ceph-survives",
    title="Ceph survives the loss of a disk and of a node.",
    why="one copy is lost with its disk, two with any fault while Ceph heals, and one monitor stops all with its node",
    fix="use 3 replicas and 3 monitors; waive this for data that can be made again",
    source="rook/rook v1.20.6 Documentation/CRDs/Block-Storage/ceph-block-pool-crd.md requireSafeReplicaSize",
    severity=Severity.WARNING,
)
NAMES = Rule(
    id="ceph-names",
    title="Classes of Rook's drivers name file systems and pools that ceph declares.",
    why="the driver finds no such file system or pool, and every claim of the class stays pending",
    fix="correct the parameter, or add the name to ceph",
    source="ceph/ceph-csi v3.12 docs/cephfs/deploy.md, docs/rbd/deploy.md",
)
DISKS = Rule(
    id="ceph-disks",
    title="The storage of Ceph's disks makes raw volumes where the daemons run.",
    why="volumes that are bound before their pods have nodes, or that are shared or of Ceph itself, hold no daemon",
    fix="name a storage with binding: WaitForFirstConsumer and access: ReadWriteOnce",
    source="rook/rook v1.20.6 Documentation/CRDs/Cluster/pvc-cluster.md",
)
BESIDE = Rule(
    id="ceph-nodes",
    title="Ceph runs on nodes without jobs.",
    why="sizes of jobs leave no CPUs and memory for Ceph's daemons, so neither a daemon nor a whole-node pod starts",
    fix="select other nodes in ceph.nodes; waive this if the pool's reserved amounts include Ceph",
    source="rook/rook v1.20.6 deploy/charts/rook-ceph-cluster/values.yaml resources",
    severity=Severity.WARNING,
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield the problems of a cluster's Ceph, and of classes that name something else."""
    ceph = cluster.ceph
    if ceph is None:
        return
    if not cluster.installs(ROOK):
        message = f"ceph needs operator {ROOK!r}, which this cluster does not install; add it under operators"
        yield ROOKLESS.at(source, ("ceph",), message)
    yield from check_quorum(ceph, source)
    yield from check_copies(ceph, source)
    yield from check_disks(cluster, ceph, source)
    yield from check_nodes(cluster, ceph, source)
    for name, storage in cluster.storage.items():
        yield from check_names(cluster, name, storage, source)


def check_quorum(ceph: Ceph, source: Source) -> Iterator[Finding]:
    """Yield monitors in a number that is even or larger than that of nodes, and a single one."""
    mons, nodes, at = ceph.mons, ceph.nodes.count, ("ceph", "mons")
    if mons % 2 == 0:
        yield QUORUM.at(source, at, f"mons is {mons}, which survives no more than {mons - 1}; use {mons - 1}")
    elif mons > nodes:
        message = f"mons is {mons}, but ceph.nodes has {nodes}, and each needs one; use {nodes - 1 + nodes % 2}"
        yield QUORUM.at(source, at, message)
    elif mons == 1:
        yield SURVIVES.at(source, at, "mons is 1, so Ceph stops with that monitor's node; use 3")


def check_copies(ceph: Ceph, source: Source) -> Iterator[Finding]:
    """Yield more copies than there are failure domains or volumes, and fewer than survive a loss."""
    groups = {"filesystems": ceph.filesystems, "pools": ceph.pools}
    for field, name, pool in ((field, name, pool) for field, pools in groups.items() for name, pool in pools.items()):
        at: Path = ("ceph", field, name)
        there = ceph.nodes.domains(pool.failure_domain)
        if pool.replicas > there:
            has = f"ceph.nodes has {there} {pool.failure_domain}{'' if there == 1 else 's'}"
            which = "replicas" if "replicas" in pool.model_fields_set else "failureDomain"
            message = f"replicas is {pool.replicas}, but {has}; lower replicas or use another failureDomain"
            yield COPIES.at(source, (*at, which) if pool.model_fields_set else at, message)
        elif ceph.disks.count is not None and pool.replicas > ceph.disks.count:
            message = f"replicas is {pool.replicas}, but ceph.disks has {ceph.disks.count} volumes; raise count"
            yield COPIES.at(source, ("ceph", "disks", "count"), message)
        if pool.replicas < 3:
            loses = "a lost disk loses data" if pool.replicas == 1 else "a fault while it heals loses data"
            message = f"replicas is {pool.replicas}, so {loses}; use 3"
            yield SURVIVES.at(source, (*at, "replicas"), message)


def check_disks(cluster: Cluster, ceph: Ceph, source: Source) -> Iterator[Finding]:
    """Yield a storage that cannot make raw volumes for daemons."""
    wanted, at = ceph.disks.storage, ("ceph", "disks", "storage")
    if wanted is None:
        return
    storage = cluster.storage.get(wanted)
    if storage is None:
        yield DISKS.at(source, at, f"storage {wanted!r} does not exist; {did_you_mean(wanted, cluster.storage)}")
    elif any(storage.provisioner.endswith(end) for end in KINDS):
        yield DISKS.at(source, at, f"storage {wanted!r} is of Ceph itself; name one of other disks")
    elif storage.access != "ReadWriteOnce":
        message = f"storage {wanted!r} is {storage.access}, but a daemon needs a disk alone; use one of ReadWriteOnce"
        yield DISKS.at(source, at, message)
    elif storage.binding != "WaitForFirstConsumer":
        message = f"storage {wanted!r} binds claims before the pod has a node; set binding: WaitForFirstConsumer"
        yield DISKS.at(source, at, message)


def check_nodes(cluster: Cluster, ceph: Ceph, source: Source) -> Iterator[Finding]:
    """Yield nodes of a pool of jobs that carry Ceph, too."""
    wanted = ceph.nodes.labels.items()
    for name, pool in cluster.pools.items():
        if wanted <= {**pool.labels, **cluster.selector_of(name)}.items():
            message = f"nodes of pool {name!r} have these labels, but sizes of its jobs leave no room for Ceph"
            yield BESIDE.at(source, ("ceph", "nodes", "labels"), f"{message}; use others")


def check_names(cluster: Cluster, name: str, storage: Storage, source: Source) -> Iterator[Finding]:
    """Yield a class of Rook's drivers that names a namespace, a file system or a pool that is not there."""
    found = declared(cluster, storage)
    if found is None:
        return
    parameter, there = found
    at: Path = ("storage", name, "parameters")
    space, said = storage.parameters.get("clusterID"), storage.parameters.get(parameter)
    if space is not None and not storage.provisioner.startswith(f"{space}."):
        right = storage.provisioner.partition(".")[0]
        yield NAMES.at(
            source, (*at, "clusterID"), f"clusterID is {space!r}, but Ceph is in namespace {right!r}; use that"
        )
    if said is not None and said not in there:
        message = f"{parameter} is {said!r}, which ceph does not declare; {did_you_mean(said, there)}"
        yield NAMES.at(source, (*at, parameter), message)
