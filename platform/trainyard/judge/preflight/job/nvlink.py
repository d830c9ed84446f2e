"""What NVLink that goes beyond a node asks of the jobs that train over it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved
from trainyard.render.sizing import nvlink

WHOLE = Rule(
    id="run/nvlink-whole-nodes",
    title="Pods that use NVLink across nodes use all GPUs of a node.",
    why="a node has one channel: a second pod stays pending, although Kueue counts its GPUs as free",
    fix="use all GPUs of a node, on fewer nodes",
    source="NVIDIA/k8s-dra-driver-gpu v0.4.0 cmd/compute-domain-kubelet-plugin/driver.go",
    layer="run",
)


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield roles whose pods claim a channel and leave GPUs of their node to others, who find none."""
    for role, size in zip(run.specs, run.sizing.roles, strict=True):
        gpus = role.pool.node.gpus
        if nvlink.CLAIM in size.fabric.claims and gpus is not None and role.gpus != gpus.count:
            message = f"gpusPerNode is {role.gpus}, but a node has a single NVLink channel; use {gpus.count}"
            yield WHOLE.at(run.run.source, (*role.path, "gpusPerNode"), message)
