"""Local disks: no larger than the machine has, and with a storage that makes volumes of them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, did_you_mean
from trainyard.base.quantities import Quantity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.specs import Cluster
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

LOCAL = Rule(
    id="spec/local-disks",
    title="The storage of localDisks creates each volume on the node of its pod.",
    why="a claim that is bound before its pod is scheduled may be bound to another node's disk",
    fix="name a storage of the cluster with binding: WaitForFirstConsumer and access: ReadWriteOnce",
    source="kubernetes/website v1.35 content/en/docs/concepts/storage/storage-classes.md, volume binding mode",
)


SIZE = Rule(
    id="spec/local-disks-size",
    title="The local disks of a pool are no larger than those of its machines.",
    why="no node has room for a pod with so much scratch, and its job waits for ever",
    fix="write what the file systems on these disks report",
    source="platform/trainyard/specs/shapes",
)


@CLUSTER.check()
def check_sizes(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield local disks that are larger than those of the shape, where these are known."""
    for name, pool in cluster.pools.items():
        there = pool.node.local_storage if is_known_shape(pool.shape) else None
        said = pool.local_disks.size if pool.local_disks else None
        if there is not None and said is not None and Quantity.parse(there) < Quantity.parse(said):
            message = f"size is {said}, but nodes of pool {name!r} have {there} of local disks; use a smaller size"
            yield SIZE.at(source, ("pools", name, "localDisks", "size"), message)


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
