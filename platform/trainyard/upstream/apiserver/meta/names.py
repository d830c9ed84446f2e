"""Names, label keys and values, ports and paths, as the API server spells its rules.

Every function takes any value and answers with what it should be, or None where it is right or is no text at all
(a wrong type is another layer's finding). Lengths are bytes.

Source: k8s.io/apimachinery v0.35.4 pkg/util/validation/validation.go and pkg/api/validate/content.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

Format = Callable[[Any], str | None]

LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = rf"{LABEL}(?:\.{LABEL})*"
KEY = "(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
UNDERSCORED = "_?[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?"

_label = re.compile(LABEL).fullmatch
_subdomain = re.compile(SUBDOMAIN).fullmatch
_underscored = re.compile(rf"{UNDERSCORED}(?:\.{UNDERSCORED})*").fullmatch
_wildcard = re.compile(rf"\*\.{SUBDOMAIN}").fullmatch
_label_1035 = re.compile("[a-z](?:[-a-z0-9]*[a-z0-9])?").fullmatch
_key = re.compile(KEY).fullmatch
_identifier = re.compile("[A-Za-z_][A-Za-z0-9_]*").fullmatch
_port_name = re.compile("[-a-z0-9]+").fullmatch
_config_key = re.compile("[-._a-zA-Z0-9]+").fullmatch
_header = re.compile("[-A-Za-z0-9]+").fullmatch
_percent = re.compile("[0-9]+%").fullmatch
_http_path = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+").fullmatch
_letter = re.compile("[a-z]").search

NOT_LABEL = "must be a DNS label: lower case letters, digits or '-', at most 63 characters"
NOT_SUBDOMAIN = "must be a DNS name: lower case letters, digits, '-' or '.', at most 253 characters"
NOT_1035 = "must be a DNS label that starts with a letter: lower case letters, digits or '-', at most 63 characters"
NOT_KEY = "must look like name or example.com/name, with at most 63 letters, digits, '-', '_' or '.'"
NOT_VALUE = "must be at most 63 letters, digits, '-', '_' or '.', with a letter or digit at both ends"


def size(text: str) -> int:
    """Length in bytes, as Go counts it."""
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def dns_label(value: Any) -> str | None:
    """RFC 1123 label: namespaces, containers, volumes."""
    if type(value) is not str or (len(value) <= 63 and _label(value)):
        return None
    return NOT_LABEL


def dns_subdomain(value: Any) -> str | None:
    """RFC 1123 subdomain: most object names."""
    if type(value) is not str or (len(value) <= 253 and _subdomain(value)):
        return None
    return NOT_SUBDOMAIN


def dns_label_1035(value: Any) -> str | None:
    """RFC 1035 label: services, before Kubernetes 1.36."""
    if type(value) is not str or (len(value) <= 63 and _label_1035(value)):
        return None
    return NOT_1035


def dns_subdomain_underscored(value: Any) -> str | None:
    """A subdomain whose labels may hold underscores: DNS search paths."""
    if type(value) is not str or (len(value) <= 253 and _underscored(value)):
        return None
    return "must be a DNS name: lower case letters, digits, '-', '_' or '.', at most 253 characters"


def wildcard_subdomain(value: Any) -> str | None:
    """`*.` and a subdomain: hosts of an Ingress."""
    if type(value) is not str or (len(value) <= 253 and _wildcard(value)):
        return None
    return "must be '*.' and a DNS name, at most 253 characters"


@lru_cache(maxsize=4096)
def _is_key(value: str) -> bool:
    prefix, slash, name = value.rpartition("/")
    if slash and (not prefix or len(prefix) > 253 or not _subdomain(prefix)):
        return False
    return len(name) <= 63 and _key(name) is not None


def label_key(value: Any) -> str | None:
    """A qualified name, `[prefix/]name`: label keys, resources, finalizers."""
    if type(value) is not str or _is_key(value):
        return None
    return NOT_KEY


def label_value(value: Any) -> str | None:
    """A label's value: empty, or a qualified name's name part."""
    if type(value) is not str or not value or (len(value) <= 63 and _key(value)):
        return None
    return NOT_VALUE


def domain_prefixed_path(value: Any) -> str | None:
    """`domain/path`: who manages a Job."""
    if type(value) is not str:
        return None
    host, _, path = value.partition("/")
    if not host or not path:
        return "must be a domain-prefixed path, such as 'acme.io/foo'"
    return dns_subdomain(host) or (None if _http_path(path) else "the path holds a character that URLs do not allow")


def fully_qualified(value: Any, *, labels: int = 3) -> str | None:
    """A subdomain of at least so many labels."""
    if type(value) is not str:
        return None
    if dns_subdomain(value):
        return NOT_SUBDOMAIN
    return None if value.count(".") >= labels - 1 else f"must be a domain with at least {labels} parts"


def identifier(value: Any) -> str | None:
    """A C identifier."""
    if type(value) is not str or _identifier(value):
        return None
    return "must be letters, digits or '_', not starting with a digit"


def port_number(value: Any) -> str | None:
    """A TCP or UDP port."""
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or 1 <= value <= 65535:
        return None
    return "must be between 1 and 65535, inclusive"


def port_name(value: Any) -> str | None:
    """An IANA service name: named container ports."""
    if type(value) is not str:
        return None
    if len(value) > 15 or not _port_name(value) or not _letter(value) or "--" in value:
        return "must be at most 15 lower case letters, digits or single '-', with at least one letter"
    return "must not begin or end with a hyphen" if value[0] == "-" or value[-1] == "-" else None


def port(value: Any) -> str | None:
    """A port's number or name."""
    return port_name(value) if type(value) is str else port_number(value)


def percent(value: Any) -> str | None:
    """Digits and a percent sign."""
    if type(value) is not str or _percent(value):
        return None
    return "must be an integer or a percentage, such as '5%'"


def header_name(value: Any) -> str | None:
    """A header's name in a probe."""
    if type(value) is not str or _header(value):
        return None
    return "must be letters, digits or '-'"


def environment_name(value: Any) -> str | None:
    """An environment variable's name: printable ASCII but `=`."""
    if type(value) is not str:
        return None
    if not value:
        return "must not be empty"
    return None if all(" " <= char <= "~" and char != "=" for char in value) else "must be printable ASCII without '='"


def config_key(value: Any) -> str | None:
    """A key of a ConfigMap or Secret, which becomes a file name."""
    if type(value) is not str:
        return None
    if len(value) > 253 or not _config_key(value):
        return "must be at most 253 letters, digits, '-', '_' or '.'"
    return "must not be '.' nor start with '..'" if value == "." or value.startswith("..") else None


def user_id(value: Any) -> str | None:
    """A numeric user or group."""
    if type(value) is not int or 0 <= value <= 2147483647:
        return None
    return "must be between 0 and 2147483647, inclusive"


def prefix_of(check: Format) -> Format:
    """The rule for a `generateName`: a trailing dash is as good as a letter."""

    def masked(value: Any) -> str | None:
        if type(value) is str and len(value) > 1 and value.endswith("-"):
            value = value[:-2] + "a"
        return check(value)

    return masked


def path_segment(value: Any) -> str | None:
    """A name that only has to survive as a part of a URL: RBAC objects."""
    if type(value) is not str:
        return None
    if value in {".", ".."}:
        return "may not be '.' or '..'"
    return "may not contain '/' or '%'" if "/" in value or "%" in value else None


def path_segment_prefix(value: Any) -> str | None:
    """The part of a URL that a generated name starts with."""
    return "may not contain '/' or '%'" if type(value) is str and ("/" in value or "%" in value) else None
