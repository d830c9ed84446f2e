"""Whose program is run next: nobody's programs, however long they take, keep those of another team from their turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence


def fair(files: Sequence[str], clock: Callable[[], float]) -> Iterator[int]:
    """Yield the places of programs, next always one of the folder whose programs have taken least time so far.

    A program takes the time between its place and the next one. So a team waits for one program of each other team.
    """
    waiting: dict[str, deque[int]] = {}
    for number, file in enumerate(files):
        waiting.setdefault(file.rpartition("/")[0], deque()).append(number)
    taken = dict.fromkeys(waiting, 0.0)
    while waiting:
        team = min(waiting, key=taken.__getitem__)
        began = clock()
        yield waiting[team].popleft()
        taken[team] += clock() - began
        if not waiting[team]:
            del waiting[team]
