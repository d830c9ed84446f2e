"""An expression whose types agree, and what can be said of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from trainyard.upstream.apiserver.cel import types
from trainyard.upstream.apiserver.cel.functions import Overload
from trainyard.upstream.apiserver.cel.syntax import Fold, Ident, Node, Select, walk
from trainyard.upstream.apiserver.cel.types import Type


@dataclass(slots=True)
class Checked:
    """An expression whose types agree."""

    root: Node
    type: Type
    types: dict[int, Type] = field(default_factory=dict)
    """The type of each node, by id."""
    overloads: dict[int, tuple[Overload, ...]] = field(default_factory=dict)
    """The forms that each call may take: several where types are known at run time alone."""
    qualified: dict[int, str] = field(default_factory=dict)
    """Nodes that are a name of their own: of a type, a variable with dots, or the namespace of a function."""
    variables: set[str] = field(default_factory=set)
    """The declared variables that the expression refers to."""


def dotted_name(node: Node) -> str | None:
    """Return a chain of names as text, None where anything else is in it."""
    parts: list[str] = []
    while isinstance(node, Select) and not node.test:
        parts.append(node.field)
        node = node.operand
    return ".".join([node.name, *reversed(parts)]) if isinstance(node, Ident) else None


def exact(result: Type, wanted: Iterable[Type]) -> bool:
    """Whether an expression's type is one of those asked for; `dyn` among them takes any."""
    return any(type_.kind == "dyn" or type_ == result for type_ in wanted)


def takes_plain_json(checked: Checked) -> bool:
    """Whether no part of an expression sees what a schema reads otherwise than as JSON: times, sets, doubles.

    Reading a field of an object, asking for one and going through elements are the same either way.
    """
    nodes = list(walk(checked.root))
    harmless = {node.operand.id for node in nodes if isinstance(node, Select)}
    harmless |= {node.source.id for node in nodes if isinstance(node, Fold)}
    found = (checked.types[node.id] for node in nodes if node.id in checked.types and node.id not in harmless)
    return not any(map(types.needs_conversion, found))
