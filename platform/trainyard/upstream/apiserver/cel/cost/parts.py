"""What the estimate knows of a part of an expression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from trainyard.upstream.apiserver.cel.cost.paths import Path
from trainyard.upstream.apiserver.cel.cost.ranges import Range
from trainyard.upstream.apiserver.cel.syntax import Node
from trainyard.upstream.apiserver.cel.types import Type


@dataclass(frozen=True, slots=True)
class Entries:
    """How large the keys and values of a list or map may be."""

    kind: str
    key: Range
    value: Range

    def __or__(self, other: Entries | None) -> Entries | None:
        """Return the sizes of what may be either; None where nothing is known of one."""
        return None if other is None else Entries(self.kind, self.key | other.key, self.value | other.value)


@dataclass(frozen=True, slots=True)
class Local:
    """A name that a macro gives."""

    path: Path
    size: Range | None
    entries: Entries | None


@dataclass(frozen=True, slots=True)
class Part:
    """An argument of a call: where it comes from, its type, and its size where that is known."""

    path: Path
    type: Type
    node: Node
    size: Range | None


class Known(Protocol):
    """What a macro and a call ask of the estimate."""

    entries: dict[int, Entries]
    sizes: dict[int, Range]

    def cost(self, node: Node) -> Range:
        """Return the cost of a part."""
        ...

    def path(self, node: Node) -> Path:
        """Return where a part comes from."""
        ...

    def type(self, node: Node) -> Type:
        """Return the type of a part."""
        ...

    def size(self, node: Node) -> Range | None:
        """Return the size of a part's value, None where nothing is known."""
        ...

    def size_or_any(self, node: Node) -> Range:
        """Return the size of a part's value, or that it may have any."""
        ...

    def size_at(self, path: Path) -> Range | None:
        """Return the size of what the schema has at a path."""
        ...

    def entries_of(self, node: Node) -> Entries | None:
        """Return the sizes of what is in a part's value."""
        ...

    def push(self, name: str, local: Local) -> None:
        """Begin the scope of a name."""
        ...

    def pop(self, name: str) -> None:
        """End the scope of a name."""
        ...

    def iterated(self, source: Node, *, step: str, key: bool) -> Local:
        """Return the path and size of a macro's variable."""
        ...

    def container(self, source: Node) -> str:
        """Return whether a macro goes through a list or something else."""
        ...
