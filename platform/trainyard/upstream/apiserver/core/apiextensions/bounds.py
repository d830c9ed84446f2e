"""Which bounds would make a rule cheap enough: those of lists, maps and texts that it looks at, and around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from trainyard.upstream.apiserver.cel.cost import Shape, shape, times
from trainyard.upstream.apiserver.core.apiextensions.nodes import INT_OR_STRING, properties
from trainyard.upstream.apiserver.core.shapes import Object, child, number
from trainyard.upstream.apiserver.problems import Path

_TRIED = (1024, 256, 64, 16, 4)
"""Bounds that are proposed, the largest that does first."""
_LOOKED_AT = 40
_NAMED = 3
_TIMES = frozenset({"date", "date-time", "duration"})


@dataclass(frozen=True, slots=True)
class Container:
    """A list or map around a node: its place from the schema's root, the keyword of its bound, and the bound."""

    path: Path
    keyword: str
    bound: int | None


@dataclass(frozen=True, slots=True)
class Around:
    """The lists and maps around a node, the outermost first; `path` is the node's own, from the schema's root."""

    path: Path = ()
    containers: tuple[Container, ...] = ()

    def into(self, schema: Object, *keys: str) -> Around:
        """Return the surroundings of a child of a node."""
        keyword = _holds(schema)
        here = () if keyword is None else (Container(self.path, keyword, _bound(schema, keyword)),)
        return Around((*self.path, *keys), (*self.containers, *here))

    def occurrences(self, sized: Shape) -> int:
        """Return how many such nodes an object may have: what a request can hold, where one container has no bound."""
        found = 1
        for container in self.containers:
            if container.bound is None:
                return sized.occurrences
            found = times(found, container.bound)
        return found

    def limited(self, chosen: frozenset[Path], bound: int) -> Around:
        """Return the same with a bound on some containers."""
        containers = (
            replace(container, bound=min(bound, bound if container.bound is None else container.bound))
            if container.path in chosen
            else container
            for container in self.containers
        )
        return replace(self, containers=tuple(containers))


Fits = Callable[[Around, Shape], bool]


def advice(schema: Object, around: Around, fits: Fits, *, root: bool) -> str:
    """Say what to bound so that a rule fits, or to simplify it where no bound does."""
    keywords = {container.path: container.keyword for container in around.containers}
    keywords |= dict(_sized(schema, around.path))
    places = list(keywords)[:_LOOKED_AT]

    def does(chosen: frozenset[Path], bound: int) -> bool:
        sized = shape(_limited(schema, around.path, chosen, bound), root=root)
        return sized is not None and fits(around.limited(chosen, bound), sized)

    for bound in _TRIED:
        chosen = frozenset(places)
        if does(chosen, bound):
            for place in places:
                if does(chosen - {place}, bound):
                    chosen -= {place}
            named = [f"{keywords[place]}: {bound} on {spell_path(place)}" for place in places if place in chosen]
            more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
            return f"set {', '.join(named[:_NAMED])}{more}"
    return "simplify it, no bound is small enough"


def spell_path(path: Path) -> str:
    """Spell a place of a schema as the field of an object."""
    found, keys = "", iter(path)
    for key in keys:
        if key == "properties":
            found += f".{next(keys)}"
        else:
            found += "[]" if key == "items" else ".*"
    return found.removeprefix(".") or "the object"


def _holds(schema: Object) -> str | None:
    """Return the keyword that bounds how many children a node has, None where it has each once."""
    if schema.get("type") == "array":
        return "maxItems"
    return (
        "maxProperties" if schema.get("type") == "object" and schema.get("additionalProperties") is not None else None
    )


def _bound(schema: Object, keyword: str) -> int | None:
    found = number(schema, keyword)
    return None if found is None else max(0, found)


def _sized(schema: Object, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the lists, maps and texts at and beneath a node, with the keyword that bounds each."""
    if keyword := _keyword(schema):
        yield path, keyword
    for keys, below in _children(schema):
        yield from _sized(below, (*path, *keys))


def _keyword(schema: Object) -> str | None:
    if schema.get(INT_OR_STRING) is True:
        return "maxLength"
    if schema.get("type") == "string":
        return None if schema.get("format") in _TIMES or schema.get("enum") else "maxLength"
    return _holds(schema)


def _children(schema: Object) -> Iterator[tuple[Path, Object]]:
    for keyword in ("items", "additionalProperties"):
        if (below := child(schema, keyword)) is not None:
            yield (keyword,), below
    for name, below in properties(schema):
        yield ("properties", name), below


def _limited(schema: Object, path: Path, chosen: frozenset[Path], bound: int) -> Object:
    """Return a schema with a bound on some nodes."""
    limited = dict(schema)
    if path in chosen and (keyword := _keyword(schema)):
        stated = _bound(schema, keyword)
        limited[keyword] = bound if stated is None else min(bound, stated)
    for keys, below in _children(schema):
        found = _limited(below, (*path, *keys), chosen, bound)
        if keys[0] == "properties":
            limited["properties"] = {**limited["properties"], keys[1]: found}
        else:
            limited[str(keys[0])] = found
    return limited
