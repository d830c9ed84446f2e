"""How many entries every list and map of a spec may have: a model that says nothing of it has the common bound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from trainyard.base.limits import ENTRIES, FREE_VALUES

LISTS = frozenset({"list", "set", "frozenset", "dict"})
"""Types of pydantic's schemas that hold as many values as somebody writes; a tuple does where its items repeat."""

OTHERS = frozenset({"model", "dataclass", "typed-dict"})
"""Types that bound what is in them by themselves."""


def bound(schema: CoreSchema) -> CoreSchema:
    """Give every list and map of a model a bound, and return the model's schema."""
    for collection in collections(schema):
        collection.setdefault("max_length", ENTRIES)
        values = collection.get("values_schema")
        if values is not None and values["type"] == "any":
            collection["values_schema"] = core_schema.no_info_after_validator_function(few, values)
    return schema


def collections(schema: Any, *, inside: bool = False) -> Iterator[Any]:
    """Yield the schemas of lists and maps in the schema of a model, not those of models within it."""
    if isinstance(schema, list):
        for part in schema:
            yield from collections(part, inside=inside)
    elif isinstance(schema, dict):
        kind = schema.get("type")
        if not isinstance(kind, str):  # fields by name, one of which may be called so
            kind = ""
        if kind in OTHERS:
            if inside:
                return
            inside = True
        if kind in LISTS or (kind == "tuple" and "variadic_item_index" in schema):
            yield schema
        for key, part in schema.items():
            if key not in {"metadata", "serialization"}:
                yield from collections(part, inside=inside)


def few(value: Any) -> Any:
    """Refuse a value that holds too many others: one in the words of Kubernetes or of a chart, or a list of such."""
    level, count = [value], 0
    while level:
        count += len(level)
        if count > FREE_VALUES:
            message = f"contains more than {FREE_VALUES} values; write fewer"
            raise PydanticCustomError("too-many", "{message}", {"message": message})
        level = [inner for outer in level for inner in held_values(outer)]
    return value


def held_values(value: Any) -> Iterator[Any]:
    """Yield the values that a list or a map holds."""
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, (list, tuple)):
        yield from value
    elif isinstance(value, BaseModel):
        yield from vars(value).values()
