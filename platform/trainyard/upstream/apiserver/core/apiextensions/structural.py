"""What makes a schema structural: each node says its type once, outside of the junctors.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/validation.go and complete.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.upstream.apiserver.core.apiextensions.nodes import (
    EMBEDDED,
    INT_OR_STRING,
    LIST_KEYS,
    LIST_TYPE,
    MAP_TYPE,
    PRESERVE,
    RULES,
    branches,
    junction,
    properties,
)
from trainyard.upstream.apiserver.core.shapes import Object, child, flag, text
from trainyard.upstream.apiserver.patterns import NotRead, Patterns, TooLarge
from trainyard.upstream.apiserver.problems import UNKNOWN, Path, Problem, Rule

SOURCE = "k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema"
STRUCTURAL = Rule(
    "core/crd-structural",
    f"{SOURCE}/validation.go validateStructuralInvariants",
    title="The schema of a CustomResourceDefinition is structural.",
    fix="give every field a type outside anyOf, allOf, oneOf and not",
)
NESTED = STRUCTURAL.of_source(f"{SOURCE}/validation.go validateNestedValueValidation")
COMPLETE = STRUCTURAL.of_source(f"{SOURCE}/complete.go validateValueValidationCompleteness")

_has_byte_escape = re.compile(r"(?<!\\)(?:\\\\)*\\C").search
"""RE2 knows an escape for a single byte, which Go does not."""
_PLACES = {"root": "at the root", "item": "for specified array items", "field": "for specified object fields"}
_SAYING = ("additionalProperties", "default", "items")
_EITHER = [{"type": "integer"}, {"type": "string"}]
_NOT_NESTED = {
    **dict.fromkeys(("type", "title", "description", LIST_KEYS, RULES), "must be empty to be structural"),
    **dict.fromkeys(("nullable", PRESERVE, EMBEDDED, INT_OR_STRING), "must be false to be structural"),
    **dict.fromkeys(("default", LIST_TYPE, MAP_TYPE), "must be undefined to be structural"),
}


def check_structural(schema: Object, path: Path) -> Iterator[Problem]:
    """Yield why a schema is not structural."""
    yield from _check_node(schema, "root", path, Patterns())
    yield from _check_complete(schema, schema, path)


def _check_node(schema: Object, place: str, path: Path, patterns: Patterns) -> Iterator[Problem]:
    items = child(schema, "items")
    if schema.get("type") == "array" and items is None:
        yield STRUCTURAL.required((*path, "items"), "must be specified")
    if items is not None:
        yield from _check_node(items, "item", (*path, "items"), patterns)
    for name, field in properties(schema):
        yield from _check_node(field, "field", (*path, "properties", name), patterns)
    yield from _check_additional(schema, place, path, patterns)
    if flag(schema, INT_OR_STRING):
        for keyword in (PRESERVE, EMBEDDED):
            if flag(schema, keyword):
                yield STRUCTURAL.invalid((*path, keyword), True, f"must be false if {INT_OR_STRING} is true")
    first = junction(schema, "allOf")[:1]
    yield from _check_values(
        schema,
        path,
        patterns,
        spare_any=_is_either(schema),
        spare_first=bool(first) and _is_either(first[0][1]),
    )
    yield from _check_type(schema, place, path)
    yield from _check_meta(schema, place, path)


def _check_additional(schema: Object, place: str, path: Path, patterns: Patterns) -> Iterator[Problem]:
    additional, at = schema.get("additionalProperties"), (*path, "additionalProperties")
    if additional is not None and place == "root":
        yield STRUCTURAL.forbidden(at, "must not be used at the root")
    if additional is not None and flag(schema, EMBEDDED):
        yield STRUCTURAL.forbidden(at, f"must not be used if {EMBEDDED} is set")
    if isinstance(additional, dict):
        yield from _check_node(additional, "field", at, patterns)


def _check_type(schema: Object, place: str, path: Path) -> Iterator[Problem]:
    kind, at = text(schema, "type"), (*path, "type")
    free = flag(schema, INT_OR_STRING) or flag(schema, PRESERVE)
    if flag(schema, EMBEDDED) and kind != "object":
        yield STRUCTURAL.invalid(at, kind, f"must be object if {EMBEDDED} is true")
    elif not kind and not free and not schema.get("type"):
        yield STRUCTURAL.required(at, f"must not be empty {_PLACES[place]}")
    if place == "root" and kind and kind != "object":
        yield STRUCTURAL.invalid(at, kind, "must be object at the root")


def _check_meta(schema: Object, place: str, path: Path) -> Iterator[Problem]:
    """Yield the problems with apiVersion, kind and metadata, which roots and embedded resources have anyway."""
    fields, at = dict(properties(schema)), (*path, "properties")
    resource = place == "root" or flag(schema, EMBEDDED)
    for name in ("kind", "apiVersion"):
        if resource and name in fields and fields[name].get("type") != "string":
            yield STRUCTURAL.invalid((*at, name, "type"), fields[name].get("type") or "", "must be string")
    if (meta := fields.get("metadata")) is not None:
        if resource and meta.get("type") != "object":
            yield STRUCTURAL.invalid((*at, "metadata", "type"), meta.get("type") or "", "must be object")
        if place == "root" and not _is_plain_metadata(meta):
            yield STRUCTURAL.forbidden((*at, "metadata"), "must not specify anything other than name and generateName")
    if flag(schema, EMBEDDED) and not flag(schema, PRESERVE) and not fields:
        yield STRUCTURAL.required(at, f"must not be empty if {EMBEDDED} is true without {PRESERVE}")


def _is_plain_metadata(meta: Object) -> bool:
    names = set(child(meta, "properties") or ())
    rest = {key: value for key, value in meta.items() if key not in ("type", "default", "properties", "example")}
    return names <= {"name", "generateName"} and not any(_is_given(key, value) for key, value in rest.items())


def _is_given(keyword: str, value: Any) -> bool:
    """Whether a keyword says something: `false`, empty text and empty maps mostly are the same as nothing."""
    return value is not None if keyword in _SAYING else value not in (None, False, "", {})


def _is_either(node: Object) -> bool:
    """Whether the anyOf of a node spells an int-or-string out, and says nothing else."""
    said = [
        {key: part for key, part in branch.items() if _is_given(key, part)} for _, branch in junction(node, "anyOf")
    ]
    return said == _EITHER


def _check_values(
    schema: Object, path: Path, patterns: Patterns, *, spare_any: bool, spare_first: bool
) -> Iterator[Problem]:
    """Yield the problems with keywords that junctors of a node may not have, and with a broken pattern.

    The union that spells an int-or-string out is spared, in anyOf or in the anyOf of the first of allOf.
    """
    for branch, at in branches(schema, path):
        if not (spare_any and at[len(path)] == "anyOf"):
            yield from _check_nested(branch, at, patterns, spare_any=spare_first and at == (*path, "allOf", 0))
    pattern = text(schema, "pattern")
    if pattern:
        yield from _check_pattern(pattern, (*path, "pattern"), patterns)


def _check_pattern(pattern: str, path: Path, patterns: Patterns) -> Iterator[Problem]:
    try:
        patterns.read(pattern)
        is_right = not _has_byte_escape(pattern)
    except TooLarge:
        yield Problem(path, UNKNOWN, patterns.too_large(pattern), STRUCTURAL.source)
        return
    except (NotRead, UnicodeEncodeError):
        is_right = False
    if not is_right:
        yield STRUCTURAL.invalid(path, pattern, "must be a valid regular expression in RE2 syntax")


def _check_nested(schema: Object, path: Path, patterns: Patterns, *, spare_any: bool = False) -> Iterator[Problem]:
    yield from _check_values(schema, path, patterns, spare_any=spare_any, spare_first=False)
    if (items := child(schema, "items")) is not None:
        yield from _check_nested(items, (*path, "items"), patterns)
    for name, field in properties(schema):
        yield from _check_nested(field, (*path, "properties", name), patterns)
    for keyword, detail in _NOT_NESTED.items():
        if _is_set(schema.get(keyword), keyword):
            yield NESTED.forbidden((*path, keyword), detail)
    if schema.get("additionalProperties") not in (None, False):
        yield NESTED.forbidden((*path, "additionalProperties"), "must be undefined to be structural")
    if "metadata" in (child(schema, "properties") or {}):
        yield NESTED.forbidden((*path, "properties", "metadata"), "must not be specified in a nested context")


def _is_set(value: Any, keyword: str) -> bool:
    return value is not None if keyword in ("default", LIST_TYPE, MAP_TYPE) else bool(value)


def _check_complete(values: Object, schema: Object, path: Path) -> Iterator[Problem]:
    """Yield fields that the junctors of the root speak of and the schema itself does not."""
    for branch, _ in branches(values, ()):
        yield from _check_branch(branch, schema, path)


def _check_branch(branch: Object, schema: Object | None, path: Path) -> Iterator[Problem]:
    if schema is None:
        yield COMPLETE.required(path, "because a branch of anyOf, allOf, oneOf or not has this field")
        return
    yield from _check_complete(branch, schema, path)
    if (items := child(branch, "items")) is not None:
        yield from _check_branch(items, child(schema, "items"), (*path, "items"))
    fields = dict(properties(schema))
    for name, field in properties(branch):
        yield from _check_branch(field, fields.get(name), (*path, "properties", name))
