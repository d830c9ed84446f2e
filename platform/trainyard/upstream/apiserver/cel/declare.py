"""Types from schemas: what an expression may read of an object, field by field.

Source: kubernetes/apiserver v0.35.4 pkg/cel/common/schemas.go, pkg/cel/types.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trainyard.upstream.apiserver.cel import types
from trainyard.upstream.apiserver.cel.convert import Convert, Schema, converter, type_of
from trainyard.upstream.apiserver.cel.names import RESERVED, escape
from trainyard.upstream.apiserver.cel.types import STRING, Field, ObjectType, Type

_TEXT: Schema = {"type": "string"}
NAME_ONLY: Schema = {"type": "object", "properties": {"name": _TEXT, "generateName": _TEXT}}
"""What rules of a custom resource may read of metadata."""

_FORMATS = {
    "byte": types.BYTES,
    "date": types.TIMESTAMP,
    "date-time": types.TIMESTAMP,
    "duration": types.DURATION,
}
_SCALARS = {"boolean": types.BOOL, "integer": types.INT, "number": types.DOUBLE}


class Declarations:
    """The types and converters of one schema, each node's found when first asked for.

    `metadata` is the schema that roots and embedded resources get for theirs; None leaves what the schema has.
    """

    def __init__(self, *, metadata: Schema | None = NAME_ONLY, nullable_fields: bool = True) -> None:
        self.metadata = metadata
        self.nullable_fields = nullable_fields
        self.types: dict[tuple[int, bool], Type | None] = {}
        self.converters: dict[int, Convert | None] = {}

    def convert(self, schema: Schema) -> Convert | None:
        """Return the function that converts values of a schema, None where they are as CEL sees them."""
        return converter(schema, self.converters)

    def type(self, schema: Schema, *, root: bool = False) -> Type | None:
        """Return the type of a schema's values; None where the schema says nothing, so that no rule may read them."""
        key = (id(schema), root)
        if key not in self.types:
            self.types[key] = self._type(schema, root=root)
        return self.types[key]

    def _type(self, schema: Schema, *, root: bool) -> Type | None:
        if schema.get("x-kubernetes-int-or-string") is True:
            return types.DYN
        kind = type_of(schema)
        if kind == "array":
            items = schema.get("items")
            element = self._nested(items) if isinstance(items, Mapping) else None
            return None if element is None else Type("list", "list", (element,), special=self._special(schema))
        if kind == "object":
            additional = schema.get("additionalProperties")
            if isinstance(additional, Mapping) and not schema.get("properties"):
                value = self._nested(additional)
                return None if value is None else Type("map", "map", (STRING, value), special=self._special(schema))
            return self._object(schema, root=root or schema.get("x-kubernetes-embedded-resource") is True)
        if kind == "string":
            return _FORMATS.get(schema.get("format", ""), STRING)
        return _SCALARS.get(kind)

    def _nested(self, schema: Schema) -> Type | None:
        return self.type(schema, root=schema.get("x-kubernetes-embedded-resource") is True)

    def _special(self, schema: Schema) -> Callable[[], bool]:
        return lambda: self.convert(schema) is not None

    def _object(self, schema: Schema, *, root: bool) -> ObjectType:
        properties: dict[str, Any] = dict(schema.get("properties") or {})
        if root and self.metadata is not None:
            properties |= {"apiVersion": _TEXT, "kind": _TEXT, "metadata": self.metadata}
        escaped = {name: key for key in properties if (name := escape(key)) is not None}

        def find(name: str) -> Field | None:
            key = escaped.get(name)
            if key is None and name in RESERVED and name in properties:
                key = name
            found = None if key is None else self._nested(properties[key])
            return None if key is None or found is None else Field(found, key)

        return ObjectType(
            "object",
            "object",
            find=find,
            names=lambda: [name for name in escaped if find(name)],
            nullable_fields=self.nullable_fields,
            special=self._special(schema),
        )
