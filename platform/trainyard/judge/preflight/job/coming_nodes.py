"""Whether a job asks for a place among nodes that do not exist yet."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import RUN, Planned

KUEUE = "kueue v0.19.2 pkg/scheduler/flavorassigner/tas_flavorassigner.go"

NO_PLACES = Rule(
    id="tas-scaling-pool",
    title="A job asks for a topology only where Kueue places pods by it.",
    why="a pool that scales has no topology unless Kueue asks for its nodes, so the job would never be admitted",
    fix="remove topology, or set scaling.provisioning of the pool",
    source=KUEUE,
    layer="queueing",
)
UNKNOWN = Rule(
    id="tas-coming-nodes",
    title="A job on nodes that are still to come requires no place.",
    why="the provider may start them in several racks; Kueue then gives the quota back and asks again",
    fix="use topology.preferred",
    source=KUEUE,
    layer="queueing",
    severity=Severity.WARNING,
)


@RUN.check()
def check(planned: Planned) -> Iterator[Finding]:
    """Yield a topology that no pool has yet."""
    run, wanted = planned.run, planned.run.job.topology
    pool = run.cluster.pools[run.pool_name]
    if wanted is None or not pool.scales or wanted.level not in run.cluster.levels:
        return
    field = "required" if wanted.required else "preferred"
    if not run.cluster.levels_of(run.pool_name):
        message = f"topology is {wanted.level!r}, but {run.pool_name!r} scales, and Kueue does not see coming nodes"
        yield NO_PLACES.at(run.source, ("topology", field), f"{message}; remove topology")
    elif wanted.required and wanted.level != "hostname":
        message = f"topology requires one {wanted.level}, but nodes of pool {run.pool_name!r} may start in several"
        yield UNKNOWN.at(run.source, ("topology", field), f"{message}; use preferred")
