"""Named formats: `format.dns1123Label().validate(name)`.

Source: kubernetes/apiserver v0.35.4 pkg/cel/library/format.go; kube-openapi pkg/validation/strfmt.
"""

from __future__ import annotations

from collections.abc import Callable

from trainyard.upstream.apiserver.cel.errors import no_such_overload
from trainyard.upstream.apiserver.cel.functions import Functions
from trainyard.upstream.apiserver.cel.values import NONE, Opaque, Optional
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.schema.formats import FORMATS

FUNCTIONS = Functions(since=31)

NAMED_FORMAT = "kubernetes.NamedFormat"


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
    "uri": unless(FORMATS["uri"], "invalid URI for request"),
    "uuid": unless(FORMATS["uuid"], "does not match the UUID format"),
    "byte": unless(FORMATS["byte"], "invalid base64"),
    "date": unless(FORMATS["date"], "invalid date"),
    "datetime": unless(FORMATS["datetime"], "invalid datetime"),
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
def format_named(name: str) -> Optional:
    """Return the format of a name, if there is one."""
    return Optional(Opaque(NAMED_FORMAT, name)) if name in CHECKS else NONE


@FUNCTIONS.define(f"{NAMED_FORMAT}.validate(string) -> optional<list<string>>")
def validate(value: Opaque, text: str) -> Optional:
    """Return the problem with a text in this format, or none."""
    if not isinstance(value.content, str):
        raise no_such_overload()
    message = CHECKS[value.content](text)
    return NONE if message is None else Optional([message])
