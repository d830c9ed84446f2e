"""How far checkpoints are apart: as a job says, and as lines tell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from trainyard.faces.local.kubelet import Resolved

SAVED = re.compile(r"^\s*(?:\[[^\]]*\]:?\s*)?saved\b.*?\bstep=(\d+)\b")
EVERY = "CHECKPOINT_EVERY_MINUTES"
"""What a job declares, as each container is told."""


def declared(pods: Iterable[Resolved]) -> float | None:
    """Return the minutes between checkpoints that the pods are told of; None where they are told of none."""
    for pod in pods:
        try:
            return float(pod.main.env[EVERY])
        except (KeyError, ValueError):
            continue
    return None


@dataclass
class Saves:
    """The checkpoints that were told of."""

    minutes: float | None = None
    """Between two of them, as declared."""
    first: int | None = None
    """The step before the first that was told."""
    steps: set[int] = field(default_factory=set)

    def see(self, text: str) -> bool:
        """Take a line, and say whether it tells of a checkpoint."""
        match = SAVED.match(text)
        if match is not None:
            self.steps.add(int(match[1]))
        return match is not None

    @property
    def apart(self) -> int | None:
        """Steps between the last two of them, or before the only one."""
        known = sorted({*self.steps, *([] if self.first is None else [self.first])})
        return None if not self.steps or len(known) < 2 else [after - before for before, after in pairwise(known)][-1]

    def __str__(self) -> str:
        """Return how far they are apart."""
        seen = "" if self.apart is None else every(self.apart, "step")
        said = "" if self.minutes is None else every(self.minutes, "minute")
        if seen and said:
            return f"checkpoints {seen} so far, declared {said}"
        if said:
            return f"checkpoints declared {said}, none seen so far"
        return f"checkpoints {seen} so far, none declared" if seen else "no checkpoint seen or declared"


def every(number: float, what: str) -> str:
    """Return how often something is."""
    return f"every {what}" if number == 1 else f"every {number:g} {what}s"
