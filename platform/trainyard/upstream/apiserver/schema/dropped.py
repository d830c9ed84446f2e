"""Compiles checks of fields that a create drops: the status of a kind with that subresource, fields of a loose map.

Server-side apply reads them all the same: it refuses unknown fields, and types that its own schema tells apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.upstream.apiserver.catalog.schemas import TYPE
from trainyard.upstream.apiserver.schema import lists, typed
from trainyard.upstream.apiserver.schema.decoded import KINDS
from trainyard.upstream.apiserver.schema.walk import (
    UNKNOWN_FIELD,
    Check,
    Fault,
    Faults,
    anything,
    arrays,
    is_flag,
    is_number,
    is_text,
    json_name,
    objects,
    scalars,
)

PRUNING = "k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/pruning/algorithm.go"


def nothing_nested(value: Any) -> Faults:
    """Refuse every field below `additionalProperties: true`: the server keeps the value, and prunes what is in it."""
    if type(value) is dict:
        return [Fault(UNKNOWN_FIELD, f"unknown field {key!r}; create refuses it", PRUNING, [key]) for key in value]
    return arrays(nothing_nested, anything, ())(value) if type(value) is list else None


class Shape:
    """Compiles what is asked of a part that create drops: known fields, and the types server-side apply tells apart."""

    def node(self, node: Mapping[str, Any], _name: str = "") -> Check:
        """Compile one node."""
        if TYPE in node:
            return typed.Compiler().node(node, "")
        kind = node.get("type")
        after = lists.list_checks(node, applied=True)
        if kind == "object":
            properties, additional = node.get("properties") or {}, node.get("additionalProperties")
            fallback = self.node(additional) if isinstance(additional, Mapping) else anything
            closed = additional is None or additional is False
            refuse = closed and not node.get("x-kubernetes-preserve-unknown-fields")
            return objects(
                properties, None if refuse else fallback, self.node, wrong_type("map"), anything, (), PRUNING
            )
        if kind == "array":
            items = node.get("items")
            inner = self.node(items) if isinstance(items, Mapping) else anything
            return arrays(lambda value: None if value is None else inner(value), wrong_type("list"), after)
        if kind == "string" and node.get("format", "byte") == "byte":
            return scalars(is_text, wrong_type("string"), ())
        if kind in ("integer", "number"):
            return scalars(is_number, wrong_type("number"), ())
        if kind == "boolean":
            return scalars(is_flag, wrong_type("boolean"), ())
        if kind == "string":
            return scalars(lambda value: type(value) not in (dict, list), wrong_type("scalar"), ())
        return anything if node.get("x-kubernetes-preserve-unknown-fields") else nothing_nested


def wrong_type(kind: str) -> Check:
    """Return the report of a wrong type, in the words of server-side apply."""

    def wrong(value: Any) -> Faults:
        message = f"must be a {kind}, but is {KINDS[json_name(value)]}; server-side apply refuses it"
        return [Fault("schema/type", message, lists.APPLIED)]

    return wrong
