"""Whether a check of the network before a run can work, and whether any network passes it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved
from trainyard.render.sizing import checking
from trainyard.render.sizing.node import binary, size
from trainyard.specs.models.check import NcclCheck

POSSIBLE = Rule(
    id="run/check",
    title="A job with a check has several GPUs with room for it, a launcher that all workers start, and a floor.",
    why="the check sums over all GPUs before the launcher starts, so all workers must start it at the same time",
    fix="remove check, or change what the message names",
    source="docs/checks.md",
    layer="run",
)
REACHED = Rule(
    id="nccl-check-floor",
    title="The floor of a check is not above what the NICs of a node carry.",
    why="the run would never start, unless NVLink or the switches sum between nodes",
    fix="lower check.nccl.busBandwidth, or waive this if the switches sum",
    source="nccl-tests doc/PERFORMANCE.md: the bus bandwidth of an all-reduce is bounded by the slowest link",
    layer="run",
    severity=Severity.WARNING,
)
AT: Path = ("check", "nccl")


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield checks that cannot start, that know no floor, and that no fabric passes."""
    asked = checking.nccl_of(run.run)
    if asked is None:
        return
    reason = apart(run)
    if reason:
        yield POSSIBLE.at(run.run.source, ("check",), f"check does not work with {reason}")
        return
    yield from check_size(run, asked)
    least, rate = checking.floor(run.run), checking.line_rate(run.run)
    if least is None:
        message = "busBandwidth has no default here, because the network's speed is not known; set it, such as 200G"
        yield POSSIBLE.at(run.run.source, AT, message)
    elif rate is not None and least.value > rate and run.run.pool.node.nvlink_nodes == 1:
        carried = f"the NICs of a pod carry {float(rate):.4g} GB/s"
        message = f"busBandwidth is {float(least.value):.4g} GB/s, but {carried}; lower it"
        yield REACHED.at(run.run.source, (*AT, "busBandwidth"), message)


def check_size(run: Resolved, asked: NcclCheck) -> Iterator[Finding]:
    """Yield a sum that the memory of one of the run's GPUs cannot hold."""
    pools = [run.run.cluster.pools[name].node.gpus for name in run.run.pools]
    memory = min((size(gpus.memory) for gpus in pools if gpus is not None), default=None)
    if memory is not None and size(asked.size) >= memory:
        message = f"size is {asked.size}, but a GPU has {binary(memory)} of memory; use 1Gi"
        yield POSSIBLE.at(run.run.source, (*AT, "size"), message)


def apart(run: Resolved) -> str:
    """Return in words why the workers of a run cannot check their network together, or nothing."""
    job = run.run.job
    if job.array is not None:
        return "array, whose copies do not talk to each other; remove check"
    if job.min_nodes is not None:
        return "minNodes, since the check waits for all nodes; remove one of them"
    if job.runtime is not None:
        return "runtime, which starts the pods; remove one of them"
    if job.nodes * job.gpus_per_node < 2:
        return f"{job.nodes * job.gpus_per_node} whole GPUs, which have nobody to talk to; remove check"
    if not run.launcher.begins_together:
        return f"launcher {job.launcher!r}, which starts ranks from one pod; use torchrun, or remove check"
    return ""
