"""Whether a Ceph cluster can come up, survive what fails, and is what the classes of its drivers name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.quantities import Quantity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.parts.ceph_buckets import bucket_name, class_name
from trainyard.render.prerequisites.ceph import KINDS, ROOK, declared
from trainyard.specs import Cluster
from trainyard.specs.models.buckets import name_error
from trainyard.specs.models.ceph import Ceph, CephPool
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
BUCKETS = Rule(
    id="ceph-buckets",
    title="Each bucket of Ceph has a team of the cluster and a name of its own.",
    why="jobs find a bucket by its name, and Rook makes it in the namespace of the team",
    fix="name a team that a queue admits, or rename the bucket",
    source="docs/buckets.md; rook/rook v1.20.6 pkg/operator/ceph/object/bucket/provisioner.go",
)
SIGNER = Rule(
    id="ceph-tls",
    title="A cluster whose object stores name an issuer installs cert-manager.",
    why="nobody signs the certificate, so the gateways of the store never start",
    fix="add operator cert-manager, or name a Secret with the certificate",
    source="rook/rook v1.20.6 pkg/operator/ceph/object/spec.go generateVolumeSourceWithTLSSecret",
)
ROOM = Rule(
    id="ceph-room",
    title="The buckets of Ceph fit on its volumes.",
    why="when its volumes are full, Ceph stops writes of everybody, file systems and databases too",
    fix="lower size of buckets, or raise count or size of ceph.disks; waive this if buckets stay emptier",
    source="ceph/ceph doc/rados/configuration/mon-config-ref.rst, mon_osd_full_ratio",
    severity=Severity.WARNING,
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
    yield from check_buckets(cluster, ceph, source)
    yield from check_room(ceph, source)
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
    groups: dict[str, Mapping[str, CephPool]]
    groups = {"filesystems": ceph.filesystems, "pools": ceph.pools, "objectStores": ceph.object_stores}
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


def check_buckets(cluster: Cluster, ceph: Ceph, source: Source) -> Iterator[Finding]:
    """Yield buckets of no team or under a name that is taken or too long, and classes that a storage has already."""
    seen = dict.fromkeys(cluster.object_storage.buckets if cluster.object_storage else (), "objectStorage")
    for store, found in ceph.object_stores.items():
        at: Path = ("ceph", "objectStores", store)
        if class_name(store) in cluster.storage:
            message = f"storage {class_name(store)!r} has the name of the store's class of buckets; rename one"
            yield BUCKETS.at(source, at, message, key=True)
        if found.gateways == 1:
            message = "gateways is 1, so the store stops with that pod's node; use 2"
            yield SURVIVES.at(source, (*at, "gateways"), message)
        if found.tls is not None and found.tls.issuer is not None and "cert-manager" not in cluster.operators:
            message = "issuer needs operator 'cert-manager', which this cluster does not have; add it, or use secret"
            yield SIGNER.at(source, (*at, "tls", "issuer"), message)
        for name, bucket in found.buckets.items():
            place: Path = (*at, "buckets", name)
            if bucket.team not in cluster.teams():
                message = f"no queue admits team {bucket.team!r}; {did_you_mean(bucket.team, cluster.teams())}"
                yield BUCKETS.at(source, (*place, "team"), message)
            other = seen.setdefault(name, store)
            wrong = name_error("s3", bucket_name(bucket.team, name))
            if other != store:
                message = f"bucket {name!r} is in {other!r} already; rename one, as jobs name no store"
                yield BUCKETS.at(source, place, message, key=True)
            elif wrong is not None:
                message = f"the name {bucket_name(bucket.team, name)[:40]!r} {wrong}; use a shorter name"
                yield BUCKETS.at(source, place, message, key=True)


def check_room(ceph: Ceph, source: Source) -> Iterator[Finding]:
    """Yield buckets that together are larger than volumes of a known size; raw devices have any."""
    if ceph.disks.size is None or ceph.disks.count is None:
        return
    there, taken = Quantity.parse(ceph.disks.size) * ceph.disks.count, Quantity.parse("0Gi")
    for store, _, bucket in ceph.buckets():
        taken += Quantity.parse(bucket.size) * ceph.object_stores[store].replicas
    if there < taken:
        message = f"buckets take {taken} with their copies, but ceph.disks has {there}; lower size"
        yield ROOM.at(source, ("ceph", "objectStores"), message, key=True)


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
