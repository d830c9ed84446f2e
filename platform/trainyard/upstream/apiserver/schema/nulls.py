"""Null among the elements of a core object's list or map: to Go that is an element, the zero value of its type.

Source: encoding/json of Go 1.25, which leaves a new element as it is where it reads null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.upstream.apiserver.catalog.schemas import TYPE

_PLAIN: Mapping[str, Any] = {"object": {}, "array": [], "string": "", "integer": 0, "number": 0, "boolean": False}


def put(value: Any, node: Mapping[str, Any]) -> None:
    """Put zero values where null stands in a list or map, in place; types that decode themselves are left alone."""
    if _lacks(value):
        _put(value, node)


def _lacks(value: Any) -> bool:
    """Whether null is anywhere in a map or list."""
    for element in value.values() if type(value) is dict else value:
        if element is None or ((type(element) is dict or type(element) is list) and _lacks(element)):
            return True
    return False


def _put(value: Any, node: Mapping[str, Any]) -> None:
    if type(value) is dict:
        fields, rest = node.get("properties") or {}, node.get("additionalProperties")
        for key, child in value.items():
            below = fields.get(key, rest)
            if not isinstance(below, Mapping):
                continue
            if child is None and key not in fields and (zero := _zero(below)) is not None:
                value[key] = type(zero)()
            else:
                _put(child, below)
    elif type(value) is list and isinstance(items := node.get("items"), Mapping):
        zero = _zero(items)
        for index, child in enumerate(value):
            if child is None and zero is not None:
                value[index] = type(zero)()
            else:
                _put(child, items)


def _zero(node: Mapping[str, Any]) -> Any:
    """Return the value that null decodes to, None for types with a spelling of their own."""
    kind = node.get("type")
    named = node.get(TYPE)
    if not isinstance(kind, str) or (named and kind != "object") or (kind == "object" and "properties" not in node):
        return None
    return _PLAIN.get(kind)
