"""Reading and defaulting fields of objects that may have any shape: what is malformed reads as absent.

Wrong types are another layer's findings, and semantic rules say nothing about such a subtree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trainyard.base.manifests import value_at, whole_number
from trainyard.upstream.apiserver.problems import Path

Object = dict[str, Any]
EMPTY: Object = {}
_MOST_DIGITS = 40
_HUGE: int = 10**_MOST_DIGITS


def child(value: Object, key: str) -> Object | None:
    """The object under a key, or None where there is none."""
    found = value.get(key)
    return found if type(found) is dict else None


def inner(value: Object, *keys: str) -> Object:
    """The object below some keys, or an empty one."""
    for key in keys:
        found = value.get(key)
        if type(found) is not dict:
            return EMPTY
        value = found
    return value


def below(value: Object, path: Path) -> Object:
    """The object at a path of keys and indices, or an empty one."""
    found = value_at(value, path)
    return found if type(found) is dict else EMPTY


def each(value: Object, key: str) -> Sequence[tuple[int, Object]]:
    """The objects of a list with their places."""
    found = value.get(key)
    if type(found) is not list:
        return ()
    return [(index, entry) for index, entry in enumerate(found) if type(entry) is dict]


def texts(value: Object, key: str) -> Sequence[tuple[int, str]]:
    """The strings of a list with their places."""
    found = value.get(key)
    if type(found) is not list:
        return ()
    return [(index, entry) for index, entry in enumerate(found) if type(entry) is str]


def text(value: Object, key: str) -> str:
    """The string under a key, or an empty one."""
    found = value.get(key)
    return found if type(found) is str else ""


number = whole_number
"""The integer under a key, or None."""


def count(value: Object, key: str) -> int:
    """How many entries the list or map under a key has."""
    found = value.get(key)
    return len(found) if isinstance(found, (list, dict)) else 0


def flag(value: Object, key: str) -> bool:
    """Whether the field is true."""
    return value.get(key) is True


def integer(digits: str) -> int:
    """A number in decimal digits, with a sign or without; beyond 40 digits all are equally large."""
    sign, size = (-1, digits[1:]) if digits.startswith("-") else (1, digits.removeprefix("+"))
    size = size.lstrip("0")
    return sign * (int(size or "0") if len(size) <= _MOST_DIGITS else _HUGE)


def fill(value: Object, key: str, default: Any) -> None:
    """Set a field that is absent, null or empty; what is empty and of another type is left to be refused."""
    found = value.get(key)
    if found is None or (not found and type(found) is type(default)):
        value[key] = default


def fill_absent(value: Object, key: str, default: Any) -> None:
    """Set a field that is absent or null."""
    if value.get(key) is None:
        value[key] = default
