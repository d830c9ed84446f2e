"""An expression's syntax tree: nodes, as the checker and the compiler walk them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A part of an expression; `id` is unique within it, `offset` counts characters from its start."""

    id: int
    offset: int

    @property
    def children(self) -> tuple[Node, ...]:
        """The nodes directly beneath, in the order in which they are written."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant(Node):
    """A literal: null, bool, int, UInt, float, str or bytes."""

    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Ident(Node):
    """A name."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Select(Node):
    """`operand.field`, or `has(operand.field)` where `test` is set."""

    operand: Node
    field: str
    test: bool

    @property
    def children(self) -> tuple[Node, ...]:
        """The operand."""
        return (self.operand,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Node):
    """A function or an operator (`_==_`, `@in`); `target` is what a method is called on."""

    function: str
    target: Node | None
    arguments: tuple[Node, ...]

    @property
    def children(self) -> tuple[Node, ...]:
        """The target, then the arguments."""
        return self.arguments if self.target is None else (self.target, *self.arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListLiteral(Node):
    """`[a, ?b]`; `optional` holds the places of elements that may be absent."""

    elements: tuple[Node, ...]
    optional: frozenset[int] = frozenset()

    @property
    def children(self) -> tuple[Node, ...]:
        """The elements."""
        return self.elements


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One `key: value` of a literal; `optional` where it is written `?key`."""

    key: Node
    value: Node
    optional: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MapLiteral(Node):
    """`{key: value}`; with `name` the literal of an object type, which Kubernetes offers in mutating policies alone."""

    entries: tuple[Entry, ...]
    name: str = ""

    @property
    def children(self) -> tuple[Node, ...]:
        """Keys and values, in turn."""
        return tuple(node for entry in self.entries for node in (entry.key, entry.value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bind(Node):
    """A local name for a value: what `optMap` and `optFlatMap` expand to."""

    variable: str
    value: Node
    body: Node

    @property
    def children(self) -> tuple[Node, ...]:
        """The value, then the body."""
        return (self.value, self.body)


FoldKind = Literal["all", "exists", "existsOne", "list", "map", "entries", "sort"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold(Node):
    """A macro over a list's elements or a map's keys; with two variables also their places or values.

    `list` stands for `map`, `filter` and `transformList`, `map` for `transformMap`, `entries` for
    `transformMapEntry`, `sort` for `sortBy`. `condition` chooses elements where the macro has a filter.
    """

    kind: FoldKind
    source: Node
    variables: tuple[str, ...]
    body: Node
    condition: Node | None = None

    @property
    def children(self) -> tuple[Node, ...]:
        """The source, the condition if there is one, and the body."""
        return (self.source, self.body) if self.condition is None else (self.source, self.condition, self.body)


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all beneath it."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(current.children))
