"""Of several nodes that would do, which one is taken."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from trainyard.pods.resources import CPU, MEMORY
from trainyard.scheduling.hosts import Host, State
from trainyard.scheduling.scores import of_resources
from trainyard.scheduling.wanted import Wanted


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
        """Return what sorts a node in a state first that is taken first, whatever pods prefer."""
        if state is None or self.anything:
            return ()
        if self.fullest:
            return tuple(state.free(name) for name in (*wanted.devices, CPU, MEMORY))
        return (-of_resources(state, wanted),)

    def ranks(self, moment: int) -> Callable[[Host], float]:
        """Return what puts equals in an order; the scheduler draws anew for each pod."""
        if self.seed is None:
            return lambda host: host.order
        dice = random.Random(f"{self.seed} {moment}")  # noqa: S311 - the same for the same seed
        return lambda _: dice.random()


SCHEDULERS = Choice()
"""As kube-scheduler does that is configured by nobody."""
