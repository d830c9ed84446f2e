"""Whether a job can end before the capacity does that it runs on."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
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
