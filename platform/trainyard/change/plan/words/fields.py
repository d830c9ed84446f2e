"""Fields of specs that change, in words, and what is said of them wherever they stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.base.documents.differences import FieldChange, flat
from trainyard.base.manifests import value_at

NAMED = 1
"""How deep in a file things have names: one that is new is told as a whole."""


def fill(before: Any, after: Any, depth: int = 0) -> tuple[Any, Any]:
    """Return two specs in which maps and lists that one of them has not are empty, so that what is in them is told."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return before, after
    old, new = dict(before), dict(after)
    for key in {*before, *after}:
        if depth != NAMED:
            for one, two in ((old, new), (new, old)):
                if key not in one and isinstance(two[key], (Mapping, list)):
                    one[key] = type(two[key])()
        if key in old and key in new:
            old[key], new[key] = fill(old[key], new[key], depth + 1)
    return old, new


def phrase(what: str, field_change: FieldChange) -> str:
    """Return a field that differs in words: `what: 4 → 8`."""
    lead = f"{what}: " if what else ""
    if field_change.closed:
        return f"{lead}changed"
    if field_change.after is None:
        return f"{lead}{field_change.before} removed"
    return (
        f"{lead}{field_change.after} added"
        if field_change.before is None
        else f"{lead}{field_change.before} → {field_change.after}"
    )


def waiver(field_change: FieldChange, where: str, after: Any) -> tuple[str, str] | None:
    """Return the words for a waiver and its danger, None where the field is not a waiver."""
    if field_change.way[:1] != ("waive",) or len(field_change.way) < 2:
        return None
    rule = str(field_change.way[1])
    if field_change.after is None:
        return f"{where} no longer waives {rule}", ""
    return f"{where} waives {rule}: {flat(value_at(after, field_change.way))}", f"{where} waives {rule}"
