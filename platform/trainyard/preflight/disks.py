"""Whether nodes have the local disk that a job asks for, and a cluster the storage that makes volumes of it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.documents import Path
from trainyard.findings import Finding, did_you_mean
from trainyard.kinds import Resolved
from trainyard.rules import Rule
from trainyard.sizing.amounts import rounded
from trainyard.sizing.disks import LAYER, scratch, storage_of_scratch
from trainyard.sizing.machines import available
from trainyard.sizing.node import binary, size
from trainyard.specs import Cluster, Pool
from trainyard.specs.models.disks import Scratch
from trainyard.specs.sources import Source

SCRATCH = Rule(
    id="sto-ephemeral",
    title="A node of the pool has as much local disk as a pod of the job asks for.",
    why="a pod that asks for more than a node has stays pending, and one that uses more is evicted",
    fix="lower scratch",
    source="kubernetes v1.35 pkg/kubelet/eviction/eviction_manager.go",
    layer="run",
)
MEDIUM = Rule(
    id="spec/scratch-medium",
    title="Scratch on NVMe is for pools that declare their local disks.",
    why="what a node has beside the disk of its system is not known, and pods get nothing of it by themselves",
    fix="write scratch with its size alone, or declare localDisks of the pool",
    source="docs/clusters.md",
)
LOCAL = Rule(
    id="spec/local-disks",
    title="The storage of a pool's local disks makes volumes of the node that a pod is on.",
    why="a claim that is bound before its pod has a node is bound to the disk of another one",
    fix="name a storage of the cluster with binding: WaitForFirstConsumer and access: ReadWriteOnce",
    source="kubernetes/website v1.35 content/en/docs/concepts/storage/storage-classes.md, volume binding mode",
)


def check(run: Resolved) -> Iterator[Finding]:
    """Yield scratch that no node of a pool has, or that nobody declared."""
    wanted = scratch(run.run.job)
    for name, pool in {role.pool_name: role.pool for role in run.specs if role.trains}.items():
        if available(pool).storage < LAYER:
            has = rounded(Fraction(available(pool).storage))
            message = f"pool {name!r} has {has} of local disk a node, but a pod needs {binary(LAYER)}; choose another"
            yield SCRATCH.at(run.run.source, ("pool",), message)
        elif wanted is not None:
            yield from check_scratch(run, wanted, name, pool)


def check_scratch(run: Resolved, wanted: Scratch, name: str, pool: Pool) -> Iterator[Finding]:
    """Yield what is wrong with scratch on one pool: beside it there are logs and the image's writable layer."""
    field: Path = ("scratch", "size") if isinstance(run.run.job.scratch, Scratch) else ("scratch",)
    local = pool.local_disks
    if wanted.medium == "nvme" and local is None:
        message = f"scratch is on nvme, but pool {name!r} declares no localDisks; write scratch: {wanted.size}"
        yield MEDIUM.at(run.run.source, ("scratch", "medium"), message)
        return
    own = storage_of_scratch(run.run.job, pool) is not None
    has = size(local.size) if own and local else available(pool).storage - LAYER
    if size(wanted.size) > has:
        message = (
            f"scratch is {wanted.size}, but pool {name!r} has {rounded(Fraction(max(0, has)))} a node for it; lower it"
        )
        yield SCRATCH.at(run.run.source, field, message)


def check_pools(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield local disks whose storage the cluster does not have, or that binds before a pod has its node."""
    for name, pool in cluster.pools.items():
        wanted = pool.local_disks.storage if pool.local_disks else None
        if wanted is None:
            continue
        path: Path = ("pools", name, "localDisks", "storage")
        storage = cluster.storage.get(wanted)
        if storage is None:
            message = f"storage {wanted!r} does not exist; {did_you_mean(wanted, cluster.storage)}"
            yield LOCAL.at(source, path, message)
        elif storage.binding != "WaitForFirstConsumer":
            message = f"storage {wanted!r} binds before a pod has its node; write binding: WaitForFirstConsumer"
            yield LOCAL.at(source, path, message)
        elif storage.access != "ReadWriteOnce":
            message = f"storage {wanted!r} is {storage.access}, but a disk is one node's; write access: ReadWriteOnce"
            yield LOCAL.at(source, path, message)
