"""Whether nodes have the local disk that a job asks for, and a cluster the storage that makes volumes of it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved
from trainyard.render.sizing.amounts import spell
from trainyard.render.sizing.disks import LAYER, scratch, storage_of_scratch
from trainyard.render.sizing.machines import available
from trainyard.render.sizing.node import binary, size
from trainyard.specs import Pool
from trainyard.specs.models.disks import Scratch

SCRATCH = Rule(
    id="sto-ephemeral",
    title="A node of the pool has enough local disk for one pod of the job.",
    why="a pod that requests more than a node has stays pending, and a pod that uses more is evicted",
    fix="lower scratch",
    source="kubernetes v1.35 pkg/kubelet/eviction/eviction_manager.go",
    layer="run",
)
MEDIUM = Rule(
    id="spec/scratch-medium",
    title="Scratch on nvme needs a pool that declares localDisks.",
    why="without localDisks the node's other disks are unknown, and pods cannot mount them",
    fix="write scratch as a size alone, or declare localDisks in the pool",
    source="docs/clusters.md",
)


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield scratch that no node of a pool has, or that nobody declared."""
    wanted = scratch(run.run.job)
    for name, pool in {role.pool_name: role.pool for role in run.specs if role.trains}.items():
        if available(pool).storage < LAYER:
            has = spell(Fraction(available(pool).storage))
            message = (
                f"nodes of pool {name!r} have {has} of local disk, but a pod needs {binary(LAYER)}; use another pool"
            )
            yield SCRATCH.at(run.run.source, ("pool",), message)
        elif wanted is not None:
            yield from check_scratch(run, wanted, name, pool)


def check_scratch(run: Resolved, wanted: Scratch, name: str, pool: Pool) -> Iterator[Finding]:
    """Yield the problems with scratch on one pool: beside it there are logs and the image's writable layer."""
    field: Path = ("scratch", "size") if isinstance(run.run.job.scratch, Scratch) else ("scratch",)
    local = pool.local_disks
    if wanted.medium == "nvme" and local is None:
        message = f"scratch is on nvme, but pool {name!r} declares no localDisks; write scratch: {wanted.size}"
        yield MEDIUM.at(run.run.source, ("scratch", "medium"), message)
        return
    own = storage_of_scratch(run.run.job, pool) is not None
    has = size(local.size) if own and local else available(pool).storage - LAYER
    if size(wanted.size) > has:
        message = f"scratch is {wanted.size}, but nodes of pool {name!r} have {spell(Fraction(max(0, has)))}; lower it"
        yield SCRATCH.at(run.run.source, field, message)
