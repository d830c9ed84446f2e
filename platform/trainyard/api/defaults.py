"""Defaults that a schema states, put into an object before it is judged.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/defaulting/algorithm.go. What core kinds are given
by Go code is `core.defaults`' part.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from trainyard.api.schemas import TYPE
from trainyard.api.served import Kind

Fill = Callable[[Any], None]
"""Puts defaults into a value, in place."""


def apply(value: Any, kind: Kind) -> Any:
    """Return a copy of an object with its defaults; a null that is no value and has a default gives way to it."""
    filled, fill = copied(value), compiled(kind)
    if fill is not None:
        fill(filled)
    return filled


def copied(value: Any) -> Any:
    """Copy plain values, the fastest way that there is."""
    return marshal.loads(marshal.dumps(value))  # noqa: S302  # bytes of our own


@lru_cache(maxsize=1024)
def compiled(kind: Kind) -> Fill | None:
    """Compile the defaults of a kind's schema, None where it states none."""
    return Filler().node(kind.schema)


class Filler:
    """Compiles the defaults of a schema, a Go type once; what holds none, there or beneath, is never visited."""

    def __init__(self) -> None:
        self.types: dict[str, Fill | None] = {}
        self.holds: dict[int, bool] = {}

    def node(self, node: Mapping[str, Any]) -> Fill | None:
        """Compile the defaults beneath a node, None where there are none."""
        if not self.bears(node):
            return None
        go_type = node.get(TYPE)
        if go_type is None or "default" in node:
            return self.container(node)
        if go_type not in self.types:
            self.types[go_type] = self.container(node)
        return self.types[go_type]

    def bears(self, node: Mapping[str, Any]) -> bool:
        """Whether any default stands beneath a node; a type that contains itself may be held to have some."""
        known = self.holds.get(id(node))
        if known is None:
            self.holds[id(node)] = True
            known = self.holds[id(node)] = any(
                each.get("default") is not None or self.bears(each) for each in children(node)
            )
        return known

    def container(self, node: Mapping[str, Any]) -> Fill:
        """Compile an object or a list, its fields when an object first has them."""
        properties: Mapping[str, Any] = node.get("properties") or {}
        given = {name: each["default"] for name, each in properties.items() if each.get("default") is not None}
        over_null = {name for name in given if not properties[name].get("nullable")}
        deeper = {name for name, each in properties.items() if self.bears(each)}
        fields: dict[str, Fill | None] = {}
        additional, items = node.get("additionalProperties"), node.get("items")
        fill_rest, instead_rest = self.rest(additional)
        fill_item, instead_item = self.rest(items)

        def fill(value: Any) -> None:
            if type(value) is dict:
                for key, default in given.items():
                    if key not in value or (value[key] is None and key in over_null):
                        value[key] = copied(default)
                for key in deeper & value.keys():
                    if key not in fields:
                        fields[key] = self.node(properties[key])
                    if (found := fields[key]) is not None:
                        found(value[key])
                if fill_rest is not None or instead_rest is not None:
                    replace(value, [key for key in value if key not in properties], fill_rest, instead_rest)
            elif type(value) is list and (fill_item is not None or instead_item is not None):
                replace(value, range(len(value)), fill_item, instead_item)

        return fill

    def rest(self, node: object) -> tuple[Fill | None, Any]:
        """Return how a map's values or a list's elements are filled, and what stands for null among them."""
        if not isinstance(node, Mapping):
            return None, None
        return self.node(node), None if node.get("nullable") else node.get("default")


def children(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the nodes of fields, of other values and of elements."""
    yield from (node.get("properties") or {}).values()
    for key in ("additionalProperties", "items"):
        if isinstance(child := node.get(key), Mapping):
            yield child


def replace(value: Any, places: Iterable[Any], fill: Fill | None, instead: Any) -> None:
    """Fill the values at some places of an object or a list, and put a default where null stands."""
    for place in places:
        if value[place] is None and instead is not None:
            value[place] = copied(instead)
        if fill is not None:
            fill(value[place])
