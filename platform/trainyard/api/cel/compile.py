"""Turns a checked expression into Python closures.

Where types are known at compile time, a call goes straight to its function; elsewhere the values choose the form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trainyard.api.cel import access, folds, logic, values
from trainyard.api.cel.access import Step
from trainyard.api.cel.calls import direct, dispatched, vague
from trainyard.api.cel.check import TYPE_NAMES
from trainyard.api.cel.checked import Checked
from trainyard.api.cel.errors import CelError, no_such_overload
from trainyard.api.cel.library.operators import COMPARISONS, index
from trainyard.api.cel.logic import Frame, Run
from trainyard.api.cel.syntax import Bind, Call, Constant, Fold, FoldKind, Ident, ListLiteral, MapLiteral, Node, Select
from trainyard.api.cel.types import ObjectType, Type, is_optional
from trainyard.api.cel.values import Optional, TypeValue

PLAIN = frozenset({"bool", "int", "string", "bytes", "timestamp", "duration"})
"""Kinds whose values Python compares as CEL does, if both sides are of the same."""

ROUND_COSTS: dict[FoldKind, int] = {
    "all": 3,
    "exists": 4,
    "existsOne": 0,
    "list": 12,
    "map": 30,
    "entries": 30,
    "sort": 12,
}
"""What a round of a macro costs beside its body, about as cel-go counts it."""

FREE = frozenset({"_&&_", "_||_", "!_", "_?_:_"})
"""Operators that cost nothing themselves."""


class Compiler:
    """Compiles one expression; `slots` are where the frame holds the declared variables."""

    def __init__(self, checked: Checked, slots: Mapping[str, int]) -> None:
        self.checked = checked
        self.slots = slots
        self.locals: dict[str, int] = {}
        self.size = len(slots) + 1

    def run(self, node: Node) -> Run:
        """Return the closure that evaluates a node."""
        return _BUILD[type(node)](self, node)

    def type(self, node: Node) -> Type:
        """Return the type that the checker found."""
        return self.checked.types[node.id]

    def constant(self, node: Constant) -> Run:
        """Return the value of a literal."""
        value = node.value
        return lambda _: value

    def ident(self, node: Ident) -> Run:
        """Read a name."""
        if node.name in self.locals:
            return access.local(self.locals[node.name])
        if node.id in self.checked.qualified:
            return self.named_type(self.checked.qualified[node.id])
        name = node.name.removeprefix(".")
        return access.variable(self.slots[name], name)

    def named_type(self, name: str) -> Run:
        """Give a type as a value."""
        value = TypeValue(TYPE_NAMES[name].name)
        return lambda _: value

    def step(self, operand: Node, name: str) -> Step:
        """Say which key a field name stands for."""
        given = self.type(operand)
        if is_optional(given):
            given = given.element
        if isinstance(given, ObjectType) and (found := given.find(name)):
            return Step(found.key, given.nullable_fields)
        return Step(name, null_is_absent=False)

    def select(self, node: Select) -> Run:
        """Read a field, or ask whether it is there."""
        if node.id in self.checked.qualified:
            name = self.checked.qualified[node.id]
            return access.variable(self.slots[name], name) if name in self.slots else self.named_type(name)
        step = self.step(node.operand, node.field)
        build = access.presence if node.test else access.selection
        return build(self.run(node.operand), step)

    def call(self, node: Call) -> Run:
        """Call a function."""
        if node.function == "_?._":
            operand, name = node.arguments
            assert isinstance(name, Constant)
            return access.optional_selection(self.run(operand), self.step(operand, name.value))
        nodes = node.arguments if node.target is None or node.target.id in self.checked.qualified else node.children
        if (special := self.special(node, nodes)) is not None:
            return special
        overloads = self.checked.overloads[node.id]
        arguments = [self.run(each) for each in nodes]
        sure = len(overloads) == 1 and not any(
            vague(self.type(each)) and parameter.kind not in {"dyn", "param"}
            for each, parameter in zip(nodes, overloads[0].parameters, strict=True)
        )
        if sure:
            return direct(overloads[0].run, arguments)
        return direct(index, arguments) if node.function == "_[_]" else dispatched(overloads, arguments)

    def special(self, node: Call, nodes: Sequence[Node]) -> Run | None:
        """Build the operators that choose what they evaluate, and the common ones without a detour."""
        function = node.function
        if function in {"_&&_", "_||_"}:
            return logic.junction(self.run(nodes[0]), self.run(nodes[1]), decisive=function == "_||_")
        if function == "_?_:_":
            return logic.conditional(*map(self.run, nodes))
        if function == "!_":
            return logic.negation(self.run(nodes[0]))
        if function in {"or", "orValue"} and node.target is not None:
            return logic.alternative(self.run(nodes[0]), self.run(nodes[1]), unwrap=function == "orValue")
        if function in {"_==_", "_!=_"}:
            return self.equality(nodes[0], nodes[1], wanted=function == "_==_")
        if function in COMPARISONS:
            return direct(self.comparison(function, nodes), [self.run(each) for each in nodes])
        if function == "@in":
            return self.membership(nodes[0], nodes[1])
        return None

    def equality(self, one: Node, two: Node, *, wanted: bool) -> Run:
        """Compare two values, quickly where both are simple."""
        left, right = self.run(one), self.run(two)
        kinds = {self.type(one).kind, self.type(two).kind}
        if len(kinds) == 1 and kinds <= PLAIN:
            if wanted:
                return lambda frame: left(frame) == right(frame)
            return lambda frame: left(frame) != right(frame)
        return lambda frame: values.equal(left(frame), right(frame)) is wanted

    def comparison(self, function: str, nodes: Sequence[Node]) -> Callable[[Any, Any], bool]:
        """Choose how two values are ordered."""
        kinds = {self.type(each).kind for each in nodes}
        return _FAST[function] if len(kinds) == 1 and kinds <= PLAIN else COMPARISONS[function]

    def membership(self, one: Node, two: Node) -> Run | None:
        """Build `in` for a list of constant texts; the rest is a function like others."""
        if self.type(one).kind != "string" or not isinstance(two, ListLiteral) or two.optional:
            return None
        if not all(isinstance(each, Constant) and isinstance(each.value, str) for each in two.elements):
            return None
        wanted = self.run(one)
        known = frozenset(each.value for each in two.elements if isinstance(each, Constant))
        return lambda frame: wanted(frame) in known

    def list(self, node: ListLiteral) -> Run:
        """Build a list."""
        elements = [self.run(each) for each in node.elements]
        if not node.optional:
            return lambda frame: [each(frame) for each in elements]

        def run(frame: Frame) -> list[Any]:
            found = []
            for place, each in enumerate(elements):
                value = each(frame)
                if place in node.optional:
                    if not isinstance(value, Optional):
                        raise no_such_overload()
                    if not value.present:
                        continue
                    value = value.value
                found.append(value)
            return found

        return run

    def map(self, node: MapLiteral) -> Run:
        """Build a map; of a key that comes twice the last counts."""
        pairs = [(self.run(entry.key), self.run(entry.value), entry.optional) for entry in node.entries]

        def run(frame: Frame) -> dict[Any, Any]:
            found: dict[Any, Any] = {}
            for key_of, value_of, is_optional_entry in pairs:
                key, value = key_of(frame), value_of(frame)
                if is_optional_entry:
                    if not isinstance(value, Optional):
                        raise no_such_overload()
                    if not value.present:
                        continue
                    value = value.value
                if not isinstance(key, str | int):
                    raise CelError(f"unsupported key type: {values.type_name(key)}")
                found[key] = value
            return found

        return run

    def bound(self, names: Sequence[str]) -> tuple[tuple[int, ...], dict[str, int]]:
        """Give names a place in the frame; return the places, and what the names meant before."""
        outer = self.locals
        slots = tuple(range(self.size, self.size + len(names)))
        self.size += len(names)
        self.locals = {**outer, **dict(zip(names, slots, strict=True))}
        return slots, outer

    def bind(self, node: Bind) -> Run:
        """Give a value a local name."""
        value = self.run(node.value)
        (slot,), outer = self.bound([node.variable])
        body = self.run(node.body)
        self.locals = outer

        def run(frame: Frame) -> Any:
            frame[slot] = value(frame)
            return body(frame)

        return run

    def fold(self, node: Fold) -> Run:
        """Build a macro over a list or a map."""
        source = self.run(node.source)
        slots, outer = self.bound(node.variables)
        condition = None if node.condition is None else self.run(node.condition)
        body = self.run(node.body)
        self.locals = outer
        parts = (node.body,) if node.condition is None else (node.condition, node.body)
        round_cost = ROUND_COSTS[node.kind] if node.condition is None else 1
        over = folds.rounds(source, slots, round_cost + sum(map(cost, parts)))
        return folds.build(node.kind, over, slots, condition, body)


def cost(node: Node) -> int:
    """Estimate what evaluating a node costs: one for each name, field and call in it, nothing for `has`."""
    if isinstance(node, Select) and node.test:
        return 0
    own = isinstance(node, Ident | Select) or (isinstance(node, Call) and node.function not in FREE)
    return own + sum(map(cost, node.children))


_FAST: dict[str, Callable[[Any, Any], bool]] = {
    "_<_": lambda one, two: one < two,
    "_<=_": lambda one, two: one <= two,
    "_>_": lambda one, two: one > two,
    "_>=_": lambda one, two: one >= two,
}
_BUILD: dict[type[Node], Callable[[Compiler, Any], Run]] = {
    Constant: Compiler.constant,
    Ident: Compiler.ident,
    Select: Compiler.select,
    Call: Compiler.call,
    ListLiteral: Compiler.list,
    MapLiteral: Compiler.map,
    Bind: Compiler.bind,
    Fold: Compiler.fold,
}
