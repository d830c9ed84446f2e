"""Values of a schema as CEL sees them: times parsed, numbers as doubles, lists that are sets or maps.

Most of an object needs no conversion, and is handed over as it is.
Source: kubernetes/apiserver v0.35.4 pkg/cel/common/valuesunstructured.go; kube-openapi pkg/validation/strfmt.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from trainyard.upstream.apiserver.cel.library.times import parse_duration, parse_timestamp
from trainyard.upstream.apiserver.cel.names import escape
from trainyard.upstream.apiserver.cel.values import NANOSECONDS, Duration, MapList, SetList

Schema: TypeAlias = Mapping[str, Any]
Convert: TypeAlias = Callable[[Any], Any]

_WORDED = re.compile(r"([0-9]+)\s*([A-Za-zµ]+)", re.ASCII)
UNITS: tuple[tuple[int, tuple[str, ...], str], ...] = (
    (1, ("ns",), "nano"),
    (1_000, ("us", "µs"), "micro"),
    (1_000_000, ("ms",), "milli"),
    (NANOSECONDS, ("s",), "sec"),
    (60 * NANOSECONDS, ("m",), "min"),
    (3600 * NANOSECONDS, ("h", "hr"), "hour"),
    (86400 * NANOSECONDS, ("d",), "day"),
    (604800 * NANOSECONDS, ("w", "wk"), "week"),
)
"""Nanoseconds, exact names and the beginning of longer names of each unit of a worded duration (`2 days`)."""


def type_of(schema: Schema) -> str:
    """Return a schema's JSON type, without the null that a nullable one adds; empty where it has none."""
    given = schema.get("type", "")
    if isinstance(given, list):
        given = next((name for name in given if name != "null"), "")
    return given if isinstance(given, str) else ""


def converter(schema: Schema, known: dict[int, Convert | None]) -> Convert | None:
    """Return the function that converts values of a schema, None where nothing in them needs it.

    `known` keeps what was found for each schema node by identity, so a schema is read once.
    """
    key = id(schema)
    if key not in known:
        known[key] = None
        known[key] = _build(schema, known)
    return known[key]


def _build(schema: Schema, known: dict[int, Convert | None]) -> Convert | None:
    if schema.get("x-kubernetes-int-or-string") is True:
        return None
    kind = type_of(schema)
    if kind == "object":
        return _object(schema, known)
    if kind == "array":
        return _list(schema, known)
    if kind == "number":
        return _double
    return _FORMATS.get(schema.get("format", "")) if kind == "string" else None


def _object(schema: Schema, known: dict[int, Convert | None]) -> Convert | None:
    properties = schema.get("properties") or {}
    found = (
        (name, converter(property_, known)) for name, property_ in properties.items() if isinstance(property_, Mapping)
    )
    fields = {name: convert for name, convert in found if convert is not None}
    additional = schema.get("additionalProperties")
    if fields:

        def of_fields(value: Any) -> Any:
            if not isinstance(value, dict):
                return value
            changed = {name: convert(value[name]) for name, convert in fields.items() if value.get(name) is not None}
            return {**value, **changed}

        return of_fields
    convert = converter(additional, known) if isinstance(additional, Mapping) else None
    if convert is None:
        return None

    def of_values(value: Any) -> Any:
        return {key: convert(content) for key, content in value.items()} if isinstance(value, dict) else value

    return of_values


def _list(schema: Schema, known: dict[int, Convert | None]) -> Convert | None:
    items = schema.get("items")
    convert_element = converter(items, known) if isinstance(items, Mapping) else None
    kind = schema.get("x-kubernetes-list-type")
    build: Callable[[list[Any]], list[Any]] = list
    if kind == "set":
        build = SetList
    elif kind == "map":
        keys = tuple(escape(key) or key for key in schema.get("x-kubernetes-list-map-keys") or ())
        build = partial(MapList, keys=keys)
    elif convert_element is None:
        return None

    def of_list(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return build(value if convert_element is None else [convert_element(element) for element in value])

    return of_list


def _double(value: Any) -> Any:
    return float(value) if type(value) is int else value


def _timestamp(value: Any) -> Any:
    return (parse_timestamp(value) if isinstance(value, str) else None) or value


def _day(value: Any) -> Any:
    return (parse_timestamp(f"{value}T00:00:00Z") if isinstance(value, str) and len(value) == 10 else None) or value


def _duration(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    found = parse_duration(value)
    return value if found is None and (found := worded_duration(value)) is None else found


def worded_duration(text: str) -> Duration | None:
    """Read a duration in words, such as `1 hour 30 min`; None where no unit is in it."""
    total, found = 0, False
    for count, word in _WORDED.findall(text):
        unit = word.lower()
        for nanoseconds, names, beginning in UNITS:
            if unit in names or unit.startswith(beginning):
                total, found = total + int(count) * nanoseconds, True
    return Duration(total) if found else None


def _bytes(value: Any) -> Any:
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else value
    except (binascii.Error, ValueError):
        return value


_FORMATS: dict[str, Convert] = {"date-time": _timestamp, "date": _day, "duration": _duration, "byte": _bytes}
