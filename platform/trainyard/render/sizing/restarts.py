"""How often a gang may be started again: as often as it is likely to lose nodes, and more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trainyard.render.sizing.base import Sized
from trainyard.render.sizing.roles import RoleSpec
from trainyard.specs.run import Run

MONTH = 720
"""Hours of a month of 30 days; how long a run is taken to last that has no deadline."""

OWN = 3
"""Restarts for what is not the nodes' fault: a full volume, a registry or a data server that is away."""

MOST = 1000
"""Restarts that are derived at most."""


@dataclass(frozen=True, slots=True)
class Losses:
    """How many of its nodes a run loses on average."""

    count: float
    words: str
    """From what that follows."""


def losses(run: Run, roles: Sequence[RoleSpec]) -> Losses:
    """Return the losses that a run expects until its deadline, or in a month; each pod counts as on its own node."""
    hours = run.job.max_hours or MONTH
    month = sum(role.nodes * role.pool.losses for role in roles)
    parts = " + ".join(f"{role.nodes} × {role.pool.losses:g}" for role in roles)
    span = f"{hours:g} hours" if run.job.max_hours else f"{hours} hours without maxHours"
    return Losses(month * hours / MONTH, f"{parts} per month for {span}")


def restarts(run: Run, roles: Sequence[RoleSpec]) -> Sized[int]:
    """Return the job's own number, or three and twice what is lost on average.

    Where losses come independently of each other, about one run in five hundred has more, at whatever size (Poisson).
    """
    if run.job.restarts is not None:
        return Sized(run.job.restarts, "restarts of the job")
    lost = losses(run, roles)
    wanted = f"{OWN} + round(2 × {lost.count:.2g} expected node losses)"
    number = OWN + round(2 * lost.count)
    if number > MOST:
        number, wanted = MOST, f"min({MOST}, {wanted})"
    return Sized(number, f"{number} = {wanted}: {lost.words}")
