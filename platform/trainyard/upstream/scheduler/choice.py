"""Of several nodes that would do, which one is taken."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from trainyard.upstream.pods.resources import CPU, MEMORY
from trainyard.upstream.scheduler.hosts import Host, State
from trainyard.upstream.scheduler.scores import of_resources
from trainyard.upstream.scheduler.wanted import Wanted


@dataclass(frozen=True, slots=True)
class Choice:
    """A way to choose."""

    fullest: bool = False
    """Whether the fullest node is taken, else the one that the scheduler scores highest."""
    seed: int | None = None
    """The chance by which one of equals is taken; without, the first is."""

    anything: bool = False
    """Whether any node is taken that would do."""

    def of(self, state: State | None, wanted: Wanted) -> tuple[int, ...]:
        """Return the sort key of a node in a state, lowest first, apart from preferences of pods."""
        if state is None or self.anything:
            return ()
        if self.fullest:
            return tuple(state.free(name) for name in (*wanted.devices, CPU, MEMORY))
        return (-of_resources(state, wanted),)

    def ranks(self, moment: int) -> Callable[[Host], float]:
        """Return the sort key among equal nodes; the scheduler draws anew for each pod."""
        if self.seed is None:
            return lambda host: host.order
        dice = random.Random(f"{self.seed} {moment}")  # noqa: S311 - the same for the same seed
        return lambda _: dice.random()


SCHEDULERS = Choice()
"""As kube-scheduler does that is configured by nobody."""
