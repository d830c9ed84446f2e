"""What an object becomes in the typed form that webhooks decode it into, and what cannot be decoded at all.

Source: encoding/json of Go 1.25; k8s.io/apimachinery v0.35.4 pkg/api/resource/quantity.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.api.core.amounts import canonical
from trainyard.api.core.shapes import Object
from trainyard.api.problems import Path, Problem, Rule
from trainyard.api.schemas import Schema

RULE = Rule("webhook/decode", "encoding/json of Go 1.25, by which webhooks read objects")

_INT32 = 2**31


def check(value: Any, schema: Schema, path: Path = ()) -> Iterator[Problem]:
    """Yield numbers that the schema takes and that do not fit into the 32 bits of their Go type."""
    if isinstance(value, dict):
        fields, rest = schema.get("properties") or {}, schema.get("additionalProperties")
        for key, part in value.items():
            node = fields.get(key) or rest
            if isinstance(node, dict) and isinstance(part, (dict, list, int, float)):
                yield from check(part, node, (*path, key))
    elif isinstance(value, list):
        node = schema.get("items")
        if isinstance(node, dict):
            for index, part in enumerate(value):
                yield from check(part, node, (*path, index))
    elif type(value) in (int, float) and not -_INT32 <= value < _INT32 and _is_narrow(schema):
        yield RULE.invalid(path, value, "must fit into int32")


def _is_narrow(schema: Schema) -> bool:
    """Whether a number has 32 bits: where it says so, and in int-or-string, which a pattern makes a quantity."""
    either = schema.get("x-kubernetes-int-or-string") is True and "pattern" not in schema
    return either or schema.get("format") == "int32"


def quantity(value: Any) -> Any:
    """A quantity as Go would write it again: null is zero; what is none is left as it is."""
    if value is None:
        return "0"
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return value
    written = str(value).strip()
    return canonical(written) or value


def is_zero(value: Object, key: str, *, of: type) -> bool:
    """Whether a field of that type decodes to nothing: it is absent, null, zero or empty text."""
    return value.get(key) is None or (type(value[key]) is of and not value[key])
