"""What the server refuses in literals: lists of mixed types, patterns and times that cannot be read, wrong formats.

Source: google/cel-go v0.26.0 cel/validator.go, ext/formatting.go (stringFormatValidator), interpreter/planner.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from trainyard.upstream.apiserver.cel.checked import Checked
from trainyard.upstream.apiserver.cel.errors import CelError, Issue, Unknown
from trainyard.upstream.apiserver.cel.library import formatting, standard
from trainyard.upstream.apiserver.cel.syntax import Call, Constant, ListLiteral, MapLiteral, Node
from trainyard.upstream.apiserver.cel.types import Type

CONVERSIONS = frozenset({"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "uint"})
PATTERNS = frozenset({"matches", "find", "findAll"})


def issues(checked: Checked) -> Iterator[Issue]:
    """Yield the issues with the literals of an expression whose types agree; arguments of `format` may be mixed."""
    pending: list[tuple[Node, bool]] = [(checked.root, False)]
    while pending:
        node, exempt = pending.pop()
        yield from of_node(checked, node, exempt=exempt)
        below = exempt or (isinstance(node, Call) and node.function == "format")
        pending += [(child, below) for child in reversed(node.children)]


def of_node(checked: Checked, node: Node, *, exempt: bool) -> Iterator[Issue]:
    """Yield the issues with one node; `exempt` are literals that may be of mixed types."""
    if isinstance(node, Constant) and isinstance(node.value, float) and math.isinf(node.value):
        yield Issue("invalid double literal", node.offset)
    elif isinstance(node, Call):
        yield from call(checked, node)
    elif isinstance(node, ListLiteral) and not exempt:
        found = [element_type(checked, element, optional=i in node.optional) for i, element in enumerate(node.elements)]
        yield from alike(node.elements, found)
    elif isinstance(node, MapLiteral) and not exempt:
        keys = [entry.key for entry in node.entries]
        yield from alike(keys, [checked.types[key.id] for key in keys])
        values = [element_type(checked, entry.value, optional=entry.optional) for entry in node.entries]
        yield from alike([entry.value for entry in node.entries], values)


def element_type(checked: Checked, node: Node, *, optional: bool) -> Type:
    """Return the type of a literal's element: for an optional element, the type of its value."""
    found = checked.types[node.id]
    return found.element if optional and found.parameters else found


def alike(nodes: Sequence[Node], types: Sequence[Type]) -> Iterator[Issue]:
    """Yield an issue for the first element whose type is not that of the first."""
    for node, found in zip(nodes, types, strict=True):
        if found != types[0]:
            yield Issue(f"expected type '{types[0]}' but found '{found}'", node.offset)
            return


def call(checked: Checked, node: Call) -> Iterator[Issue]:
    """Check the constant arguments of one call."""
    first = node.arguments[0] if node.arguments else None
    if node.function in CONVERSIONS and node.target is None and isinstance(first, Constant):
        yield from attempt(node, first, lambda: convert(checked, node, first.value))
    elif node.function in PATTERNS and node.arguments:
        text = node.arguments[-1] if node.target is None else node.arguments[0]
        if isinstance(text, Constant) and isinstance(text.value, str):
            pattern = text.value
            yield from attempt(node, text, lambda: standard.pattern(pattern))
    elif node.function == "format" and isinstance(node.target, Constant) and isinstance(first, ListLiteral):
        template, arguments = str(node.target.value), first
        yield from attempt(node, node, lambda: format_arguments(checked, template, arguments))


def attempt(node: Call, place: Node, run: Callable[[], Any]) -> Iterator[Issue]:
    """Yield an issue where a constant cannot be used."""
    try:
        run()
    except Unknown:
        return
    except CelError as error:
        yield Issue(f"invalid {node.function} argument: {error.message}", place.offset)


def convert(checked: Checked, node: Call, value: Any) -> None:
    """Convert a constant as the program will."""
    for overload in checked.overloads.get(node.id, ()):
        if overload.takes([value]):
            overload.run(value)


def format_arguments(checked: Checked, text: str, arguments: ListLiteral) -> None:
    """Check number and types of what is formatted; raises CelError."""
    used = 0
    for _, _, letter, _ in formatting.clauses(text):
        if letter == "%":
            continue
        if used >= len(arguments.elements):
            raise CelError(f"index {used} out of range")
        found = checked.types[arguments.elements[used].id]
        accepted = formatting.ACCEPTS[letter]
        if accepted is not None and found.kind not in {*accepted, "dyn"}:
            raise CelError(f"error during formatting: %{letter} takes {', '.join(sorted(accepted))}, not {found}")
        used += 1
    if len(arguments.elements) > used:
        raise CelError(f"too many arguments supplied to string.format (expected {used}, got {len(arguments.elements)})")
