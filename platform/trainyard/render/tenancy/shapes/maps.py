"""Shapes of maps and lists: which fields there are, each of its shape."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.findings import Path
from trainyard.render.tenancy.shapes.base import YES, About, Breach, Shape, field_of
from trainyard.render.tenancy.shapes.values import ANY, Condition


@dataclass(frozen=True, slots=True)
class Fields(Shape):
    """A map of which only some fields may be there, each of its shape; null is as good as absent."""

    what: str
    """Whose fields they are, in words."""
    fields: Mapping[str, Shape]
    about: Mapping[str, str] = field(default_factory=dict)
    """What fields are about, where that is not what the map is about."""
    required: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Refuse unknown fields, and look into the others."""
        if not isinstance(value, Mapping):
            yield Breach(subject, path, f"{field_of(path)} must be a map; change it")
            return
        for key, inner in value.items():
            shape, of = self.fields.get(key), self.about.get(key, subject)
            if shape is None:
                message = f"{str(key)[:63]} is not a field that {self.what} of a run may set; remove it"
                yield Breach(of, (*path, key), message)
            elif shape is not ANY and inner is not None:
                yield from shape.breaches(inner, (*path, key), of, about)
        for key in self.required:
            if value.get(key) is None:
                message = f"{key} is missing, but {self.what} of a run needs it; add it"
                yield Breach(self.about.get(key, subject), path, message)
        for condition in self.conditions:
            yield from condition.breaches(value, path, subject, about)

    def parts(self, x: str, depth: int = 0) -> Iterator[tuple[str, str]]:
        """Yield the conditions one by one, each with what it is about; empty where that is what the map is about."""
        key = f"k{depth}"
        names = ", ".join(json.dumps(one_field) for one_field in self.fields)
        yield "", f"{x}.all({key}, {key} in [{names}])"
        for name, shape in self.fields.items():
            inner = shape.cel(f"{x}.{name}", depth + 1)
            there = f"has({x}.{name}) && {x}.{name} != null"
            if inner == "false":
                yield self.about.get(name, ""), f"!({there})"
            elif inner != YES:
                yield self.about.get(name, ""), f"(!({there}) || {inner})"
            if name in self.required:
                yield self.about.get(name, ""), f"({there})"
        for condition in self.conditions:
            yield condition.subject or "", condition.cel(x, depth)

    def cel(self, x: str, depth: int = 0) -> str:
        """Return all conditions together."""
        return "(" + " && ".join(text for _, text in self.parts(x, depth)) + ")"


def known_shape(what: str, *free: str, about: Mapping[str, str] | None = None, **more: Shape) -> Fields:
    """Return the shape of fields that say nothing beyond the run, and of those that do."""
    return Fields(what, {**dict.fromkeys(free, ANY), **more}, about or {})


@dataclass(frozen=True, slots=True)
class Items(Shape):
    """A list, every item of a shape."""

    item: Shape

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Look into every item."""
        if not isinstance(value, list):
            yield Breach(subject, path, f"{field_of(path)} must be a list; change it")
            return
        for index, element in enumerate(value):
            yield from self.item.breaches(element, (*path, index), subject, about)

    def cel(self, x: str, depth: int = 0) -> str:
        """Ask the condition of every item."""
        inner = self.item.cel(f"v{depth}", depth + 1)
        return YES if inner == YES else f"{x}.all(v{depth}, {inner})"


@dataclass(frozen=True, slots=True)
class Values(Shape):
    """A map with any keys, every value of a shape."""

    value: Shape

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Look into every value."""
        if not isinstance(value, Mapping):
            yield Breach(subject, path, f"{field_of(path)} must be a map; change it")
            return
        for key, entry in value.items():
            yield from self.value.breaches(entry, (*path, key), subject, about)

    def cel(self, x: str, depth: int = 0) -> str:
        """Ask the condition of every value."""
        inner = self.value.cel(f"{x}[v{depth}]", depth + 1)
        return YES if inner == YES else f"{x}.all(v{depth}, {inner})"


@dataclass(frozen=True, slots=True)
class Loose(Shape):
    """A map of which one field has a shape, and the others are as they are."""

    name: str
    shape: Shape

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Look into the field."""
        found = value.get(self.name) if isinstance(value, Mapping) else None
        if found is not None:
            yield from self.shape.breaches(found, (*path, self.name), subject, about)

    def cel(self, x: str, depth: int = 0) -> str:
        """Leave it to the policy on pods."""
        inner = self.shape.cel(f"{x}.{self.name}", depth)
        return inner if inner == YES else f"(!has({x}.{self.name}) || {inner})"
