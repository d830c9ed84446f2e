"""The nearest change with which a job that never fits would fit, alone on its cluster."""

from __future__ import annotations

from trainyard.admission.asks import Ask, smaller
from trainyard.admission.crowd import Crowd
from trainyard.admission.outcomes import holds


def change(ask: Ask, crowd: Crowd) -> str:
    """Return the change in words, to stand behind the reason; empty where there is none."""
    least = fewest(ask, crowd)
    return f"; nodes: {least} fits" if least else ""


def fewest(ask: Ask, crowd: Crowd) -> int:
    """Return the most nodes, fewer than it asks for, with which a job fits on the empty cluster; 0 for none."""
    low, high = 0, ask.file.job.nodes
    while high - low > 1:
        middle = (low + high) // 2
        less = smaller(ask, middle, crowd.where)
        fits = less is not None and not less.why and alone_fits(less, crowd)
        low, high = (middle, high) if fits else (low, middle)
    return low


def alone_fits(ask: Ask, crowd: Crowd) -> bool:
    """Whether a job gets quota on the empty cluster, and nodes."""
    mine = crowd.alone(ask).said
    return bool(mine) and all(map(holds, mine)) and not crowd.empty.alone(ask, mine).missing
