"""Sets the other way round: what follows from their order is told by it, where another hash seed may not tell."""

from __future__ import annotations

import ast
import builtins
from typing import Any

NUMBERS = (int, float, complex)
"""What has one hash in every process (CPython, Objects/longobject.c and floatobject.c)."""

SETS = (("__set__", set), ("__frozenset__", frozenset))
RESULTS = (
    *("__and__", "__or__", "__sub__", "__xor__", "__rand__", "__ror__", "__rsub__", "__rxor__"),
    *("copy", "union", "intersection", "difference", "symmetric_difference"),
)


class Turn(ast.NodeTransformer):
    """Makes a program's sets in braces calls of what its builtins call a set."""

    def visit_Set(self, node: ast.Set) -> ast.AST:
        """Make a call of `{a, b}`."""
        self.generic_visit(node)
        return self.called(node, ast.List(node.elts, ast.Load()))

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        """Make a call of `{a for a in b}`."""
        self.generic_visit(node)
        return self.called(node, ast.ListComp(node.elt, node.generators))

    def called(self, node: ast.expr, items: ast.expr) -> ast.AST:
        """Return the call in a node's place."""
        call = ast.Call(ast.Name(SETS[0][0], ast.Load()), [items], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


def names() -> dict[str, Any]:
    """Return the builtins of a program whose sets are turned round, with other hashes and identities."""
    stand = {hidden: turned_set(kind) for hidden, kind in SETS}
    other = {"set": stand["__set__"], "frozenset": stand["__frozenset__"], "hash": turned_hash, "id": identity}
    return {**vars(builtins), **stand, **other}


def turned_hash(value: object) -> int:
    """Return another hash, where another process would."""
    return hash(value) if is_settled(value) else ~hash(value)


def identity(value: object) -> int:
    """Return another identity, different for different things."""
    return id(value) + 0x7F3211


def is_settled(value: object) -> bool:
    """Whether a value has one hash in every process."""
    if isinstance(value, (tuple, frozenset)):
        return all(map(is_settled, value))
    return isinstance(value, NUMBERS)


def turned_set(kind: type) -> type:
    """Return a set that iterates the other way round where its order is not settled."""

    def ordered(self: Any) -> list[Any]:
        items = list(kind.__iter__(self))  # type: ignore[attr-defined]
        return items if all(map(is_settled, items)) else items[::-1]

    def shown(self: Any) -> str:
        text = f"{{{', '.join(map(repr, ordered(self)))}}}" if self else ""
        return text if text and kind is set else f"{kind.__name__}({text})"

    def taken(self: Any) -> Any:
        for item in ordered(self):
            self.remove(item)
            return item
        raise KeyError("pop from an empty set")

    made: dict[str, Any] = {"__iter__": lambda self: iter(ordered(self)), "__repr__": shown, "__slots__": ()}
    made |= {"pop": taken} if kind is set else {}
    made |= {name: same(getattr(kind, name), kind) for name in RESULTS}
    RESULT[kind] = stand_in_class(kind, **made)
    return RESULT[kind]


def stand_in_class(kind: type, **made: Any) -> type:
    """Return a class with other methods that stands in for a type: whatever is of the type is an instance of it."""

    class Seeming(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, kind)

    return Seeming(kind.__name__, (kind,), made)


RESULT: dict[type, type] = {}
"""What stands for each kind of set."""


def same(method: Any, kind: type) -> Any:
    """Return a method of sets whose result is turned round too."""

    def called(self: Any, *others: Any) -> Any:
        found = method(self, *others)
        return RESULT[kind](found) if isinstance(found, kind) else found

    return called
