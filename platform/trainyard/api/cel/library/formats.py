"""Named formats: `format.dns1123Label().validate(name)`.

Source: kubernetes/apiserver v0.35.4 pkg/cel/library/format.go; kube-openapi pkg/validation/strfmt.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import re
from collections.abc import Callable

from trainyard.api import names
from trainyard.api.cel.errors import no_such_overload
from trainyard.api.cel.functions import Functions
from trainyard.api.cel.library.times import parse_timestamp
from trainyard.api.cel.library.urls import is_url
from trainyard.api.cel.values import NONE, Opaque, Optional

FUNCTIONS = Functions(since=31)

NAMED_FORMAT = "kubernetes.NamedFormat"
_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE | re.ASCII)


def is_byte(text: str) -> bool:
    """Whether text is base64 with its padding."""
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def is_date(text: str) -> bool:
    """Whether text is a day of the calendar: 2026-02-28."""
    try:
        return len(text) == 10 and bool(dt.date.fromisoformat(text))
    except ValueError:
        return False


def unless(right: Callable[[str], bool], message: str) -> Callable[[str], str | None]:
    """Turn a test into what names the fault."""
    return lambda text: None if right(text) else message


CHECKS: dict[str, Callable[[str], str | None]] = {
    "dns1123Label": names.dns_label,
    "dns1123LabelPrefix": names.prefix_of(names.dns_label),
    "dns1123Subdomain": names.dns_subdomain,
    "dns1123SubdomainPrefix": names.prefix_of(names.dns_subdomain),
    "dns1035Label": names.dns_label_1035,
    "dns1035LabelPrefix": names.prefix_of(names.dns_label_1035),
    "qualifiedName": names.label_key,
    "labelValue": names.label_value,
    "uri": unless(is_url, "invalid URI for request"),
    "uuid": unless(lambda text: _UUID.fullmatch(text) is not None, "does not match the UUID format"),
    "byte": unless(is_byte, "invalid base64"),
    "date": unless(is_date, "invalid date"),
    "datetime": unless(lambda text: parse_timestamp(text.upper()) is not None, "invalid datetime"),
}
"""What is wrong with text of each format, or None."""


def constant(name: str) -> None:
    """Define the function that gives one format."""

    @FUNCTIONS.define(f"format.{name}() -> {NAMED_FORMAT}")
    def get() -> Opaque:
        return Opaque(NAMED_FORMAT, name)


for _name in CHECKS:
    constant(_name)


@FUNCTIONS.define(f"format.named(string) -> optional<{NAMED_FORMAT}>")
def named(name: str) -> Optional:
    """Return the format of a name, if there is one."""
    return Optional(Opaque(NAMED_FORMAT, name)) if name in CHECKS else NONE


@FUNCTIONS.define(f"{NAMED_FORMAT}.validate(string) -> optional<list<string>>")
def validate(value: Opaque, text: str) -> Optional:
    """Return what is wrong with text, or none."""
    if not isinstance(value.content, str):
        raise no_such_overload()
    message = CHECKS[value.content](text)
    return NONE if message is None else Optional([message])
