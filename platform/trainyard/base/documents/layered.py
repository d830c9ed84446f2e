"""A document over others: its value is theirs with its own over it, and each field is where it was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.documents.positions import Document
from trainyard.base.findings import Location, Path


@dataclass(frozen=True, eq=False, slots=True)
class Layered(Document):
    """A document whose value has fields of other documents; `layers` are itself and those below, the nearest first."""

    layers: tuple[Document, ...] = field(default=(), repr=False)

    def location(self, path: Path = (), *, key: bool = False) -> Location:
        """Return where the value at the path is written, in the file of the nearest document that has it."""
        owner, nearest = self.owner(path)
        return owner.location(nearest, key=key)

    def within(self, path: Path, part: str) -> Location:
        """Return where a part of the text at the path is written."""
        owner, nearest = self.owner(path)
        return owner.within(nearest, part)

    def owner(self, path: Path) -> tuple[Document, Path]:
        """Return the document that says the value at a path, and the path; else those of its nearest ancestor."""
        for end in range(len(path), 0, -1):
            for layer in self.layers:
                if has(layer.value, path[:end]):
                    return layer, path[:end]
        return self.layers[0], ()


def outermost(document: Layered, at: Path = ()) -> Iterator[Path]:
    """Yield the paths of values that other documents say, without those below them."""
    value = document.value
    for part in at:
        value = value[part]
    for key, item in value.items():
        path = (*at, key)
        if not has(document.layers[0].value, path):
            yield path
        elif isinstance(item, Mapping):
            yield from outermost(document, path)


def idle_nulls(document: Layered, own: frozenset[str]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the paths of nulls in the nearest document that remove nothing, each with the map of what it could remove.

    The fields `own` are not handed down, so that nothing is said of them.
    """
    nearest, *below = document.layers
    said = {key: item for key, item in nearest.value.items() if key not in own}
    yield from nulls(said, handed_down(below, own))


def nulls(over: Mapping[str, Any], below: Any, at: Path = ()) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the paths of nulls over nothing, each with the map below it."""
    there = below if isinstance(below, Mapping) else {}
    for key, item in over.items():
        if item is None and key not in there:
            yield (*at, key), there
        elif isinstance(item, Mapping):
            yield from nulls(item, there.get(key), (*at, key))


def layer(documents: Sequence[Document], *, own: frozenset[str]) -> Layered:
    """Return documents as one, the nearest first; the fields `own` are not handed down."""
    nearest, *below = documents
    merged = merge(handed_down(below, own), nearest.value)
    return Layered(nearest.file, nearest.index, merged, nearest.text, nearest.first_line, layers=tuple(documents))


def handed_down(documents: Sequence[Document], own: frozenset[str]) -> Any:
    """Return the value of documents together, the nearest first, without the fields that are `own`."""
    value: Any = {}
    for document in reversed(documents):
        value = merge(value, {name: item for name, item in document.value.items() if name not in own})
    return value


def merge(below: Any, over: Any) -> Any:
    """Return a value over another: maps by key, where null removes a key; lists and all others replace.

    Keys keep the order of the value above, since the order of pools in a quota is that in which Kueue tries them.
    """
    if not isinstance(over, Mapping):
        return over
    base = below if isinstance(below, Mapping) else {}
    merged = {key: merge(base.get(key), item) for key, item in over.items() if item is not None}
    return {**merged, **{key: item for key, item in base.items() if key not in over}}


def has(value: Any, path: Path) -> bool:
    """Whether a value has something at a path."""
    for part in path:
        keyed = isinstance(value, Mapping) and part in value
        if not keyed and not (isinstance(value, list) and isinstance(part, int) and 0 <= part < len(value)):
            return False
        value = value[part]
    return True
