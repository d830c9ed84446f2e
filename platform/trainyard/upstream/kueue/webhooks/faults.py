"""A fault of an object, in the forms of the API server's errors, and the fields of objects that may have any shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from trainyard.base.manifests import matches
from trainyard.base.quantities import Quantity

Object = Mapping[str, Any]
Path = tuple[str | int, ...]
Form = Literal["invalid", "key", "label", "required", "forbidden", "unsupported", "duplicate", "too long"]
"""Forms of errors; `key` and `label` are invalid values, of which several faults may say why (field.ErrorList)."""

NEGATIVE = "must be greater than or equal to 0"
POSITIVE = "must be greater than 0"


class Key(str):
    """A key of a map, which Go writes in brackets."""

    __slots__ = ()


class Entry(str):
    """A key of a map whose faults Go reports at the map itself."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a webhook refuses an object."""

    form: Form
    path: Path
    value: Any = None
    """The value as Go writes it."""
    detail: str = ""
    """What upstream says of it."""
    choices: tuple[str, ...] = ()


def objects(value: Object, *pattern: str) -> Iterator[tuple[Path, Object]]:
    """Yield path and value of every object at a pattern, where `*` is every item of a list."""
    for path, found in matches(value, pattern):
        if isinstance(found, Mapping):
            yield path, found


def texts(value: Object, *pattern: str) -> list[tuple[Path, str]]:
    """Return path and value of every text at a pattern."""
    return [(path, found) for path, found in matches(value, pattern) if isinstance(found, str)]


def quantity(value: Any) -> Quantity | None:
    """Return a quantity, or None for what is none."""
    try:
        return Quantity.parse(value)
    except (ValueError, ArithmeticError):
        return None


def negative_faults(amount: Quantity, path: Path) -> Iterator[Fault]:
    """Yield an amount below zero."""
    if amount.amount < 0:
        yield Fault("invalid", path, amount.canonical(), NEGATIVE)
