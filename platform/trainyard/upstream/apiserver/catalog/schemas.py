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
SCHEMAS = frozenset({"items", "additionalProperties", "not"})
LISTS = frozenset({"allOf", "anyOf", "oneOf"})


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
    """Replace the references beneath a node, and restate its null: `nullable` alone says where it is a value."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if node.get("x-kubernetes-int-or-string") and isinstance(union := node.get("anyOf"), list):
        node["anyOf"] = [choice for choice in union if choice != {"type": "null"}]
    for key, found in node.items():
        if type(found) is dict:
            if key == "properties":
                for name, child in found.items():
                    found[name] = _target(child, definitions, seen)
            elif key in SCHEMAS:
                node[key] = _target(found, definitions, seen)
        elif type(found) is list:
            if key in LISTS:
                node[key] = [_target(child, definitions, seen) for child in found]
            elif key == "type":
                others = [name for name in found if name != "null"]
                node[key] = others[0] if len(others) == 1 else others
            elif key == "enum":
                node[key] = [name for name in found if name is not None]


def _target(node: Schema, definitions: Mapping[str, Schema], seen: set[int]) -> Schema:
    """Return the schema that a node refers to, with the keys beside the reference, or the node itself."""
    reference = node.get("$ref")
    if reference is None:
        _visit(node, definitions, seen)
        return node
    definition = definitions[reference.removeprefix(REFERENCE)]
    if len(node) == 1:
        return definition
    _visit(definition, definitions, seen)
    return {**definition, **{key: value for key, value in node.items() if key != "$ref"}}
