"""How the kubelet's messages write names, and numbers that are out of range."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def quote(text: str) -> str:
    """Return a text in quotes as Go writes it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def each(names: tuple[str, ...]) -> str:
    """Return names in quotes with spaces between."""
    return " ".join(map(quote, names))


def negative(c: Mapping[str, Any], name: str, flag: str) -> Iterator[str]:
    """Yield a field that is negative."""
    if c[name] < 0:
        yield f"{name} (--{flag}) {c[name]} must not be a negative number"


def check_range(
    c: Mapping[str, Any], name: str, flag: str, within: tuple[int, int], *, said: tuple[int, int] | None = None
) -> Iterator[str]:
    """Yield a field that is out of a range; `said` is the range in words where they differ."""
    if not within[0] <= c[name] <= within[1]:
        low, high = said or within
        yield f"{name} (--{flag}) {c[name]} must be between {low} and {high}, inclusive"
