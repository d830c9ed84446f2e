"""How large the values of a schema may be: most elements, characters or entries, and the fewest bytes as JSON.

Without a bound in the schema, what a request of 3 MiB can hold counts.
Source: k8s.io/apiserver v0.35.4 pkg/cel/common/schemas.go SchemaDeclType, pkg/cel/limits.go, pkg/cel/types.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.upstream.apiserver.cel.convert import Schema, type_of
from trainyard.upstream.apiserver.cel.names import escape

REQUEST = 3 * 1024 * 1024
"""Bytes of the largest request (k8s.io/apiserver v0.35.4 pkg/apis/cel/config.go MaxRequestSizeBytes)."""

_BYTES_A_CHARACTER = 4
_QUOTES, _BRACES = 2, 2
_ENTRY = 6
"""Bytes of a map's entry beside its value: a key of two, quotes, colon and comma."""
_FIELD = 4
"""Bytes of a field beside its name and value."""
_RESOURCE = {"name": {"type": "string"}, "generateName": {"type": "string"}}
_TEXT_FORMATS = {"date": (12, 12), "date-time": (21, 32), "duration": (3, 32)}
"""Fewest and most bytes of a time, in quotes."""
_SCALARS = {"boolean": 4, "integer": 1, "number": 1}
"""Fewest bytes of what has no elements."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a schema's values, and of what is in them."""

    most: int
    """Most elements of a list, entries of a map, bytes of a text; 0 of what has none."""
    bytes: int
    """Fewest bytes as JSON."""
    fields: Mapping[str, Shape] = field(default_factory=dict)
    """Fields of an object, by their names in expressions."""
    element: Shape | None = None
    key: Shape | None = None

    @property
    def occurrences(self) -> int:
        """How often a request can hold such a value, where no list or map around it has a bound."""
        return REQUEST // (self.bytes + 1)


_KEY = Shape(0, _QUOTES)


def shape(schema: Schema, *, root: bool = False) -> Shape | None:
    """Return the sizes of a schema's values; None where expressions cannot read them."""
    if schema.get("x-kubernetes-int-or-string") is True:
        longest = _longest(schema)
        return Shape(REQUEST - _QUOTES if longest is None else longest, 1)
    kind = type_of(schema)
    if kind == "array":
        return _list(schema)
    if kind == "object":
        additional = schema.get("additionalProperties")
        if isinstance(additional, Mapping):
            return _map(schema, additional)
        return _object(schema, root=root or schema.get("x-kubernetes-embedded-resource") is True)
    if kind == "string":
        return _text(schema)
    return Shape(0, _SCALARS[kind]) if kind in _SCALARS else None


def _list(schema: Schema) -> Shape | None:
    items = schema.get("items")
    element = shape(items) if isinstance(items, Mapping) else None
    if element is None:
        return None
    most = _bound(schema, "maxItems")
    return Shape((REQUEST - _BRACES) // (element.bytes + 1) if most is None else most, _BRACES, element=element)


def _map(schema: Schema, values: Schema) -> Shape | None:
    element = shape(values)
    if element is None:
        return None
    most = _bound(schema, "maxProperties")
    fitting = (REQUEST - _BRACES) // (element.bytes + _ENTRY)
    return Shape(fitting if most is None else most, _BRACES, element=element, key=_KEY)


def _object(schema: Schema, *, root: bool) -> Shape:
    properties: dict[str, Any] = dict(schema.get("properties") or {})
    if root and not _is_resource(properties):
        text = {"type": "string"}
        properties |= {"apiVersion": text, "kind": text, "metadata": {"type": "object", "properties": _RESOURCE}}
    required = schema.get("required") or ()
    fields, fewest = {}, _BRACES
    for name, below in properties.items():
        found = shape(below)
        if found is None:
            continue
        if (escaped := escape(name)) is not None:
            fields[escaped] = found
        if name in required and below.get("default") is None:
            fewest += len(name.encode()) + found.bytes + _FIELD
    return Shape(0, fewest, fields)


def _is_resource(properties: Mapping[str, Any]) -> bool:
    """Whether a root says of its own name and kind what each has in any case."""
    metadata = properties.get("metadata") or {}
    named = metadata.get("properties") or {}
    return (
        metadata.get("type") == "object"
        and all((properties.get(name) or {}).get("type") == "string" for name in ("kind", "apiVersion"))
        and all((named.get(name) or {}).get("type") == "string" for name in _RESOURCE)
    )


def _text(schema: Schema) -> Shape:
    form = schema.get("format")
    if form in _TEXT_FORMATS:
        fewest, most = _TEXT_FORMATS[form]
        return Shape(most, fewest)
    if form == "byte":
        bound = _bound(schema, "maxLength")
        return Shape(REQUEST - _QUOTES if bound is None else bound, _QUOTES)
    longest = _longest(schema)
    if longest is None and (choices := schema.get("enum")):
        longest = max((len(choice.encode()) for choice in choices if isinstance(choice, str)), default=0)
    return Shape(REQUEST - _QUOTES if longest is None else longest, _QUOTES)


def _longest(schema: Schema) -> int | None:
    bound = _bound(schema, "maxLength")
    return None if bound is None else bound * _BYTES_A_CHARACTER


def _bound(schema: Schema, keyword: str) -> int | None:
    """Return a bound that a schema states; one below 0 is 0."""
    given = schema.get(keyword)
    return max(0, int(given)) if isinstance(given, (int, float)) and not isinstance(given, bool) else None
