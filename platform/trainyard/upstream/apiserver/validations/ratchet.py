"""Ratcheting: an update is forgiven what a rule finds in a part of the object that the update leaves alone.

Source: kubernetes/apiserver v0.35.4 pkg/cel/common/equality.go, maplist.go; apiextensions-apiserver v0.35.4
pkg/apiserver/schema/cel/validation.go (ratchetingOptions).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.upstream.apiserver.cel import values

Schema = Mapping[str, Any]


class Correlation:
    """A value, and the one at the same place before the update."""

    __slots__ = ("_before", "_same", "new", "old", "schema")

    def __init__(self, schema: Schema, new: Any, old: Any) -> None:
        self.schema = schema
        self.new = new
        self.old = old
        self._same: bool | None = None
        self._before: Counterparts | None = None

    def same(self) -> bool:
        """Whether nothing in it changed."""
        if self._same is None:
            self._same = is_unchanged(self.schema, self.new, self.old)
        return self._same

    def key(self, name: str) -> Correlation | None:
        """Return the field of a name, None where it was not there before."""
        if not isinstance(self.new, dict) or not isinstance(self.old, dict):
            return None
        if name not in self.new or name not in self.old:
            return None
        schema = field_schema(self.schema, name)
        return None if schema is None else Correlation(schema, self.new[name], self.old[name])

    def index(self, place: int) -> Correlation | None:
        """Return the element at a place, None where none of the same keys was there before."""
        items = self.schema.get("items")
        if not isinstance(items, Mapping) or not isinstance(self.old, list):
            return None
        if self._before is None:
            self._before = Counterparts(self.schema, self.old)
        old = self._before.of(self.new[place])
        return None if old is None else Correlation(items, self.new[place], old)


def field_schema(schema: Schema, name: str) -> Schema | None:
    """Return the schema of a field or of a map's values."""
    properties, additional = schema.get("properties"), schema.get("additionalProperties")
    found = properties.get(name) if isinstance(properties, Mapping) else None
    if isinstance(found, Mapping):
        return found
    return additional if isinstance(additional, Mapping) else None


def list_keys(schema: Schema) -> Sequence[str]:
    """Return the keys that tell elements of a map list apart; of other lists there are none."""
    return (schema.get("x-kubernetes-list-map-keys") or ()) if schema.get("x-kubernetes-list-type") == "map" else ()


class Counterparts:
    """The elements of a list before an update, by the keys that tell them apart; only map lists have such keys."""

    __slots__ = ("by_identity", "keys")

    def __init__(self, schema: Schema, old: Any) -> None:
        self.keys = list_keys(schema)
        self.by_identity: dict[tuple[Any, ...], Any] = {}
        if self.keys and isinstance(old, list):
            for element in reversed(old):
                if (found := identity(element, self.keys)) is not None:
                    self.by_identity[found] = element

    def of(self, element: Any) -> Any:
        """Return the element of the same keys, or None."""
        if not self.by_identity:
            return None
        wanted = identity(element, self.keys)
        return None if wanted is None else self.by_identity.get(wanted)


def identity(element: Any, keys: Sequence[str]) -> tuple[Any, ...] | None:
    """Return the values of an element's keys with their types, None where one is missing or no scalar."""
    if not isinstance(element, dict):
        return None
    found = [element.get(key) for key in keys]
    return (
        None
        if any(isinstance(part, dict | list | None) for part in found)
        else tuple((type(part), part) for part in found)
    )


def is_unchanged(schema: Schema | None, new: Any, old: Any) -> bool:
    """Compare two values: fields that the schema does not know count as changed, map lists may change their order."""
    if new is None or old is None:
        return new is old
    if isinstance(new, list) and isinstance(old, list):
        if len(new) != len(old):
            return False
        if schema is None or not list_keys(schema):
            return values.equal(new, old)
        items = schema.get("items")
        before = Counterparts(schema, old)
        return all((other := before.of(element)) is not None and is_unchanged(items, element, other) for element in new)
    if isinstance(new, dict) and isinstance(old, dict):
        if len(new) != len(old) or schema is None:
            return False
        return all(
            name in old and (below := field_schema(schema, name)) is not None and is_unchanged(below, entry, old[name])
            for name, entry in new.items()
        )
    return values.equal(new, old)
