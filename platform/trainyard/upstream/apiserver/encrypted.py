"""Objects that SOPS has encrypted in place: what remains readable of them, which is judged as it will be decrypted.

Facts: getsops/sops v3.11 README.rst: values become `ENC[…]`, and a field `sops` at the root has keys and a checksum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.manifests import Manifest
from trainyard.upstream.apiserver.problems import Rule

FIELD, MARK = "sops", "ENC["

HIDDEN = Rule(
    "schema/encrypted",
    "getsops/sops v3.11 README.rst",
    title="The kind of an encrypted object is readable.",
    fix="encrypt data and stringData alone, by encrypted_regex in .sops.yaml",
    why="Trainyard cannot check an object of which it does not know the kind",
    may_warn=True,
)


def is_encrypted(manifest: Manifest) -> bool:
    """Whether SOPS has encrypted an object in place: its metadata has a checksum."""
    said = manifest.value.get(FIELD)
    return isinstance(said, Mapping) and "mac" in said


def is_kind_hidden(manifest: Manifest) -> bool:
    """Whether the kind itself is encrypted."""
    return is_hidden(manifest.value.get("kind")) or is_hidden(manifest.value.get("apiVersion"))


def is_hidden(value: Any) -> bool:
    """Whether a value is encrypted."""
    return isinstance(value, str) and value.startswith(MARK)


def readable(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object without the metadata of SOPS, with an empty text for each value that is encrypted."""
    return {key: emptied(item) for key, item in value.items() if key != FIELD}


def emptied(value: Any) -> Any:
    """Return a value with an empty text in the place of each that is encrypted."""
    if isinstance(value, Mapping):
        return {key: emptied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [emptied(item) for item in value]
    return "" if is_hidden(value) else value


def paths(value: Any, at: Path = ()) -> Iterator[Path]:
    """Yield the paths of all values that are encrypted; `at` is the path of the value itself."""
    if isinstance(value, Mapping | list):
        for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from paths(item, (*at, key))
    elif is_hidden(value):
        yield at
