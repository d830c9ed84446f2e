"""Defaults that a schema states, put into an object before it is judged.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/defaulting/algorithm.go. What core kinds are given
by Go code is `core.defaults`' part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from trainyard.base.limits import DEFAULTED_VALUES
from trainyard.upstream.apiserver.catalog.schemas import TYPE
from trainyard.upstream.apiserver.catalog.served import Kind

Fill = Callable[[Any], None]
"""Puts defaults into a value, in place."""


def apply(value: Any, kind: Kind) -> Any:
    """Return a copy of an object with its defaults; a null that is no value and has a default gives way to it."""
    filled, filler = copy_containers(value), compile_defaults(kind)
    if filler.fill is not None:
        filler.left = DEFAULTED_VALUES
        filler.fill(filled)
    return filled


def copy_containers(value: Any) -> Any:
    """Copy maps and lists, whose scalars stay shared: a map that is copied whole is faster than one that is built."""
    kind = type(value)
    if kind is dict:
        value = value.copy()
        for key, entry in value.items():
            if type(entry) is dict or type(entry) is list:
                value[key] = copy_containers(entry)
    elif kind is list:
        value = [
            copy_containers(element) if type(element) is dict or type(element) is list else element for element in value
        ]
    return value


@lru_cache(maxsize=1024)
def compile_defaults(kind: Kind) -> Filler:
    """Compile the defaults of a kind's schema."""
    filler = Filler()
    filler.fill = filler.node(kind.schema)
    return filler


class TooMany(Exception):  # noqa: N818  it is the object that has too many
    """Defaults make an object larger than etcd takes."""


class Filler:
    """Compiles the defaults of a schema, a Go type once; what holds none, there or beneath, is never visited."""

    def __init__(self) -> None:
        self.types: dict[str, Fill | None] = {}
        self.holds: dict[int, bool] = {}
        self.fill: Fill | None = None
        """What fills an object, None where the kind's schema states no defaults."""
        self.left = DEFAULTED_VALUES
        """How many values may still be put into the object at hand."""

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
                child.get("default") is not None or self.bears(child) for child in children(node)
            )
        return known

    def container(self, node: Mapping[str, Any]) -> Fill:
        """Compile an object or a list."""
        items = node.get("items")
        return self.elements(items) if isinstance(items, Mapping) else self.fields(node)

    def fields(self, node: Mapping[str, Any]) -> Fill:
        """Compile an object, its fields when an object first has them."""
        properties: Mapping[str, Any] = node.get("properties") or {}
        given = [
            (name, property_["default"], not property_.get("nullable"))
            for name, property_ in properties.items()
            if property_.get("default") is not None
        ]
        deeper = frozenset(name for name, property_ in properties.items() if self.bears(property_))
        compiled: dict[str, Fill | None] = {}
        fill_rest, instead = self.rest(node.get("additionalProperties"))
        sizes = {name: size(default) for name, default, _ in given}

        def fill(value: Any) -> None:
            if type(value) is not dict:
                return
            for key, default, over_null in given:
                if value.get(key) is None and (over_null or key not in value):
                    self.take(sizes[key])
                    value[key] = copy_containers(default)
            if deeper:
                for key, item in value.items():
                    if key in deeper:
                        if key not in compiled:
                            compiled[key] = self.node(properties[key])
                        if (found := compiled[key]) is not None:
                            found(item)
            if fill_rest is not None or instead is not None:
                self.replace(value, [key for key in value if key not in properties], fill_rest, instead)

        return fill

    def elements(self, items: Mapping[str, Any]) -> Fill:
        """Compile a list."""
        fill_item, instead = self.rest(items)

        def fill(value: Any) -> None:
            if type(value) is not list:
                return
            if instead is not None:
                self.replace(value, range(len(value)), fill_item, instead)
            elif fill_item is not None:
                for item in value:
                    fill_item(item)

        return fill

    def rest(self, node: object) -> tuple[Fill | None, Any]:
        """Return how a map's values or a list's elements are filled, and what stands for null among them."""
        if not isinstance(node, Mapping):
            return None, None
        return self.node(node), None if node.get("nullable") else node.get("default")

    def take(self, count: int) -> None:
        """Count values that defaults bring; raises TooMany."""
        self.left -= count
        if self.left < 0:
            raise TooMany

    def replace(self, value: Any, places: Iterable[Any], fill: Fill | None, instead: Any) -> None:
        """Fill the values at some places of an object or a list, and put a default where null stands."""
        for place in places:
            if value[place] is None and instead is not None:
                self.take(size(instead))
                value[place] = copy_containers(instead)
            if fill is not None:
                fill(value[place])


def size(value: Any) -> int:
    """Return how many values a default has in it, itself included."""
    if isinstance(value, dict):
        return 1 + sum(map(size, value.values()))
    return 1 + sum(map(size, value)) if isinstance(value, list) else 1


def children(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the nodes of fields, of other values and of elements."""
    yield from (node.get("properties") or {}).values()
    for key in ("additionalProperties", "items"):
        if isinstance(child := node.get(key), Mapping):
            yield child
