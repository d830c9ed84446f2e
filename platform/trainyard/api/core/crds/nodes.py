"""Reading the nodes of a CRD's schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from trainyard.api.core.shapes import Object, child, count
from trainyard.api.problems import Path

JUNCTORS = ("allOf", "anyOf", "oneOf")
LIST_TYPE, LIST_KEYS = "x-kubernetes-list-type", "x-kubernetes-list-map-keys"
MAP_TYPE = "x-kubernetes-map-type"
EMBEDDED, INT_OR_STRING = "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"
PRESERVE = "x-kubernetes-preserve-unknown-fields"
RULES = "x-kubernetes-validations"

IS_UNSUPPORTED: dict[str, Callable[[Any], bool]] = {
    "id": bool,
    "$ref": lambda value: value is not None,
    "additionalItems": lambda value: value is not None,
    "definitions": bool,
    "dependencies": lambda value: value is not None,
    "patternProperties": bool,
}
"""Keywords of JSON Schema that no CRD may use, and when they count as used."""


def properties(schema: Object) -> Iterator[tuple[str, Object]]:
    """Yield the properties of a node that are schemas."""
    for name, below in (child(schema, "properties") or {}).items():
        if isinstance(below, dict):
            yield name, below


def branches(schema: Object, path: Path) -> Iterator[tuple[Object, Path]]:
    """Yield the branches of `not`, `allOf`, `oneOf` and `anyOf` with their places."""
    if (below := child(schema, "not")) is not None:
        yield below, (*path, "not")
    for kind in JUNCTORS:
        for index, branch in junction(schema, kind):
            yield branch, (*path, kind, index)


def junction(schema: Object, kind: str) -> list[tuple[int, Object]]:
    """Return the branches of one junctor with their places."""
    found = schema.get(kind)
    if not isinstance(found, list):
        return []
    return [(index, branch) for index, branch in enumerate(found) if isinstance(branch, dict)]


def below(schema: Object) -> Iterator[Object]:
    """Yield every schema directly beneath a node."""
    for kind in ("items", "additionalProperties"):
        if (found := child(schema, kind)) is not None:
            yield found
    for _, found in properties(schema):
        yield found
    for found, _ in branches(schema, ()):
        yield found


def is_convertible(schema: Object) -> bool:
    """Whether the server can make a structural schema of it: no unsupported keyword, a single schema for items."""
    if (
        schema.get("$schema")
        or schema.get(PRESERVE) is False
        or (count(schema, "items") and not child(schema, "items"))
    ):
        return False
    if any(is_used(schema.get(keyword)) for keyword, is_used in IS_UNSUPPORTED.items()):
        return False
    return all(is_convertible(found) for found in below(schema))
