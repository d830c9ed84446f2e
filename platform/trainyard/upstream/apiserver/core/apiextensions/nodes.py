"""Reading the nodes of a CRD's schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from trainyard.upstream.apiserver.core.shapes import Object, child, count
from trainyard.upstream.apiserver.problems import Path

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


_TEXTS = ("type", "format", "pattern", "title", "description", LIST_TYPE, MAP_TYPE)
_FLAGS = ("nullable", "exclusiveMinimum", "exclusiveMaximum", "uniqueItems", EMBEDDED, INT_OR_STRING, PRESERVE)
_COUNTS = ("maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties")
_NUMBERS = ("maximum", "minimum", "multipleOf")
_BOUNDS = (*_COUNTS, *_NUMBERS)
_LISTS = ("required", "enum", LIST_KEYS, RULES, *JUNCTORS)
_SHAPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(_TEXTS, (str,)),
    **dict.fromkeys(_FLAGS, (bool,)),
    **dict.fromkeys(_COUNTS, (int,)),
    **dict.fromkeys(_NUMBERS, (int, float)),
    **dict.fromkeys(_LISTS, (list,)),
    **dict.fromkeys(("properties", "not"), (dict,)),
    "additionalProperties": (dict, bool),
    "items": (dict,),
}
_RULE_SHAPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("rule", "message", "messageExpression", "reason", "fieldPath"), (str,)),
    "optionalOldSelf": (bool,),
}


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


def is_well_formed(schema: Object) -> bool:
    """Whether every keyword, there and beneath, has a value of its type: else another layer has said so."""
    if not _has_shapes(schema, _SHAPES):
        return False
    for keyword in (LIST_KEYS, "required"):
        if any(type(name) is not str for name in schema.get(keyword) or ()):
            return False
    for keyword in JUNCTORS:
        if any(type(branch) is not dict for branch in schema.get(keyword) or ()):
            return False
    if any(type(field) is not dict for field in (schema.get("properties") or {}).values()):
        return False
    rules = schema.get(RULES) or ()
    if any(type(rule) is not dict or not _has_shapes(rule, _RULE_SHAPES) for rule in rules):
        return False
    return all(is_well_formed(found) for found in below(schema))


def states_rules(schema: Object) -> bool:
    """Whether a node, or one beneath it, states rules in CEL."""
    return bool(schema.get(RULES)) or any(states_rules(found) for found in below(schema))


def _has_shapes(node: Object, shapes: dict[str, tuple[type, ...]]) -> bool:
    return all(
        key not in shapes or type(value) in shapes[key] or (value is None and key not in _BOUNDS)
        for key, value in node.items()
    )
