"""Bounds on the processor's time that hold on a busy machine, too: what is slow there is slow for any program."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

LOOPS = 200_000
LOOPS_SECONDS = 0.015
"""What `LOOPS` rounds of `slowness` take with Python 3.11 on a server's processor of 2023 with nothing beside."""

TRIES = 3

Result = TypeVar("Result")


def slowness() -> float:
    """Return how many times longer than there Python takes here and now, at least one."""
    started = time.process_time()
    found: dict[int, str] = {}
    for number in range(LOOPS):
        found[number & 1023] = str(number)
    return max(1.0, (time.process_time() - started) / LOOPS_SECONDS)


def within(
    seconds: float, work: Callable[[], Result], about: object = "", *, each: Callable[[Result], int] = lambda _: 1
) -> Result:
    """Return what a function returns; fail where it takes longer each time, by what such seconds are worth here.

    `each` says by its result how many times the bound it may take, where that is more than once.
    """
    spent = []
    for _ in range(TRIES):
        started = time.process_time()
        result = work()
        spent.append(time.process_time() - started)
        bound = seconds * max(1, each(result))
        if spent[-1] < bound:
            return result
    pace = slowness()
    assert min(spent) < bound * pace, f"{min(spent):.1f} s, where a second is worth {pace:.1f}: {about}"
    return result
