"""Go types that decode themselves: quantities, times, int-or-string, bytes, integers of one width, raw JSON.

Source: k8s.io/apimachinery v0.35.4 (pkg/api/resource, pkg/apis/meta/v1, pkg/util/intstr) and Go's encoding/json.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import Any

from trainyard.base.quantities import WRONG, WRONG_NUMBER, WRONG_SUFFIX, Quantity
from trainyard.upstream.apiserver.problems import spell_value
from trainyard.upstream.apiserver.schema.walk import UNKNOWN_FIELD, Check, Fault, Faults, anything, json_name

SOURCE = "k8s.io/apimachinery v0.35.4, UnmarshalJSON"
SIZES = {"int32": 2**31, "int64": 2**63}
WHOLE = re.compile(r"-?\d{1,18}", re.ASCII)
BASE64 = re.compile("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
TIME = r"(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)%s(?:Z|[+-](\d\d):(\d\d))"
ANY_FRACTION = re.compile(TIME % r"(?:[.,]\d+)?", re.ASCII)
MICROSECONDS = re.compile(TIME % r"\.\d{6}", re.ASCII)
LIMITS = (23, 59, 59, 24, 59)
"""Largest hour, minute, second, and hour and minute of a zone."""


AMOUNT = "must be a quantity, such as 500m, 2 or 64Gi"
"""What Kubernetes says by a regular expression."""
KINDS = {
    "array": "a list",
    "boolean": "the boolean",
    "integer": "the number",
    "null": "null",
    "number": "the number",
    "object": "a map",
    "string": "the text",
}
"""Types of JSON in words."""
WANTED = {
    "[]byte": "text in base64",
    "bool": "true or false",
    "float64": "a number",
    "int32": "a whole number of 32 bits",
    "int64": "a whole number of 64 bits",
    "list": "a list",
    "object": "a map",
    "string": "text",
}
"""Types of Go in words."""


def fault(rule: str, message: str) -> list[Fault]:
    """Report a value that a type does not decode."""
    return [Fault(rule, message, SOURCE)]


def mismatch(value: Any, go_type: str, *, secret: bool = False) -> str:
    """Say which type a Go field needs, and which value it has; a `secret` value is not shown."""
    kind = "number" if type(value) is int and go_type in SIZES else json_name(value)
    named = KINDS[kind]
    if not secret and kind in ("boolean", "integer", "number", "string"):
        named = f"{named} {spell_value(value, limit=40)}"
    hint = "; quote it" if go_type == "string" and kind in ("boolean", "integer", "number") else ""
    if go_type in SIZES and kind == "string" and not secret and WHOLE.fullmatch(value):
        hint = "; remove the quotes"
    return f"must be {WANTED[go_type]}, but is {named}{hint}"


def integer_check(width: str) -> Check:
    """Return the check of a Go integer; an integral float is one, for YAML writes it so."""
    limit = SIZES.get(width, SIZES["int64"])

    def check(value: Any) -> Faults:
        if type(value) is int and -limit <= value < limit:
            return None
        if type(value) is float and value.is_integer() and -limit <= value < limit:
            return None
        return fault("schema/type", mismatch(value, width))

    return check


def quantity(value: Any) -> Faults:
    """Check text or a number that must be a quantity; a text that is one is remembered."""
    if type(value) is str and _is_quantity(value):
        return None
    try:
        Quantity.parse(value)
    except ValueError as error:
        why = AMOUNT if str(error) in (WRONG, WRONG_NUMBER, WRONG_SUFFIX) else str(error)
        return fault("schema/quantity", f"invalid value: {spell_value(value)}: {why}")
    return None


@lru_cache(maxsize=4096)
def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except ValueError:
        return False
    return True


def int_or_string(value: Any) -> Faults:
    """Check text, or an integer of 32 bits."""
    return None if type(value) is str else integer_check("int32")(value)


def is_base64(value: Any) -> Faults:
    """Check bytes in base64 with padding; line ends do not count."""
    if BASE64.fullmatch(value.replace("\n", "").replace("\r", "")):
        return None
    return fault(
        "schema/base64", f"invalid value: its {len(value)} characters are not base64; encode them, or use stringData"
    )


def time(pattern: re.Pattern[str], example: str) -> Check:
    """Return the check of a time in RFC 3339."""

    def check(value: Any) -> Faults:
        if type(value) is not str:
            return fault(
                "schema/type",
                f"must be a time, but is {KINDS[json_name(value)]} {spell_value(value, limit=40)}",
            )
        match = pattern.fullmatch(value)
        if match is not None and is_calendar(*match.groups()):
            return None
        return fault("schema/time", f"invalid value: {spell_value(value)}: must be a time such as {example!r}")

    return check


def is_calendar(year: str, month: str, day: str, *clock: str | None) -> bool:
    """Whether there is such a day, and such a time and zone."""
    try:
        date(int(year) or 4, int(month), int(day))
    except ValueError:
        return False
    return all(part is None or int(part) <= limit for part, limit in zip(clock, LIMITS, strict=True))


def schema_or_bool(value: Any) -> Faults:
    """Check what is a JSON schema or a boolean; the server decodes what is in it without looking for unknown fields."""
    return (
        None
        if type(value) in (bool, dict)
        else fault(
            "schema/type", f"must be a boolean or a JSON schema, but is {KINDS[json_name(value)]} {spell_value(value)}"
        )
    )


def empty_struct(value: Any) -> Faults:
    """Check an object of a type without fields."""
    if type(value) is not dict:
        return fault(
            "schema/type",
            f"must be a map, but is {KINDS[json_name(value)]} {spell_value(value, limit=40)}",
        )
    return [Fault(UNKNOWN_FIELD, f"unknown field {key!r}", SOURCE, [key]) for key in value] or None


DECODED: Mapping[str, Check] = {
    "resource.Quantity": quantity,
    "intstr.IntOrString": int_or_string,
    "meta.v1.Time": time(ANY_FRACTION, "2006-01-02T15:04:05Z"),
    "meta.v1.MicroTime": time(MICROSECONDS, "2006-01-02T15:04:05.000000Z"),
    "meta.v1.FieldsV1": anything,
    "runtime.RawExtension": anything,
    "apiextensions.v1.CustomResourceSubresourceStatus": empty_struct,
    "apiextensions.v1.JSON": anything,
    "apiextensions.v1.JSONSchemaPropsOrArray": anything,
    "apiextensions.v1.JSONSchemaPropsOrBool": schema_or_bool,
    "apiextensions.v1.JSONSchemaPropsOrStringArray": anything,
}
