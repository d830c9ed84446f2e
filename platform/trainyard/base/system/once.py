"""What follows from a frozen model, worked out once: models hold maps, so that no cache of Python's takes them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


PLAIN = frozenset({str, int})
"""Types whose values are told apart by what they are."""


class Same:
    """A value that is equal to itself alone; it lives as long as an answer about it is kept."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value


def once(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function of frozen models, texts and numbers that works each answer out once; nobody may change one.

    It takes its arguments by position.
    """
    plain: Callable[..., T] = function

    @lru_cache(maxsize=1024)
    def kept(*values: Any) -> T:
        return plain(*(value.value if isinstance(value, Same) else value for value in values))

    @wraps(function)
    def asked(*values: P.args, **_: P.kwargs) -> T:
        return kept(*(value if type(value) in PLAIN else Same(value) for value in values))

    return asked
