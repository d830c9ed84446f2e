"""Turns a checked expression into a plan: plain data in which every type is decided, so that it can be kept.

A plan is a list of what to do and on what. Where types are known at compile time, a call names its one function;
elsewhere the forms among which the values choose. `build` makes closures of plans.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trainyard.upstream.apiserver.cel.build import Plan
from trainyard.upstream.apiserver.cel.check import TYPE_NAMES
from trainyard.upstream.apiserver.cel.checked import Checked
from trainyard.upstream.apiserver.cel.library import reference
from trainyard.upstream.apiserver.cel.syntax import (
    Bind,
    Call,
    Constant,
    Fold,
    FoldKind,
    Ident,
    ListLiteral,
    MapLiteral,
    Node,
    Select,
)
from trainyard.upstream.apiserver.cel.types import ObjectType, Type, is_optional
from trainyard.upstream.apiserver.cel.values import UInt

PLAIN = frozenset({"bool", "int", "string", "bytes", "timestamp", "duration"})
"""Kinds whose values Python compares as CEL does, if both sides are of the same."""

COMPARISONS = frozenset({"_<_", "_<=_", "_>_", "_>=_"})

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
        self.costs: dict[int, int] = {}
        """What evaluating a node costs, by its identity."""

    def plan(self, node: Node) -> Plan:
        """Return the plan of a node."""
        return _PLANS[type(node)](self, node)

    def type(self, node: Node) -> Type:
        """Return the type that the checker found."""
        return self.checked.types[node.id]

    def constant(self, node: Constant) -> Plan:
        """Give the value of a literal; what JSON does not have is spelled."""
        value = node.value
        if isinstance(value, UInt):
            return ["constant", int(value), "uint"]
        if isinstance(value, bytes):
            return ["constant", value.hex(), "bytes"]
        return ["constant", repr(value), "double"] if isinstance(value, float) else ["constant", value]

    def ident(self, node: Ident) -> Plan:
        """Read a name."""
        if node.name in self.locals:
            return ["local", self.locals[node.name]]
        if node.id in self.checked.qualified:
            return ["type", TYPE_NAMES[self.checked.qualified[node.id]].name]
        name = node.name.removeprefix(".")
        return ["variable", self.slots[name], name]

    def step(self, operand: Node, name: str) -> tuple[str, bool]:
        """Return which key a field name stands for, and whether null counts as absent there."""
        given = self.type(operand)
        if is_optional(given):
            given = given.element
        if isinstance(given, ObjectType) and (found := given.find(name)):
            return found.key, given.nullable_fields
        return name, False

    def select(self, node: Select) -> Plan:
        """Read a field, or ask whether it is there."""
        if node.id in self.checked.qualified:
            name = self.checked.qualified[node.id]
            return ["variable", self.slots[name], name] if name in self.slots else ["type", TYPE_NAMES[name].name]
        return ["has" if node.test else "field", self.plan(node.operand), *self.step(node.operand, node.field)]

    def call(self, node: Call) -> Plan:
        """Call a function."""
        if node.function == "_?._":
            operand, name = node.arguments
            assert isinstance(name, Constant)
            return ["optional field", self.plan(operand), *self.step(operand, name.value)]
        nodes = node.arguments if node.target is None or self.is_namespace(node.target) else node.children
        if (special := self.special(node, nodes)) is not None:
            return special
        overloads = self.checked.overloads[node.id]
        arguments = [self.plan(one_node) for one_node in nodes]
        sure = len(overloads) == 1 and not any(
            vague(self.type(one_node)) and parameter.kind not in {"dyn", "param"}
            for one_node, parameter in zip(nodes, overloads[0].parameters, strict=True)
        )
        if node.function == "_[_]" and not sure:
            return ["index", *arguments]
        return ["call" if sure else "dispatched", [reference(overload) for overload in overloads], arguments]

    def is_namespace(self, target: Node) -> bool:
        """Whether what a function is called on is a part of its name, rather than a value."""
        name = self.checked.qualified.get(target.id)
        return name is not None and name not in self.slots and name not in TYPE_NAMES

    def special(self, node: Call, nodes: Sequence[Node]) -> Plan | None:
        """Plan the operators that choose what they evaluate, and the common ones without a detour."""
        function = node.function
        if function in {"_&&_", "_||_"}:
            return ["junction", self.plan(nodes[0]), self.plan(nodes[1]), function == "_||_"]
        if function == "_?_:_":
            return ["conditional", *map(self.plan, nodes)]
        if function == "!_":
            return ["negation", self.plan(nodes[0])]
        if function in {"or", "orValue"} and node.target is not None:
            return ["alternative", self.plan(nodes[0]), self.plan(nodes[1]), function == "orValue"]
        if function in {"_==_", "_!=_"}:
            return ["equality", self.plan(nodes[0]), self.plan(nodes[1]), function == "_==_", self.plain(nodes)]
        if function in COMPARISONS:
            return ["comparison", function, *map(self.plan, nodes), self.plain(nodes)]
        return self.membership(nodes[0], nodes[1]) if function == "@in" else None

    def plain(self, nodes: Sequence[Node]) -> bool:
        """Whether Python compares two values as CEL does."""
        kinds = {self.type(node).kind for node in nodes}
        return len(kinds) == 1 and kinds <= PLAIN

    def membership(self, one: Node, two: Node) -> Plan | None:
        """Plan `in` for a list of constant texts; the rest is a function like others."""
        if self.type(one).kind != "string" or not isinstance(two, ListLiteral) or two.optional:
            return None
        if not all(isinstance(element, Constant) and isinstance(element.value, str) for element in two.elements):
            return None
        return ["among", self.plan(one), [element.value for element in two.elements if isinstance(element, Constant)]]

    def list(self, node: ListLiteral) -> Plan:
        """Plan a list."""
        return ["list", [self.plan(element) for element in node.elements], sorted(node.optional)]

    def map(self, node: MapLiteral) -> Plan:
        """Plan a map."""
        return ["map", [[self.plan(entry.key), self.plan(entry.value), entry.optional] for entry in node.entries]]

    def bound(self, names: Sequence[str]) -> tuple[tuple[int, ...], dict[str, int]]:
        """Give names a place in the frame; return the places, and what the names meant before."""
        outer = self.locals
        slots = tuple(range(self.size, self.size + len(names)))
        self.size += len(names)
        self.locals = {**outer, **dict(zip(names, slots, strict=True))}
        return slots, outer

    def bind(self, node: Bind) -> Plan:
        """Give a value a local name."""
        value = self.plan(node.value)
        (slot,), outer = self.bound([node.variable])
        body = self.plan(node.body)
        self.locals = outer
        return ["bind", slot, value, body]

    def fold(self, node: Fold) -> Plan:
        """Plan a macro over a list or a map."""
        source = self.plan(node.source)
        slots, outer = self.bound(node.variables)
        condition = None if node.condition is None else self.plan(node.condition)
        body = self.plan(node.body)
        self.locals = outer
        parts = (node.body,) if node.condition is None else (node.condition, node.body)
        round_cost = ROUND_COSTS[node.kind] if node.condition is None else 1
        return ["fold", node.kind, source, [*slots], round_cost + sum(map(self.cost, parts)), condition, body]

    def cost(self, node: Node) -> int:
        """Estimate what evaluating a node costs: one for each name, field and call in it, nothing for `has`."""
        if isinstance(node, Select) and node.test:
            return 0
        found = self.costs.get(id(node))
        if found is None:
            own = isinstance(node, Ident | Select) or (isinstance(node, Call) and node.function not in FREE)
            found = self.costs[id(node)] = own + sum(map(self.cost, node.children))
        return found


def vague(given: Type) -> bool:
    """Whether a value of this type may be of several at run time."""
    return given.kind == "dyn" or any(map(vague, given.parameters))


_PLANS: dict[type[Node], Callable[[Compiler, Any], Plan]] = {
    Constant: Compiler.constant,
    Ident: Compiler.ident,
    Select: Compiler.select,
    Call: Compiler.call,
    ListLiteral: Compiler.list,
    MapLiteral: Compiler.map,
    Bind: Compiler.bind,
    Fold: Compiler.fold,
}
