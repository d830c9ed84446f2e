"""Whether a job can end before the capacity does that it runs on: reserved nodes, and those of flex-start."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.cluster.scaling import GKE
from trainyard.judge.preflight.subjects import RUN, Planned
from trainyard.specs.models.scaling import Reservation

RESERVED = Rule(
    id="run/reservation",
    title="A job on reserved capacity can end before the reservation does.",
    why="the provider takes the nodes away at the end, and what the job did since its last checkpoint is lost",
    fix="set maxHours to less than the reservation has, or split the job",
    source="aws/karpenter-provider-aws v1.14.1 designs/capacity-block-support.md",
    layer="run",
    severity=Severity.WARNING,
)


FLEX = Rule(
    id="run/flex-start",
    title="A job on flex-start nodes of GKE ends within seven days.",
    why="GKE deletes the nodes then, and what the job did since its last checkpoint is lost",
    fix="set maxHours to 168 or less, or split the job",
    source="docs.cloud.google.com/kubernetes-engine/docs/concepts/dws: flex-start VMs run for seven days at most",
    layer="run",
    severity=Severity.WARNING,
)

WEEK = 7 * 24
"""Hours that nodes of flex-start last at most."""


@RUN.check()
def check_flex(planned: Planned) -> Iterator[Finding]:
    """Yield a job that could run longer than nodes of flex-start last."""
    job = planned.run.job
    for name in sorted({role.pool_name for role in planned.roles}):
        if planned.run.cluster.pools[name].provisioning == GKE and (job.max_hours or 0) > WEEK:
            message = f"maxHours is {job.max_hours:g}, but GKE deletes flex-start nodes of pool {name!r} after {WEEK}"
            yield FLEX.at(planned.run.source, ("maxHours",), f"{message} hours; lower maxHours")


@RUN.check()
def check(planned: Planned) -> Iterator[Finding]:
    """Yield a job that could run longer than the whole reservation of a pool, at whatever time it starts.

    Dates are not compared with today: what is right in a review stays right in CI a week later.
    """
    job = planned.run.job
    names = sorted({role.pool_name for role in planned.roles})
    for name in names:
        found = planned.run.cluster.pools[name].reservation
        if found is None:
            continue
        if job.max_hours is None:
            message = f"the reservation of pool {name!r} ends {found.ends}, but the job has no maxHours"
            yield RESERVED.at(planned.run.source, ("pool",), f"{message}; add at most {hours(found)}")
        elif job.max_hours > found.hours:
            message = f"maxHours is {job.max_hours:g}, but the reservation of pool {name!r} has {hours(found)} hours"
            yield RESERVED.at(planned.run.source, ("maxHours",), f"{message}, until {found.ends}; lower maxHours")


def hours(found: Reservation) -> str:
    """Return the hours of a reservation in words."""
    return f"{found.hours:.4g}"
