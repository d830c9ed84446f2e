"""What a job in a queue of Volcano's cannot have, whichever kind carries it: a topology, and claims of devices."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved

CLOSE = Rule(
    id="vc-topology",
    title="A job in a queue of Volcano sets no topology.",
    why="topology levels belong to Kueue, which does not place its pods, so they could land anywhere in the pool",
    fix="remove topology, or use a queue of Kueue",
    source="volcano v1.14.1 docs; kueue v0.19.2 pkg/controller/jobs",
    layer="run",
)
CLAIMS = Rule(
    id="vc-claims",
    title="The pods of a job in a queue of Volcano claim no devices.",
    why="by default Volcano binds pods without allocating their claims, and such pods never start",
    fix="use a queue of Kueue, and a kind that it admits",
    source="volcano v1.14.1 pkg/scheduler/plugins/predicates/predicates.go DynamicResourceAllocationEnable",
    layer="run",
)


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield a topology that nobody reads, and claims that nobody allocates."""
    job, source = run.run.job, run.run.source
    if run.kind.admitted_by(run.run.cluster) != "volcano":
        return
    if job.topology is not None:
        level = job.topology.level
        message = f"topology requires {level!r}, but a job in a queue of Volcano has no topology; remove it"
        yield CLOSE.at(source, ("topology",), message)
    claims = sorted({name for role in run.roles for name in role.size.fabric.claims})
    if claims:
        message = f"pods claim {claims[0]!r}, which Volcano does not allocate; use a queue of Kueue"
        yield CLAIMS.at(source, ("kind",) if job.kind else ("queue",), message)
