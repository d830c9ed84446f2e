"""Reads a schema of `schemas/` the way Kubernetes means it: references resolved, one type a node, null as `nullable`.

A file says the same things as a plain JSON Schema engine needs them; here the unions with null are taken back. Types
that a server decodes into Go structs carry their name as `x-trainyard-type`: all core kinds, and ObjectMeta in every
kind. The other nodes are structural schemas of a CRD. Definitions are shared, so a value may contain itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

TYPE = "x-trainyard-type"
"""Key that names the Go type of a node."""

REFERENCE = "#/definitions/"
SCHEMAS = ("items", "additionalProperties", "not")
LISTS = ("allOf", "anyOf", "oneOf")


def load(path: Path) -> Schema:
    """Read one schema file; raises OSError and ValueError where the file is not there or no JSON."""
    return resolve(json.loads(path.read_bytes()))


def resolve(schema: Schema) -> Schema:
    """Resolve a schema in place, and return it."""
    definitions: dict[str, Schema] = schema.pop("definitions", {})
    for name, definition in definitions.items():
        definition[TYPE] = name
    seen: set[int] = set()
    for definition in definitions.values():
        _visit(definition, definitions, seen)
    _visit(schema, definitions, seen)
    return schema


def _visit(node: Schema, definitions: Mapping[str, Schema], seen: set[int]) -> None:
    """Replace the references beneath a node, and restate its null."""
    if id(node) in seen:
        return
    seen.add(id(node))
    _restate_null(node)
    for key in SCHEMAS:
        if isinstance(child := node.get(key), dict):
            node[key] = _target(child, definitions, seen)
    for key in LISTS:
        if isinstance(children := node.get(key), list):
            node[key] = [_target(child, definitions, seen) for child in children]
    if isinstance(properties := node.get("properties"), dict):
        for name, child in properties.items():
            properties[name] = _target(child, definitions, seen)


def _target(node: Schema, definitions: Mapping[str, Schema], seen: set[int]) -> Schema:
    """Return what a node refers to, with the keys beside the reference, or the node itself."""
    reference = node.get("$ref")
    if reference is None:
        _visit(node, definitions, seen)
        return node
    definition = definitions[reference.removeprefix(REFERENCE)]
    if len(node) == 1:
        return definition
    _visit(definition, definitions, seen)
    return {**definition, **{key: value for key, value in node.items() if key != "$ref"}}


def _restate_null(node: Schema) -> None:
    """Take null out of unions: `nullable` alone says where it is a value, and it is no choice of an enum."""
    types = node.get("type")
    if isinstance(types, list):
        others = [each for each in types if each != "null"]
        node["type"] = others[0] if len(others) == 1 else others
    if isinstance(choices := node.get("enum"), list):
        node["enum"] = [each for each in choices if each is not None]
    if node.get("x-kubernetes-int-or-string") and isinstance(union := node.get("anyOf"), list):
        node["anyOf"] = [each for each in union if each != {"type": "null"}]
