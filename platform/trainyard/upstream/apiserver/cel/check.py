"""Finds the type of every part of an expression, and the forms of the functions that it may call.

A field that an object's schema does not have is an issue here, as on the server where types are known.
Source: google/cel-go v0.26.0 checker/checker.go.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

from trainyard.base.findings import did_you_mean
from trainyard.upstream.apiserver.cel import types
from trainyard.upstream.apiserver.cel.checked import Checked, dotted_name
from trainyard.upstream.apiserver.cel.errors import CompileError, Issue
from trainyard.upstream.apiserver.cel.functions import Overload
from trainyard.upstream.apiserver.cel.syntax import (
    Bind,
    Call,
    Constant,
    Fold,
    Ident,
    ListLiteral,
    MapLiteral,
    Node,
    Select,
)
from trainyard.upstream.apiserver.cel.types import BOOL, DYN, ERROR, INT, STRING, ObjectType, Type, Unifier, is_optional
from trainyard.upstream.apiserver.cel.values import UInt

CONSTANTS: dict[type, Type] = {
    type(None): types.NULL,
    bool: BOOL,
    int: INT,
    UInt: types.UINT,
    float: types.DOUBLE,
    str: STRING,
    bytes: types.BYTES,
}
_A, _B = Type("param", "A"), Type("param", "B")
TYPE_NAMES: dict[str, Type] = {
    type_.name: type_
    for type_ in (*types.NAMED.values(), types.list_of(_A), types.map_of(_A, _B), types.optional_of(_A))
} | {"type": types.type_of(_A)}
"""Types that an expression may name, such as `int` or `net.IP`."""


def check(
    root: Node, expression: str, variables: Mapping[str, Type], functions: Mapping[str, tuple[Overload, ...]]
) -> Checked:
    """Find all types; raises CompileError with every issue."""
    checker = _Checker(variables, functions)
    found = checker.visit(root)
    if checker.issues:
        raise CompileError(expression, checker.issues, frozenset(checker.masked))
    checked = checker.checked
    checked.root = root
    checked.type = checker.final(found)
    checked.types = {identity: checker.final(type_) for identity, type_ in checked.types.items()}
    return checked


class _Checker:
    def __init__(self, variables: Mapping[str, Type], functions: Mapping[str, tuple[Overload, ...]]) -> None:
        self.declared = variables
        self.functions = functions
        self.scope: MutableMapping[str, Type] = ChainMap({})
        self.unifier = Unifier()
        self.issues: list[Issue] = []
        self.masked: set[int] = set()
        self.fresh = 0
        self.checked = Checked(root=Ident(id=0, offset=0, name=""), type=DYN)

    def issue(self, node: Node, message: str) -> Type:
        self.issues.append(Issue(message, node.offset))
        return ERROR

    def now(self, given: Type) -> Type:
        return self.unifier.resolve(given)

    def final(self, given: Type) -> Type:
        return self.unifier.resolve(given, free_is_dyn=True)

    def free(self) -> Type:
        self.fresh += 1
        return Type("param", f"_{self.fresh}")

    def visit(self, node: Node) -> Type:
        found = _VISITS[type(node)](self, node)
        self.checked.types[node.id] = found
        return found

    def constant(self, node: Constant) -> Type:
        return CONSTANTS[type(node.value)]

    def ident(self, node: Ident) -> Type:
        if node.name in self.scope:
            return self.scope[node.name]
        name = node.name.removeprefix(".")
        if name in self.declared:
            self.checked.variables.add(name)
            return self.declared[name]
        if name in TYPE_NAMES:
            self.checked.qualified[node.id] = name
            return types.type_of(TYPE_NAMES[name])
        known = {*self.scope, *self.declared}
        return self.issue(node, f"undeclared reference to '{name}'; {did_you_mean(name, known)}")

    def select(self, node: Select) -> Type:
        name = None if node.test else dotted_name(node)
        if name is not None and name.partition(".")[0] not in self.scope:
            if name in self.declared:
                self.checked.variables.add(name)
                self.checked.qualified[node.id] = name
                return self.declared[name]
            if name in TYPE_NAMES:
                self.checked.qualified[node.id] = name
                return types.type_of(TYPE_NAMES[name])
        operand = self.now(self.visit(node.operand))
        found = self.field(node, operand, node.field)
        if node.test:
            return BOOL
        return self.as_optional(found) if is_optional(operand) else found

    def as_optional(self, given: Type) -> Type:
        return given if is_optional(given) else types.optional_of(given)

    def field(self, node: Node, operand: Type, name: str) -> Type:
        if is_optional(operand):
            operand = self.now(operand.element)
        if operand.kind == "map":
            return operand.element
        if isinstance(operand, ObjectType):
            found = operand.find(name)
            if found is None:
                return self.issue(node, f"undefined field '{name}'; {did_you_mean(name, operand.names())}")
            return found.type
        if operand.kind == "error":
            self.masked.add(node.offset)
        elif operand.kind == "param":
            self.unifier.assignable(DYN, operand)
        elif operand.kind != "dyn":
            self.issue(node, f"type '{operand}' does not support field selection")
        return DYN

    def call(self, node: Call) -> Type:
        if node.function == "_?._":
            return self.optional_select(node)
        if node.target is None:
            return self.resolve(
                node, node.function, [self.visit(argument) for argument in node.arguments], member=False
            )
        prefix = dotted_name(node.target)
        if prefix is not None and f"{prefix}.{node.function}" in self.functions:
            name = f"{prefix}.{node.function}"
            self.checked.qualified[node.target.id] = prefix
            return self.resolve(node, name, [self.visit(argument) for argument in node.arguments], member=False)
        return self.resolve(node, node.function, [self.visit(child) for child in node.children], member=True)

    def optional_select(self, node: Call) -> Type:
        operand, name = node.arguments
        if not isinstance(name, Constant) or not isinstance(name.value, str):
            return self.issue(node, "unsupported optional field selection")
        self.visit(name)
        return self.as_optional(self.field(node, self.now(self.visit(operand)), name.value))

    def resolve(self, node: Call, name: str, arguments: list[Type], *, member: bool) -> Type:
        """Choose the overloads that the arguments fit; their common result, or `dyn`."""
        overloads = self.functions.get(name)
        if overloads is None:
            near = did_you_mean(name, (function for function in self.functions if function[0].isalpha()), limit=0)
            suffix = f"; {near}" if near.startswith("did") else ""
            return self.issue(node, f"undeclared reference to '{name}'{suffix}")
        chosen: list[Overload] = []
        result: Type | None = None
        for overload in overloads:
            if overload.member is not member or len(overload.parameters) != len(arguments):
                continue
            if any(map(types.differ, overload.parameters, arguments)):
                continue
            self.fresh += 1
            suffix = f"_{self.fresh}"
            parameters = [types.rename(parameter, suffix) for parameter in overload.parameters]
            if not self.unifier.all_assignable(parameters, arguments):
                continue
            chosen.append(overload)
            found = self.now(types.rename(overload.result, suffix))
            result = found if result is None or found == result else DYN
        if result is None:
            shown = [str(self.final(argument)) for argument in arguments]
            call = f"{shown[0]}.({', '.join(shown[1:])})" if member else f"({', '.join(shown)})"
            return self.issue(node, f"found no matching overload for '{name}' applied to '{call}'")
        self.checked.overloads[node.id] = tuple(chosen)
        return result

    def list(self, node: ListLiteral) -> Type:
        element: Type | None = None
        for place, one_node in enumerate(node.elements):
            found = self.visit(one_node)
            if place in node.optional:
                found = self.unwrapped(one_node, found)
            element = self.joined(element, found)
        return types.list_of(element or self.free())

    def unwrapped(self, node: Node, given: Type) -> Type:
        given = self.now(given)
        if is_optional(given):
            return given.element
        if given.kind not in {"dyn", "error"}:
            self.issue(node, f"expected type 'optional_type' but found '{given}'")
        return DYN

    def map(self, node: MapLiteral) -> Type:
        if node.name:
            return self.issue(node, f"undeclared reference to '{node.name}'")
        key: Type | None = None
        value: Type | None = None
        for entry in node.entries:
            key = self.joined(key, self.visit(entry.key))
            found = self.visit(entry.value)
            value = self.joined(value, self.unwrapped(entry.value, found) if entry.optional else found)
        return types.map_of(key or self.free(), value or self.free())

    def joined(self, before: Type | None, found: Type) -> Type:
        if before is None:
            return found
        if self.unifier.assignable(before, found):
            return before if types.less_specific(before, found) else found
        return DYN

    def bind(self, node: Bind) -> Type:
        value = self.visit(node.value)
        with_variable = {node.variable: value}
        return self.within(with_variable, lambda: self.visit(node.body))

    def within(self, variables: dict[str, Type], run: Callable[[], Type]) -> Type:
        outer = self.scope
        self.scope = ChainMap(variables, outer)
        try:
            return run()
        finally:
            self.scope = outer

    def fold(self, node: Fold) -> Type:
        source = self.now(self.visit(node.source))
        key, value = self.ranged(node, source)
        if node.kind == "sort" and source.kind not in {"list", "dyn", "error"}:
            return self.issue(node, f"found no matching overload for 'sortBy' applied to '{source}'")
        if len(node.variables) == 2:
            variables = dict(zip(node.variables, (key, value), strict=True))
        else:
            variables = {node.variables[0]: key if source.kind == "map" else value}
        return self.within(variables, lambda: self.folded(node, source, variables))

    def ranged(self, node: Fold, source: Type) -> tuple[Type, Type]:
        """Return the types of a range's places and elements, or of its keys and values."""
        if source.kind == "list":
            return INT, source.element
        if source.kind == "map":
            return source.parameters[0], source.parameters[1]
        if source.kind == "param":
            self.unifier.assignable(DYN, source)
        elif source.kind not in {"dyn", "error"}:
            expected = "(must be list, map, or dynamic)"
            self.issue(node.source, f"expression of type '{source}' cannot be range of a comprehension {expected}")
        return DYN, DYN

    def folded(self, node: Fold, source: Type, variables: Mapping[str, Type]) -> Type:
        if node.condition is not None:
            self.boolean(node.condition)
        if node.kind in {"all", "exists", "existsOne"}:
            self.boolean(node.body)
            return BOOL
        body = self.now(self.visit(node.body))
        if node.kind == "list":
            return types.list_of(body)
        if node.kind == "map":
            return types.map_of(variables[node.variables[0]], body)
        if node.kind == "sort":
            if body.kind not in {*_ORDERED, "dyn", "error", "param"}:
                self.issue(node, f"found no matching overload for 'sortBy' applied to keys of type '{body}'")
            return source
        if body.kind not in {"map", "dyn", "error"}:
            self.issue(node.body, f"found no matching overload for 'transformMapEntry' applied to '{body}'")
        return body if body.kind == "map" else types.map_of(DYN, DYN)

    def boolean(self, node: Node) -> None:
        found = self.visit(node)
        if not self.unifier.assignable(BOOL, found):
            self.issue(node, f"expected type 'bool' but found '{self.final(found)}'")


_ORDERED = frozenset({"bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration"})
_VISITS: dict[type[Node], Callable[[_Checker, Any], Type]] = {
    Constant: _Checker.constant,
    Ident: _Checker.ident,
    Select: _Checker.select,
    Call: _Checker.call,
    ListLiteral: _Checker.list,
    MapLiteral: _Checker.map,
    Bind: _Checker.bind,
    Fold: _Checker.fold,
}
