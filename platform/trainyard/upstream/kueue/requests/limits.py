"""All LimitRanges of a namespace as one.

Source: kueue v0.19.2 pkg/util/limitrange/limitrange.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.quantities import Quantity

CONTAINER, POD = "Container", "Pod"


@dataclass(slots=True)
class Summary:
    """The bounds and defaults of containers, or of pods: the strictest bounds, and the first default of each."""

    most: dict[str, Quantity] = field(default_factory=dict)
    least: dict[str, Quantity] = field(default_factory=dict)
    default: dict[str, Any] = field(default_factory=dict)
    default_request: dict[str, Any] = field(default_factory=dict)


def summarize_ranges(ranges: Iterable[Mapping[str, Any]]) -> dict[str, Summary]:
    """Return the summary of each type that LimitRanges have."""
    found: dict[str, Summary] = {}
    for range_ in ranges:
        for item in (range_.get("spec") or {}).get("limits") or ():
            summary = found.setdefault(item.get("type") or "", Summary())
            summary.most = merge_amounts(summary.most, quantities(item.get("max")), min)
            summary.least = merge_amounts(summary.least, quantities(item.get("min")), max)
            summary.default = {**(item.get("default") or {}), **summary.default}
            summary.default_request = {**(item.get("defaultRequest") or {}), **summary.default_request}
    return found


def quantities(amounts: Mapping[str, Any] | None) -> dict[str, Quantity]:
    """Return quantities as they are written; raises ValueError for what is none."""
    return {name: Quantity.parse(value) for name, value in (amounts or {}).items()}


def merge_amounts(
    left: Mapping[str, Quantity], right: Mapping[str, Quantity], choose: Callable[[Quantity, Quantity], Quantity]
) -> dict[str, Quantity]:
    """Return both, and of what is in both the one that is chosen."""
    return {**right, **left, **{name: choose(left[name], right[name]) for name in left.keys() & right.keys()}}
