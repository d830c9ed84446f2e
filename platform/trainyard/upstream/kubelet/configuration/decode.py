"""A KubeletConfiguration's fields as the kubelet's decoder reads them: types, durations, quantities, unknown names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.quantities import Quantity, number_text, parse_duration
from trainyard.upstream.kubelet.configuration.fields import (
    DURATION,
    INT64,
    LOG_DURATION,
    QUANTITY,
    QUANTITY_VALUE,
    TIME,
    VMODULE,
    Type,
)
from trainyard.upstream.kubelet.releases import is_since

API_VERSION, KIND = "kubelet.config.k8s.io/v1beta1", "KubeletConfiguration"

RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1), "uint32": (0, 2**32 - 1)}
WHOLE = {**RANGES, "v1.VerbosityLevel": RANGES["uint32"]}


def problem(value: Mapping[str, Any], fields: Type, minor: str) -> str | None:
    """Return why a kubelet with these fields cannot decode a configuration, in its words, None where it can.

    Fields are looked at in the order of their names, as they come from YAML (sigs.k8s.io/json; the API version first,
    apimachinery v0.35 pkg/runtime/serializer/json/json.go).
    """
    version, kind = value.get("apiVersion", API_VERSION), value.get("kind", KIND)
    if (version, kind) != (API_VERSION, KIND):
        scheme = f'"pkg/runtime/scheme.go:{111 if is_since(minor, "1.35") else 110}"'
        return f'no kind "{kind}" is registered for version "{version}" in scheme {scheme}'
    return next(_problems(value, fields, (), fields.struct), None)


def unknown_fields(value: Any, kind: Type, path: str = "") -> Iterator[str]:
    """Yield the paths of fields that the kubelet does not know and ignores."""
    if isinstance(value, Mapping) and kind.fields:
        for name, inner in sorted(value.items()):
            if name not in kind.fields:
                yield f"{path}{name}"
            else:
                yield from unknown_fields(inner, kind.fields[name], f"{path}{name}.")
    elif isinstance(value, list) and kind.of:
        for index, inner in enumerate(value):
            yield from unknown_fields(inner, kind.of, f"{path.removesuffix('.')}[{index}].")


def decode_configuration(value: Any, kind: Type) -> Any:
    """Return a configuration that decodes: durations in nanoseconds, quantities read, and no field that is null."""
    if kind.fields:
        known = {name: inner for name, inner in value.items() if name in kind.fields and inner is not None}
        return {name: decode_configuration(inner, kind.fields[name]) for name, inner in known.items()}
    if kind is DURATION or (kind is LOG_DURATION and isinstance(value, str)):
        return parse_duration(value)
    if kind is QUANTITY:
        return Quantity.parse(value)
    if kind.of is None:
        return value
    if isinstance(value, list):
        return [_element(inner, kind.of) for inner in value]
    return {name: _element(inner, kind.of) for name, inner in value.items()}


def _element(value: Any, kind: Type) -> Any:
    if value is not None:
        return decode_configuration(value, kind)
    return {} if kind.fields else {"bool": False, "string": ""}.get(kind.go, Quantity.parse("0"))


def _problems(value: Any, kind: Type, trail: tuple[str, ...], struct: str) -> Iterator[str]:
    """Yield the decoder's complaints about one value: `trail` are the fields that lead to it, inside of `struct`."""
    if value is None:
        return
    if kind.fields or kind.of:
        yield from _inside(value, kind, trail, struct)
    elif kind is LOG_DURATION and not isinstance(value, str):
        if (said := _mismatch(value, INT64)) is not None:
            shown = json.dumps(value, separators=(",", ":"))
            yield f'invalid duration "{shown}": json: cannot unmarshal {said} into Go value of type time.Duration'
    elif (said := _mismatch(value, kind)) is not None:
        go = "string" if kind in (DURATION, TIME) else kind.go
        yield f"json: cannot unmarshal {said} into Go struct field {struct}.{'.'.join(trail)} of type {go}"
    else:
        yield from _unreadable(value, kind)


def _inside(value: Any, kind: Type, trail: tuple[str, ...], struct: str) -> Iterator[str]:
    listed = kind.go.startswith("[]") or kind is VMODULE
    if isinstance(value, list) and listed and kind.of:
        for inner in value:
            yield from _problems(inner, kind.of, trail, struct)
    elif not isinstance(value, Mapping) or listed:
        yield f"json: cannot unmarshal {_json(value)} into Go struct field {struct}.{'.'.join(trail)} of type {kind.go}"
    else:
        for name, inner in sorted(value.items()):
            if kind.of:
                yield from _problems(inner, kind.of, trail, struct)
            elif name in kind.fields:
                yield from _problems(inner, kind.fields[name], (*trail, name), kind.struct)


def _mismatch(value: Any, kind: Type) -> str | None:
    """Return how the decoder calls a value that is not of the type, None where it is."""
    found = _json(value)
    if kind in (QUANTITY, QUANTITY_VALUE):
        return None
    if kind.go in WHOLE:
        low, high = WHOLE[kind.go]
        if found != "number":
            return found
        whole = isinstance(value, int) or value == int(value)
        return None if whole and low <= value <= high else f"number {number_text(value)}"
    return None if found == {"bool": "bool", "float64": "number"}.get(kind.go, "string") else found


def _unreadable(value: Any, kind: Type) -> Iterator[str]:
    """Yield the parse errors of a value whose type reads itself."""
    try:
        if kind in (QUANTITY, QUANTITY_VALUE):
            Quantity.parse(value)
        elif kind in (DURATION, LOG_DURATION):
            parse_duration(value)
    except ValueError as error:
        yield str(error)


def _json(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"
