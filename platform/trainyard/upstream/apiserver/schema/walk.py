"""Walks a value along a schema; paths are put together only where something is wrong.

A check returns None for a right value. A fault's path is built backwards, while it is handed up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.findings import did_you_mean
from trainyard.base.limits import CHOICES, FAULTS
from trainyard.upstream.apiserver.problems import Problem

UNKNOWN_FIELD = "schema/unknown-field"
"""The rule of a field that the schema does not have: its name is what is wrong."""


@dataclass(slots=True)
class Fault:
    """Something wrong at a node, or beneath it: the path leads from the fault up to where the walk is."""

    rule: str
    message: str
    source: str
    path: list[str | int] = field(default_factory=list)

    def problem(self) -> Problem:
        """Return the fault with its path from the root."""
        return Problem(tuple(reversed(self.path)), self.rule, self.message, self.source, self.rule == UNKNOWN_FIELD)


Faults = list[Fault] | None
Check = Callable[[Any], Faults]
Compile = Callable[[Mapping[str, Any], str], Check]
"""Compiles the node below a name."""


def anything(_: Any) -> Faults:
    """Accept every value."""
    return None


def below(key: str | int, faults: list[Fault]) -> list[Fault]:
    """Return the faults of a child as its parent's."""
    for fault in faults:
        fault.path.append(key)
    return faults


def unknown_field(key: str, known: Mapping[str, Any], source: str) -> Fault:
    """Report a field that the schema does not have."""
    near = did_you_mean(key, known) if len(known) <= CHOICES else ""
    hint = f"; {near}" if near.startswith("did you mean") else ""
    return Fault(UNKNOWN_FIELD, f"unknown field {key!r}{hint}", source, [key])


@dataclass(frozen=True, slots=True)
class Scalar:
    """The check of a scalar that its type alone decides: most fields of most objects, so it is seldom called."""

    kind: type
    wrong: Check

    def __call__(self, value: Any) -> Faults:
        """Judge a value."""
        return None if type(value) is self.kind else self.wrong(value)


def quickly(check: Check | None) -> type | None:
    """Return the Python type that a check accepts without being called."""
    return check.kind if isinstance(check, Scalar) else None


def objects(
    properties: Mapping[str, Any],
    fallback: Check | None,
    compile_child: Compile,
    wrong: Check,
    null: Callable[[str], Faults],
    after: tuple[Check, ...],
    source: str,
) -> Check:
    """Return the check of an object.

    `fallback` judges fields without a schema of their own; None refuses them. `null` judges a field that is null.
    `after` judges the object as a whole. A field is compiled when an object first has it; where its type decides
    alone, that type stands for its check.
    """
    met: dict[str, type | Check] = {}
    rest = None if properties or fallback is None else quickly(fallback) or fallback
    carefully = careful(properties, fallback, compile_child, null, source, met)

    def check(value: Any) -> Faults:
        if type(value) is not dict:
            return wrong(value)
        faults: list[Fault] = []
        for key, item in value.items():
            child = met.get(key, rest)
            if child is type(item):
                continue
            if child is None or item is None or type(child) is type:
                faults += carefully(key, item) or ()
            elif found := child(item):
                faults += below(key, found)
            if len(faults) > FAULTS:
                break
        for test in after:
            if found := test(value):
                faults += found
        return faults or None

    return check


def careful(
    properties: Mapping[str, Any],
    fallback: Check | None,
    compile_child: Compile,
    null: Callable[[str], Faults],
    source: str,
    met: dict[str, type | Check],
) -> Callable[[str, Any], Faults]:
    """Return the judge of a field that is met for the first time, unknown, null or of the wrong type.

    Fields of the schema go into `met` with their check, or the type that stands for it.
    """
    checks: dict[str, Check] = {}

    def judge(key: str, item: Any) -> Faults:
        check = checks.get(key)
        if check is None:
            if key in properties:
                check = checks[key] = compile_child(properties[key], key)
                met[key] = quickly(check) or check
            elif fallback is None:
                return [unknown_field(key, properties, source)]
            else:
                check = fallback
        found = null(key) if item is None else check(item)
        return below(key, found) if found else None

    return judge


def arrays(items: Check, wrong: Check, after: tuple[Check, ...], *, null: bool = False) -> Check:
    """Return the check of a list; `after` judges it as a whole. With `null` an element may be null."""
    quick = quickly(items)

    def check(value: Any) -> Faults:
        if type(value) is not list:
            return wrong(value)
        faults: list[Fault] = []
        for index, item in enumerate(value):
            if type(item) is quick or (null and item is None):
                continue
            if found := items(item):
                faults += below(index, found)
                if len(faults) > FAULTS:
                    break
        for test in after:
            if found := test(value):
                faults += found
        return faults or None

    return check


def scalars(is_right: Callable[[Any], bool], wrong: Check, after: tuple[Check, ...]) -> Check:
    """Return the check of a scalar that is right by its type; `after` judges it further."""
    if not after and is_right in PLAIN:
        return Scalar(PLAIN[is_right], wrong)

    def check(value: Any) -> Faults:
        if not is_right(value):
            return wrong(value)
        faults: list[Fault] = []
        for test in after:
            if found := test(value):
                faults += found
        return faults or None

    return check


def is_text(value: Any) -> bool:
    """Whether the value is a JSON string."""
    return type(value) is str


def is_flag(value: Any) -> bool:
    """Whether the value is a JSON boolean."""
    return type(value) is bool


def is_number(value: Any) -> bool:
    """Whether the value is a JSON number."""
    return type(value) is int or type(value) is float


PLAIN: Mapping[Callable[[Any], bool], type] = {is_text: str, is_flag: bool}
JSON_NAMES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


def json_name(value: Any) -> str:
    """Return JSON's name for the type of a value."""
    return JSON_NAMES.get(type(value), "null")
