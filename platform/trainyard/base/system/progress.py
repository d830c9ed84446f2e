"""How far long work has come: whoever does it tells, and somebody may show it; nothing is counted while nobody does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

Show = Callable[[str, int, int, str], None]
"""Shows what is done, how many of how many, and of what: `checking`, 312, 1000, `jobs`."""

_SHOW: ContextVar[Show | None] = ContextVar("show", default=None)


def tell(what: str, done: int, total: int, noun: str) -> None:
    """Say that so many of so many things are done."""
    show = _SHOW.get()
    if show is not None:
        show(what, done, total, noun)


def each(items: Sequence[T], what: str, noun: str) -> Iterator[T]:
    """Yield things, and say before each how many are done."""
    if _SHOW.get() is None:
        yield from items
        return
    for done, item in enumerate(items):
        tell(what, done, len(items), noun)
        yield item


@contextmanager
def shown_by(show: Show) -> Iterator[None]:
    """Have what is told inside shown."""
    token = _SHOW.set(show)
    try:
        yield
    finally:
        _SHOW.reset(token)
