"""A plan as data, and the schema of that: both follow from the plan's own classes."""

from __future__ import annotations

import types
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from trainyard.base.findings import ObjectRef
from trainyard.change.plan.decide.queues import verdict
from trainyard.change.plan.effects import Amount, Plan
from trainyard.change.plan.words.headline import headline, warnings

OUTSIDE = frozenset({"findings", "skipped"})
"""Fields of a plan that stand elsewhere in the report."""

SIMPLE: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
}


def as_dict(plan: Plan) -> dict[str, Any]:
    """Return a plan without its findings, with field names in camelCase."""
    found: dict[str, Any] = {"refused": plan.refused, "headline": headline(plan), "warnings": list(warnings(plan))}
    found |= {
        camel(field.name): plain(getattr(plan, field.name)) for field in fields(plan) if field.name not in OUTSIDE
    }
    for row, queue in zip(plan.queues, found["queues"], strict=True):
        queue["decided"] = verdict(row)
    return found


def plain(value: Any) -> Any:
    """Return data classes as maps, whatever they hold."""
    if isinstance(value, ObjectRef):
        names = {"apiVersion": value.api_version, "kind": value.kind}
        return {**names, "namespace": value.namespace, "name": value.name}
    if isinstance(value, Amount):
        shown = {camel(field.name): getattr(value, field.name) for field in fields(value)}
        return {**shown, "gpuHours": value.gpu_hours, "cost": value.cost}
    if is_dataclass(value):
        return {camel(field.name): plain(getattr(value, field.name)) for field in fields(value)}
    return [plain(item) for item in value] if isinstance(value, tuple) else value


def camel(name: str) -> str:
    """Return the name of a field as JSON has it.

    >>> camel("lost_gpu_hours")
    'lostGpuHours'
    """
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a plan."""
    found = of_class(Plan)
    text, texts = SIMPLE[str], {"type": "array", "items": SIMPLE[str]}
    more = {"refused": SIMPLE[bool], "headline": text, "warnings": texts}
    kept = {name: property_ for name, property_ in found["properties"].items() if name not in OUTSIDE}
    queue = kept["queues"]["items"]
    kept["queues"] = {"type": "array", "items": closed({**queue["properties"], "decided": text})}
    return closed({**more, **kept})


def closed(properties: dict[str, Any]) -> dict[str, Any]:
    """Return a JSON Schema object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def of_class(kind: Any) -> dict[str, Any]:
    """Return the schema of a data class."""
    if kind is ObjectRef:
        texts = dict.fromkeys(("apiVersion", "kind", "name"), SIMPLE[str])
        return closed({**texts, "namespace": {"anyOf": [SIMPLE[str], SIMPLE[type(None)]]}})
    hints = hinted(kind)
    found = {camel(field.name): of_type(hints[field.name]) for field in fields(kind) if field.name not in OUTSIDE}
    if kind is Amount:
        number = {"anyOf": [SIMPLE[float], SIMPLE[type(None)]]}
        found |= {"gpuHours": number, "cost": number}
    return closed(found)


@cache
def hinted(kind: Any) -> dict[str, Any]:
    """Return the types of a data class's fields."""
    return get_type_hints(kind)


def of_type(kind: Any) -> dict[str, Any]:
    """Return the schema of what a field may hold."""
    if kind in SIMPLE:
        return SIMPLE[kind]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in {Union, types.UnionType}:
        return {"anyOf": [of_type(argument) for argument in arguments]}
    if origin is tuple:
        return {"type": "array", "items": of_type(arguments[0])}
    return of_class(kind)
