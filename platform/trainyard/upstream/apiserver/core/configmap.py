"""ConfigMaps, and what Secrets have in common with them: keys, sizes, and what is frozen once it is immutable.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidateConfigMap.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator

from trainyard.upstream.apiserver.core.pods.rules import CORE
from trainyard.upstream.apiserver.core.shapes import EMPTY, Object, child, flag
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

CONFIG = Rule(
    "core/config-map",
    f"{CORE} ValidateConfigMap",
    title="The keys of a ConfigMap are valid and unique, and its data is below 1 MiB.",
    fix="rename the key in the message, or split the data",
)
BASE64 = Rule(
    "core/base64",
    "encoding/json: a []byte is standard base64",
    title="Binary data is standard base64.",
    fix="encode the value, or use stringData for the plain text of a Secret",
)
FROZEN = Rule(
    "update/immutable-data",
    f"{CORE} ValidateConfigMapUpdate",
    title="An update keeps the data of an immutable ConfigMap or Secret.",
    fix="create an object under a new name, and refer to it",
)

MOST_BYTES = 1024 * 1024
"""Bytes of all values together."""

IMMUTABLE = "field is immutable when immutable is set"


def decode_base64(value: object) -> bytes | None:
    """The bytes that a base64 text stands for, as Go reads it (line breaks allowed); None for what is none."""
    if not isinstance(value, str):
        return None
    try:
        return b64decode(value.replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return None


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield the problems with a ConfigMap, and changes of one that is immutable."""
    plain, binary = child(value, "data") or EMPTY, child(value, "binaryData") or EMPTY
    yield from check_keys(plain, ("data",), CONFIG)
    yield from check_keys(binary, ("binaryData",), CONFIG)
    for key in plain:
        if key in binary:
            yield CONFIG.invalid(("data", key), key, "duplicate of key present in binaryData")
    yield from check_base64(binary, ("binaryData",))
    total = sum(names.size(entry) for entry in plain.values() if isinstance(entry, str))
    total += sum(len(decode_base64(entry) or b"") for entry in binary.values())
    if total > MOST_BYTES:
        yield CONFIG.too_long((), MOST_BYTES)
    if old is not None:
        yield from _check_frozen(value, old, ("data", "binaryData"))


def check_keys(data: Object | dict[str, bytes], path: Path, rule: Rule) -> Iterator[Problem]:
    """Yield keys that could not be names of files."""
    for key in data:
        if detail := names.config_key(key):
            yield rule.invalid((*path, key), key, detail)


def check_base64(data: Object, path: Path) -> Iterator[Problem]:
    """Yield values that are not base64; what they hold is not shown."""
    for key, entry in data.items():
        if isinstance(entry, str) and decode_base64(entry) is None:
            yield BASE64.invalid((*path, key), f"{len(entry)} characters", "must be base64; use stringData for text")


def _check_frozen(value: Object, old: Object, fields: tuple[str, ...]) -> Iterator[Problem]:
    if not flag(old, "immutable"):
        return
    if not flag(value, "immutable"):
        yield FROZEN.forbidden(("immutable",), IMMUTABLE)
    for field in fields:
        # What is stored is never empty, and an empty map is not the same as none.
        if child(value, field) != (child(old, field) or None):
            yield FROZEN.forbidden((field,), IMMUTABLE)
