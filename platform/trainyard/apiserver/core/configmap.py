"""ConfigMaps and Secrets: keys, sizes, what a type needs, and what is frozen once it is immutable.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidateConfigMap and ValidateSecret.
"""

from __future__ import annotations

import binascii
import json
from base64 import b64decode
from collections.abc import Iterator

from trainyard.apiserver.core.pods.rules import CORE
from trainyard.apiserver.core.shapes import EMPTY, Object, child, flag, inner, text
from trainyard.apiserver.meta import names
from trainyard.apiserver.problems import Path, Problem, Rule

CONFIG = Rule("core/config-map", f"{CORE} ValidateConfigMap")
SECRET = Rule("core/secret", f"{CORE} ValidateSecret")
BASE64 = Rule("core/base64", "encoding/json: a []byte is standard base64")
FROZEN = Rule("update/immutable-data", f"{CORE} ValidateConfigMapUpdate")
TYPE = Rule("update/secret-type", f"{CORE} ValidateSecretUpdate")

MOST_BYTES = 1024 * 1024
"""Bytes of all values together."""

_FROZEN = "field is immutable when immutable is set"
_NEEDED = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
_JSON_TYPES = ("kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson")
_ACCOUNT = "kubernetes.io/service-account.name"


def decoded(value: object) -> bytes | None:
    """The bytes that a base64 text stands for, as Go reads it (line breaks allowed); None for what is none."""
    if not isinstance(value, str):
        return None
    try:
        return b64decode(value.replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return None


def check_config_map(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield what is wrong with a ConfigMap, and changes of one that is immutable."""
    plain, binary = child(value, "data") or EMPTY, child(value, "binaryData") or EMPTY
    yield from _check_keys(plain, ("data",), CONFIG)
    yield from _check_keys(binary, ("binaryData",), CONFIG)
    for key in plain:
        if key in binary:
            yield CONFIG.invalid(("data", key), key, "duplicate of key present in binaryData")
    yield from _check_base64(binary, ("binaryData",))
    total = sum(names.size(entry) for entry in plain.values() if isinstance(entry, str))
    total += sum(len(decoded(entry) or b"") for entry in binary.values())
    if total > MOST_BYTES:
        yield CONFIG.too_long((), MOST_BYTES)
    if old is not None:
        yield from _check_frozen(value, old, ("data", "binaryData"))


def check_secret(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield what is wrong with a Secret, a change of its type, and changes of one that is immutable."""
    encoded = child(value, "data") or EMPTY
    yield from _check_base64(encoded, ("data",))
    data = secret_data(value)
    yield from _check_keys(data, ("data",), SECRET)
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
            yield FROZEN.forbidden(("immutable",), _FROZEN)
        if data != secret_data(old) or (not data and value.get("data") == {}):
            yield FROZEN.forbidden(("data",), _FROZEN)


def secret_data(value: Object) -> dict[str, bytes]:
    """A Secret's data as bytes, with `stringData` written over it, as the server stores it."""
    data = {key: decoded(entry) or b"" for key, entry in (child(value, "data") or EMPTY).items()}
    for key, entry in (child(value, "stringData") or EMPTY).items():
        if entry is None or isinstance(entry, str):
            data[key] = (entry or "").encode(errors="surrogatepass")
    return data


def _check_keys(data: Object | dict[str, bytes], path: Path, rule: Rule) -> Iterator[Problem]:
    for key in data:
        if detail := names.config_key(key):
            yield rule.invalid((*path, key), key, detail)


def _check_base64(data: Object, path: Path) -> Iterator[Problem]:
    for key, entry in data.items():
        if isinstance(entry, str) and decoded(entry) is None:
            yield BASE64.invalid((*path, key), f"{len(entry)} characters", "must be base64; use stringData for text")


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


def _check_frozen(value: Object, old: Object, fields: tuple[str, ...]) -> Iterator[Problem]:
    if not flag(old, "immutable"):
        return
    if not flag(value, "immutable"):
        yield FROZEN.forbidden(("immutable",), _FROZEN)
    for field in fields:
        # What is stored is never empty, and an empty map is not the same as none.
        if child(value, field) != (child(old, field) or None):
            yield FROZEN.forbidden((field,), _FROZEN)
