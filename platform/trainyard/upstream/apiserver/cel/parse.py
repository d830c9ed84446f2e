"""Text to syntax tree: cel-expr-python parses and expands the macros, this module reads its tree.

The parser hands over a serialized cel.expr.ParsedExpr. Its comprehensions are folded back into the macros they come
from, and the macros that Kubernetes adds (two variables, `sortBy`), which the parser leaves as plain
calls, are recognised here. Field numbers: google/cel-spec v0.24.0 proto/cel/expr/syntax.proto.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypedDict

from trainyard.upstream.apiserver.cel import wire
from trainyard.upstream.apiserver.cel.errors import CompileError, Issue, TooDeepError
from trainyard.upstream.apiserver.cel.syntax import (
    Bind,
    Call,
    Constant,
    Entry,
    Fold,
    FoldKind,
    Ident,
    ListLiteral,
    MapLiteral,
    Node,
    Select,
)
from trainyard.upstream.apiserver.cel.values import UInt

UNUSED = "#unused"
ACCUMULATORS = frozenset({"@result", "__result__"})
"""Names that macros keep for themselves."""

TWO_VARIABLES: dict[str, FoldKind] = {
    "all": "all",
    "exists": "exists",
    "existsOne": "existsOne",
    "exists_one": "existsOne",
    "transformList": "list",
    "transformMap": "map",
    "transformMapEntry": "entries",
}
"""Macros over two variables, since Kubernetes 1.32: kubernetes/apiserver v0.35.4 pkg/cel/environment/base.go."""

SORT_SINCE = 34
"""Minor release of Kubernetes with cel-go's lists library, version 3."""


class Place(TypedDict):
    """What every node is told of itself."""

    id: int
    offset: int


_ERROR = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)")


@lru_cache(maxsize=1)
def _parser() -> Any:
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_optional

    return cel.NewEnv(extensions=[ext_optional.ExtOptional()])


@lru_cache(maxsize=4096)
def parse(expression: str, minor: int) -> Node:
    """Return the syntax tree of an expression, with the macros of a minor release; raises CompileError."""
    try:
        data = _parser().compile(expression, disable_check=True).serialize()
    except (TypeError, UnicodeError):
        raise CompileError(expression, [Issue("no valid Unicode")]) from None
    except RuntimeError as error:
        raise _refusal(expression, str(error)) from None
    message = dict(wire.fields(data))
    parsed = {number: wire.raw(value) for number, value in wire.fields(wire.raw(message[2]))}
    return _Reader(expression, parsed[3], minor).node(parsed[2])


def _refusal(expression: str, text: str) -> CompileError:
    if "recursion" in text:
        return TooDeepError(expression, [Issue("nested or chained more than 32 levels deep")])
    found = []
    lines = expression.split("\n")
    for line, column, message in _ERROR.findall(text):
        before = sum(len(one_line) + 1 for one_line in lines[: int(line) - 1])
        found.append(Issue(message.removesuffix(" [INVALID_ARGUMENT]"), before + int(column) - 1))
    return CompileError(expression, found or [Issue(text.split("\n", 1)[0].removeprefix("INVALID_ARGUMENT: "))])


class _Reader:
    """Reads the nodes of one expression."""

    def __init__(self, expression: str, source_info: bytes, minor: int) -> None:
        self.expression = expression
        self.minor = minor
        self.offsets: dict[int, int] = {}
        for number, value in wire.fields(source_info):
            if number == 4:
                entry = dict(wire.fields(wire.raw(value)))
                self.offsets[wire.integer(entry.get(1, 0))] = wire.integer(entry.get(2, 0))

    def node(self, data: bytes) -> Node:
        identity = 0
        kind, content = 0, b""
        for number, value in wire.fields(data):
            if number == 2:
                identity = wire.read_signed(value)
            else:
                kind, content = number, wire.raw(value)
        place: Place = {"id": identity, "offset": self.offsets.get(identity, 0)}
        return _READERS[kind](self, place, content)

    def constant(self, place: Place, data: bytes) -> Node:
        ((number, value),) = wire.fields(data)
        return Constant(value=_CONSTANTS[number](value), **place)

    def ident(self, place: Place, data: bytes) -> Node:
        return Ident(name=wire.text(dict(wire.fields(data))[1]), **place)

    def select(self, place: Place, data: bytes) -> Node:
        found = dict(wire.fields(data))
        operand, name = self.node(wire.raw(found[1])), wire.text(found[2])
        if not name.isidentifier():
            raise self.error("unsupported syntax: '`'", place["offset"])
        return Select(operand=operand, field=name, test=bool(found.get(3, 0)), **place)

    def call(self, place: Place, data: bytes) -> Node:
        target: Node | None = None
        function, arguments = "", []
        for number, value in wire.fields(data):
            if number == 1:
                target = self.node(wire.raw(value))
            elif number == 2:
                function = wire.text(value)
            else:
                arguments.append(self.node(wire.raw(value)))
        function = function.removeprefix(".")
        if target is not None and (macro := self.macro(place, function, target, arguments)):
            return macro
        return Call(function=function, target=target, arguments=tuple(arguments), **place)

    def macro(self, place: Place, function: str, target: Node, arguments: list[Node]) -> Node | None:
        """Recognise the macros that the parser does not know."""
        count = len(arguments)
        if function in TWO_VARIABLES and (count == 3 or (count == 4 and function.startswith("transform"))):
            names = self.names(arguments[:2])
            if names[0] == names[1]:
                raise self.error(f"duplicate variable name: {names[0]}", arguments[1].offset)
            condition = arguments[2] if count == 4 else None
            kind = TWO_VARIABLES[function]
        elif count == 2 and function == "sortBy" and self.minor >= SORT_SINCE:
            names, condition, kind = self.names(arguments[:1]), None, "sort"
        else:
            return None
        return Fold(kind=kind, source=target, variables=names, condition=condition, body=arguments[-1], **place)

    def names(self, nodes: list[Node]) -> tuple[str, ...]:
        found = []
        for node in nodes:
            if not isinstance(node, Ident):
                raise self.error("argument must be a simple name", node.offset)
            self.check_name(node.name, node.offset)
            found.append(node.name)
        return tuple(found)

    def check_name(self, name: str, offset: int) -> None:
        if name in ACCUMULATORS:
            raise self.error("iteration variable overwrites accumulator variable", offset)

    def error(self, message: str, offset: int) -> CompileError:
        return CompileError(self.expression, [Issue(message, offset)])

    def list(self, place: Place, data: bytes) -> Node:
        elements, optional = [], set()
        for number, value in wire.fields(data):
            if number == 1:
                elements.append(self.node(wire.raw(value)))
            elif isinstance(value, int):
                optional.add(value)
            else:
                at = 0
                while at < len(value):
                    index, at = wire.varint(value, at)
                    optional.add(index)
        return ListLiteral(elements=tuple(elements), optional=frozenset(optional), **place)

    def map(self, place: Place, data: bytes) -> Node:
        name, entries = "", []
        for number, value in wire.fields(data):
            if number == 1:
                name = wire.text(value)
            else:
                entries.append(self.entry(wire.raw(value)))
        return MapLiteral(entries=tuple(entries), name=name, **place)

    def entry(self, data: bytes) -> Entry:
        found = dict(wire.fields(data))
        if 2 in found:
            identity = wire.integer(found.get(1, 0))
            key: Node = Constant(value=wire.text(found[2]), id=-identity, offset=self.offsets.get(identity, 0))
        else:
            key = self.node(wire.raw(found[3]))
        return Entry(key=key, value=self.node(wire.raw(found[4])), optional=bool(found.get(5, 0)))

    def comprehension(self, place: Place, data: bytes) -> Node:
        """Fold an expanded macro back: its kind shows in what it accumulates."""
        found = dict(wire.fields(data))
        variable, source = wire.text(found[1]), self.node(wire.raw(found[2]))
        self.check_name(variable, place["offset"])
        start, step = self.node(wire.raw(found[4])), self.node(wire.raw(found[6]))
        if variable == UNUSED:
            return Bind(variable=wire.text(found[3]), value=start, body=self.node(wire.raw(found[7])), **place)
        assert isinstance(step, Call)
        condition: Node | None = None
        kind: FoldKind
        if isinstance(start, Constant):
            if isinstance(start.value, bool):
                kind, body = ("all" if start.value else "exists"), step.arguments[1]
            else:
                kind, body = "existsOne", step.arguments[0]
        else:
            kind = "list"
            if step.function == "_?_:_":
                condition, step = step.arguments[0], step.arguments[1]
                assert isinstance(step, Call)
            added = step.arguments[1]
            assert isinstance(added, ListLiteral)
            body = added.elements[0]
        return Fold(kind=kind, source=source, variables=(variable,), condition=condition, body=body, **place)


_READERS: dict[int, Callable[[_Reader, Place, bytes], Node]] = {
    3: _Reader.constant,
    4: _Reader.ident,
    5: _Reader.select,
    6: _Reader.call,
    7: _Reader.list,
    8: _Reader.map,
    9: _Reader.comprehension,
}
_CONSTANTS: dict[int, Callable[[Any], Any]] = {
    1: lambda _: None,
    2: bool,
    3: wire.read_signed,
    4: lambda value: UInt(wire.integer(value)),
    5: wire.double,
    6: wire.text,
    7: wire.raw,
}
