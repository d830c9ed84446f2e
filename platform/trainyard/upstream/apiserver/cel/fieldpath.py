"""The place that a rule names for its error: `.spec.replicas`, `.labels['a.b']`.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/cel/validation.go ValidFieldPath.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_STEP = re.compile(r"\.([^.\[\]]+)|\['((?:[^'\\]|\\.)*)'\]")
_ESCAPE = re.compile(r"\\(.)")
_CHARACTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\"}


def parse(text: str, schema: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the fields from a schema's node on; None where the path is malformed or leads to no field of it."""
    path: list[str] = []
    at = 0
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None:
            return None
        name = match[1] if match[1] is not None else _ESCAPE.sub(_character, match[2])
        properties, additional = schema.get("properties"), schema.get("additionalProperties")
        below = properties.get(name) if isinstance(properties, Mapping) and properties else additional
        if not isinstance(below, Mapping):
            return None
        path.append(name)
        schema, at = below, match.end()
    return tuple(path) or None


def _character(match: re.Match[str]) -> str:
    return _CHARACTERS.get(match[1], match[0])
