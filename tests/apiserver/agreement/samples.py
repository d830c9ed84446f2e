"""Objects made from the schema of their kind: with what is required, and with some of what is not."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

from apiserver.agreement.words import NAMED, number_for, text_for, typed_value
from trainyard.upstream.apiserver import Kind
from trainyard.upstream.apiserver.catalog.schemas import Schema

DEEP = 9
"""Levels below which only what is required is filled in."""


def make_object(kind: Kind, rng: Random, *, share: float) -> dict[str, Any]:
    """Return an object with what its schema requires, and this share of the fields that are free."""
    metadata: dict[str, Any] = {"name": "a1"}
    if kind.namespaced:
        metadata["namespace"] = "default"
    head = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}
    fields = kind.schema.get("properties", {})
    required = set(kind.schema.get("required", ())) | ({"spec"} & set(fields))
    rest = {
        name: make_value(node, name, rng, share=share, depth=1)
        for name, node in fields.items()
        if name not in {*head, "status"} and (name in required or rng.random() < share)
    }
    return {**head, **rest}


def make_value(node: Schema, name: str, rng: Random, *, share: float, depth: int) -> Any:
    """Return a value that a schema most likely takes."""
    if "default" in node and rng.random() < 0.5:
        return copy.deepcopy(node["default"])
    if (special := typed_value(node)) is not None:
        return copy.deepcopy(special)
    kinds = node.get("type")
    kind = kinds[0] if isinstance(kinds, list) else kinds
    if kind == "array":
        return make_list(node, name, rng, share=share, depth=depth)
    if kind == "object" or "properties" in node:
        return make_map(node, name, rng, share=share, depth=depth)
    if kind == "boolean":
        return rng.random() < 0.5
    if kind in ("integer", "number"):
        return number_for(node, name, rng)
    return text_for(node, name, rng) if kind == "string" else {}


def make_list(node: Schema, name: str, rng: Random, *, share: float, depth: int) -> list[Any]:
    """Return a list of the fewest items allowed, at least one."""
    if isinstance(NAMED.get(name), list) and not node.get("enum"):
        return list(NAMED[name])
    items = node.get("items", {})
    count = max(1, int(node.get("minItems", 1)))
    return [make_value(items, name.removesuffix("s"), rng, share=share, depth=depth + 1) for _ in range(count)]


def make_map(node: Schema, name: str, rng: Random, *, share: float, depth: int) -> dict[str, Any]:
    """Return a map with its required fields and some of the others."""
    fields = node.get("properties") or {}
    if not fields:
        values = node.get("additionalProperties")
        if isinstance(values, dict):
            return {"a1": make_value(values, "value", rng, share=share, depth=depth + 1)}
        return {}
    required = set(node.get("required", ()))
    alternatives = [item.get("required", ()) for key in ("oneOf", "anyOf") for item in node.get(key, ())]
    if alternatives:
        required.update(rng.choice(alternatives))
    free = share if depth < DEEP else 0.0
    chosen = [field for field in fields if field in required or rng.random() < free / depth]
    least = int(node.get("minProperties", 0))
    spare = [field for field in fields if field not in chosen]
    chosen += rng.sample(spare, min(len(spare), max(0, least - len(chosen))))
    return {item: make_value(fields[item], item, rng, share=share, depth=depth + 1) for item in chosen}
