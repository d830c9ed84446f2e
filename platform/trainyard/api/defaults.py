"""Defaults that a schema states, put into an object before it is judged.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/defaulting/algorithm.go. What core kinds are given
by Go code is `core.defaults`' part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from trainyard.api.schemas import TYPE
from trainyard.api.served import Kind

Fill = Callable[[Any], Any]


def apply(value: Any, kind: Kind) -> Any:
    """Return a copy of an object with its defaults; a null that is no value and has a default gives way to it."""
    return compiled(kind)(value)


@lru_cache(maxsize=1024)
def compiled(kind: Kind) -> Fill:
    """Compile the defaults of a kind's schema."""
    return Filler().node(kind.schema)


class Filler:
    """Compiles the defaults of a schema; a Go type once, for types contain themselves."""

    def __init__(self) -> None:
        self.types: dict[str, Fill] = {}

    def node(self, node: Mapping[str, Any]) -> Fill:
        """Compile the defaults at and below a node."""
        go_type = node.get(TYPE)
        if go_type is not None and "default" not in node:
            if go_type not in self.types:
                self.types[go_type] = copied
                self.types[go_type] = self.container(node)
            return self.types[go_type]
        return self.container(node)

    def container(self, node: Mapping[str, Any]) -> Fill:
        """Compile an object or a list; what is neither holds no defaults."""
        properties = node.get("properties") or {}
        additional, items = node.get("additionalProperties"), node.get("items")
        rest = additional if isinstance(additional, Mapping) else None
        element = items if isinstance(items, Mapping) else None
        given = {name: each["default"] for name, each in properties.items() if each.get("default") is not None}
        over_null = {name for name in given if not properties[name].get("nullable")}
        fill_rest = replaced(rest, self.node(rest)) if rest is not None else copied
        fill_element = replaced(element, self.node(element)) if element is not None else copied
        fills: dict[str, Fill] = {}

        def fill_field(key: str, item: Any) -> Any:
            if (fill := fills.get(key)) is None:
                fill = fills[key] = self.node(properties[key])
            return fill(given[key] if item is None and key in over_null else item)

        def fill(value: Any) -> Any:
            if type(value) is dict:
                out = {
                    key: fill_field(key, item) if key in properties else fill_rest(item) for key, item in value.items()
                }
                for key, default in given.items():
                    if key not in value:
                        out[key] = fill_field(key, default)
                return out
            return [fill_element(item) for item in value] if type(value) is list else value

        return fill


def copied(value: Any) -> Any:
    """Copy a value that no schema speaks of."""
    if type(value) is dict:
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if type(value) is list else value


def replaced(node: Mapping[str, Any], fill: Fill) -> Fill:
    """Let the default of a map's values or a list's elements take the place of null."""
    default = node.get("default")
    if default is None or node.get("nullable"):
        return fill
    return lambda value: fill(default if value is None else value)
