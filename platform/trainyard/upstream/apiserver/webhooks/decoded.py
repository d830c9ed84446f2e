"""Decoding of custom resources into the Go types of webhooks: the fields that cannot be decoded, and what null becomes.

Source: encoding/json of Go 1.25; k8s.io/apimachinery v0.35.4 pkg/api/resource/quantity.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from trainyard.upstream.apiserver.catalog.schemas import Schema
from trainyard.upstream.apiserver.catalog.served import Kind
from trainyard.upstream.apiserver.core.amounts import canonical
from trainyard.upstream.apiserver.core.shapes import Object
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.schema.decoded import DECODED, int_or_string
from trainyard.upstream.apiserver.schema.decoded import quantity as quantity_of

RULE = Rule(
    "webhook/decode",
    "encoding/json of Go 1.25, by which webhooks read objects",
    title="Fields have types that the webhook's Go program can read.",
    fix="write the value in the type that the message names",
)

_INT32 = 2**31
_BELOW = ("items", "additionalProperties")

Found = tuple[list[str | int], float]
"""A number, and the path to it from within, the last part first."""
Find = Callable[[Any], Sequence[Found]]


def check(value: Any, kind: Kind) -> Iterator[Problem]:
    """Yield numbers that the schema takes and that do not fit into the 32 bits of their Go type."""
    find = narrow(kind)
    for path, number in () if find is None else find(value):
        yield RULE.invalid(tuple(reversed(path)), number, "must fit into int32")


@lru_cache(maxsize=1024)
def narrow(kind: Kind) -> Find | None:
    """Compile what finds the numbers of a kind that are too large; what holds none by its schema is not looked into."""
    return _narrow(kind.schema)


def _narrow(node: Schema) -> Find | None:
    if _is_narrow(node):
        return _too_large
    fields = {name: _narrow(property_) for name, property_ in (node.get("properties") or {}).items()}
    items, rest = (_narrow(below) if isinstance(below := node.get(key), dict) else None for key in _BELOW)
    if items is None and rest is None and not any(fields.values()):
        return None

    def find(value: Any) -> Sequence[Found]:
        found: list[Found] = []
        if isinstance(value, dict):
            for key, part in value.items():
                if (below := fields.get(key, rest)) is not None and (inside := below(part)):
                    found += [([*path, key], number) for path, number in inside]
        elif isinstance(value, list) and items is not None:
            for index, part in enumerate(value):
                if inside := items(part):
                    found += [([*path, index], number) for path, number in inside]
        return found

    return find


def check_dropped(value: Object, node: Schema) -> Iterator[Problem]:
    """Yield the problems of fields that a webhook cannot decode and creation drops later: creation time and status."""
    metadata, time = value.get("metadata"), DECODED["meta.v1.Time"]
    created = metadata.get("creationTimestamp") if isinstance(metadata, dict) else None
    for fault in (time(created) if created is not None else None) or ():
        yield Problem(("metadata", "creationTimestamp"), RULE.id, fault.message, RULE.source)
    yield from _check_status(value.get("status"), (node.get("properties") or {}).get("status") or {})


def _check_status(status: Any, node: Schema) -> Iterator[Problem]:
    for path, part, below in _leaves(status, node, ("status",)):
        if below.get("x-kubernetes-int-or-string"):
            faults = quantity_of(part) if "pattern" in below else int_or_string(part)
        elif below.get("format") == "date-time":
            faults = DECODED["meta.v1.Time"](part)
        else:
            continue
        for fault in faults or ():
            yield Problem(path, RULE.id, fault.message, RULE.source)


def _leaves(value: Any, node: Schema, path: Path) -> Iterator[tuple[Path, Any, Schema]]:
    fields = node.get("properties") or {}
    if node.get("x-kubernetes-int-or-string") or not isinstance(value, (dict, list)):
        if value is not None:
            yield path, value, node
    elif isinstance(value, dict):
        for key, part in value.items():
            below = fields.get(key, node.get("additionalProperties"))
            yield from _leaves(part, below if isinstance(below, dict) else {}, (*path, key))
    else:
        for index, part in enumerate(value):
            yield from _leaves(part, node.get("items") or {}, (*path, index))


def _too_large(value: Any) -> Sequence[Found]:
    return [([], value)] if type(value) in (int, float) and not -_INT32 <= value < _INT32 else ()


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
