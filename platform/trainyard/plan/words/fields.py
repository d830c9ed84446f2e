"""Fields of specs that change, in words, and what is said of them wherever they stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.documents.differences import FieldChange, flat
from trainyard.manifests import value_at

NAMED = 1
"""How deep in a file things have names: one that is new is told as a whole."""


def filled(before: Any, after: Any, depth: int = 0) -> tuple[Any, Any]:
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
            old[key], new[key] = filled(old[key], new[key], depth + 1)
    return old, new


def phrase(what: str, each: FieldChange) -> str:
    """Return a field that differs in words: `what: 4 -> 8`."""
    lead = f"{what}: " if what else ""
    if each.closed:
        return f"{lead}changes"
    if each.after is None:
        return f"{lead}{each.before} removed"
    return f"{lead}{each.after} added" if each.before is None else f"{lead}{each.before} -> {each.after}"


def waiver(each: FieldChange, where: str, after: Any) -> tuple[str, str] | None:
    """Return what is said of a waiver, and why a reviewer should see it; None where a field is none."""
    if each.way[:1] != ("waive",) or len(each.way) < 2:
        return None
    rule = str(each.way[1])
    if each.after is None:
        return f"{where} waives {rule} no more", ""
    return f"{where} waives {rule}: {flat(value_at(after, each.way))}", f"{where} waives {rule}"
