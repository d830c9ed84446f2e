"""Whether a cluster has the storage that makes volumes of its nodes' local disks."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.specs import Cluster
from trainyard.specs.sources import Source

LOCAL = Rule(
    id="spec/local-disks",
    title="The storage of localDisks creates each volume on the node of its pod.",
    why="a claim that is bound before its pod is scheduled may be bound to another node's disk",
    fix="name a storage of the cluster with binding: WaitForFirstConsumer and access: ReadWriteOnce",
    source="kubernetes/website v1.35 content/en/docs/concepts/storage/storage-classes.md, volume binding mode",
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
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
            message = f"storage {wanted!r} binds claims before the pod has a node; set binding: WaitForFirstConsumer"
            yield LOCAL.at(source, path, message)
        elif storage.access != "ReadWriteOnce":
            message = (
                f"storage {wanted!r} is {storage.access}, but a disk belongs to one node; set access: ReadWriteOnce"
            )
            yield LOCAL.at(source, path, message)
