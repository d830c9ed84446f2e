"""Secrets: keys, sizes, what a type needs, that the type stays, and what is frozen once it is immutable.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidateSecret and
pkg/apis/core/v1/defaults.go.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from trainyard.upstream.apiserver.core.configmap import (
    FROZEN,
    IMMUTABLE,
    MOST_BYTES,
    check_base64,
    check_keys,
    decode_base64,
)
from trainyard.upstream.apiserver.core.pods.rules import CORE
from trainyard.upstream.apiserver.core.shapes import EMPTY, Object, child, fill, flag, inner, text
from trainyard.upstream.apiserver.problems import Problem, Rule

SECRET = Rule(
    "core/secret",
    f"{CORE} ValidateSecret",
    title="A Secret has the keys of its type, valid key names and less than 1 MiB.",
    fix="add the key that the type needs, or use type Opaque",
)
TYPE = Rule(
    "update/secret-type",
    f"{CORE} ValidateSecretUpdate",
    title="An update keeps the type of a Secret.",
    fix="restore type, or create a Secret under another name",
)

_NEEDED = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
_JSON_TYPES = ("kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson")
_ACCOUNT = "kubernetes.io/service-account.name"


def default(value: Object, minor: int) -> None:  # noqa: ARG001  # one signature for all kinds
    """Default a Secret, and move `stringData` into `data`, as the server does when it decodes."""
    fill(value, "type", "Opaque")


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with a Secret, a change of its type, and changes of one that is immutable."""
    encoded = child(value, "data") or EMPTY
    yield from check_base64(encoded, ("data",))
    data = secret_data(value)
    yield from check_keys(data, ("data",), SECRET)
    if sum(map(len, data.values())) > MOST_BYTES:
        yield SECRET.too_long(("data",), MOST_BYTES)
    yield from _check_type(value, data)
    if old is None:
        return
    now, before = value.get("type") or "Opaque", old.get("type") or "Opaque"
    if now != before:
        yield TYPE.invalid(("type",), now, f"field is immutable; it is {before}")
    if flag(old, "immutable"):
        if not flag(value, "immutable"):
            yield FROZEN.forbidden(("immutable",), IMMUTABLE)
        if data != secret_data(old) or (not data and value.get("data") == {}):
            yield FROZEN.forbidden(("data",), IMMUTABLE)


def secret_data(value: Object) -> dict[str, bytes]:
    """A Secret's data as bytes, with `stringData` written over it, as the server stores it."""
    data = {key: decode_base64(entry) or b"" for key, entry in (child(value, "data") or EMPTY).items()}
    for key, entry in (child(value, "stringData") or EMPTY).items():
        if entry is None or isinstance(entry, str):
            data[key] = (entry or "").encode(errors="surrogatepass")
    return data


def _check_type(value: Object, data: dict[str, bytes]) -> Iterator[Problem]:
    kind = value.get("type")
    account = text(inner(value, "metadata", "annotations"), _ACCOUNT)
    if kind == "kubernetes.io/service-account-token" and not account:
        yield SECRET.required(("metadata", "annotations", _ACCOUNT))
    if kind == "kubernetes.io/basic-auth" and not {"username", "password"} & set(data):
        yield SECRET.required(("data", "username"), "or password")
    for key in _NEEDED.get(text(value, "type"), ()):
        if key not in data or (kind == "kubernetes.io/ssh-auth" and not data[key]):
            yield SECRET.required(("data", key), f"a Secret of type {kind} needs it")
        elif kind in _JSON_TYPES and not _is_json_object(data[key]):
            yield SECRET.invalid(("data", key), "<redacted>", "must be a JSON object")


def _is_json_object(data: bytes) -> bool:
    try:
        found = json.loads(data, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return found is None or isinstance(found, dict)


def _refuse(name: str) -> None:
    raise ValueError(name)
