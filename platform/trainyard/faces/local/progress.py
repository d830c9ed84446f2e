"""How a run stands, in one line: how many ranks are up, and how far training has come."""

from __future__ import annotations

from typing import NamedTuple

from trainyard.base.findings import count_of
from trainyard.faces.local.kubelet import Resolved
from trainyard.faces.local.steps import SERVES, processes

STARTS_OTHERS = frozenset({"launcher", "head", "submitter"})
"""Roles of pods that start what others run: how many ranks those have is not in their command lines."""

BETWEEN = " · "


class Progress(NamedTuple):
    """How a run stands."""

    doing: str
    seconds: float
    """Since it began."""
    up: int
    of: int
    what: str
    """What is counted, one of them."""
    step: int | None = None
    loss: str = ""
    """As the program has printed it."""
    restarts: int = 0

    def __str__(self) -> str:
        """Return it as one line."""
        parts = [f"{self.doing} {spelt(self.seconds)}", f"{self.up} of {count_of(self.of, self.what)} up"]
        parts += [] if self.step is None else [f"step {self.step}"]
        parts += [f"loss {self.loss}"] if self.loss else []
        parts += [f"restarts {self.restarts}"] if self.restarts else []
        return BETWEEN.join(parts)


def ranks_of(pod: Resolved, pods: tuple[Resolved, ...]) -> int:
    """Return how much of what is counted a pod has: ranks, or itself where others start its ranks."""
    if what_of(pods) == "pod":
        return 1
    return 0 if pod.pod.role in SERVES else processes(pod)


def what_of(pods: tuple[Resolved, ...]) -> str:
    """Return the unit of progress: ranks, where each pod starts its own, else pods."""
    roles = {pod.pod.role for pod in pods}
    return "pod" if roles & STARTS_OTHERS or roles <= SERVES else "rank"


def spelt(seconds: float) -> str:
    """Return a time in seconds, minutes or hours."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole}s"
    return f"{whole // 60}m {whole % 60:02}s" if whole < 3600 else f"{whole // 3600}h {whole % 3600 // 60:02}m"
