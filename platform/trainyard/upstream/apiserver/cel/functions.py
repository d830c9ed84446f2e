"""Functions of CEL: signatures as text, implementations in Python, and the releases that have them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from trainyard.upstream.apiserver.cel.types import NAMED, Type, is_optional, parse_type
from trainyard.upstream.apiserver.cel.values import Duration, Opaque, Optional, Timestamp, TypeValue, UInt

Implementation = Callable[..., Any]
F = TypeVar("F", bound=Implementation)
Test = Callable[[Any], bool]

_SIGNATURE = re.compile(r"(?P<name>.+?)\((?P<parameters>.*)\) -> (?P<result>.+)")
_RECEIVERS = ("list<", "map<", "optional<", "type<")


@dataclass(frozen=True, slots=True)
class Overload:
    """One form of a function; a method's first parameter is what it is called on."""

    function: str
    member: bool
    parameters: tuple[Type, ...]
    result: Type
    since: int
    run: Implementation
    tests: tuple[Test, ...]
    """For each parameter, whether a value may stand there: needed where types are known at run time alone."""

    def takes(self, arguments: Iterable[Any]) -> bool:
        """Whether these values are of the parameters' types."""
        return all(test(argument) for test, argument in zip(self.tests, arguments, strict=True))


class Functions:
    """The functions of one library, all since one minor release of Kubernetes (28 is 1.28).

    Signatures are read when asked for: most expressions call a few functions.
    """

    def __init__(self, since: int = 0) -> None:
        self.since = since
        self.defined: list[tuple[str, Implementation, bool]] = []
        self.read: dict[int, Overload] = {}

    @property
    def overloads(self) -> list[Overload]:
        """Every form of every function, in the order of definition."""
        return [self.overload(place) for place in range(len(self.defined))]

    def overload(self, place: int) -> Overload:
        """Return the form that was defined at a place, counted from 0."""
        if place not in self.read:
            signature, run, loose = self.defined[place]
            self.read[place] = overload(signature, self.since, run, loose=loose)
        return self.read[place]

    def define(self, *signatures: str, loose: bool = False) -> Callable[[F], F]:
        """Register a Python function under signatures such as `string.find(string) -> string`.

        What precedes the last dot is the receiver's type, or a namespace where it names no type (`sets.contains`).
        A loose one takes, at run time, lists of whatever elements.
        """

        def register(run: F) -> F:
            self.defined += [(signature, run, loose) for signature in signatures]
            return run

        return register


def overload(signature: str, since: int, run: Implementation, *, loose: bool = False) -> Overload:
    """Build an overload from its signature."""
    match = _SIGNATURE.fullmatch(signature)
    if match is None:
        raise ValueError(f"{signature!r} is no signature")
    name, member = match["name"], False
    parameters = [parse_type(parameter) for parameter in _split(match["parameters"])]
    prefix, _, last = name.rpartition(".")
    if prefix in NAMED or prefix.startswith(_RECEIVERS):
        name, member = last, True
        parameters.insert(0, parse_type(prefix))
    tests = tuple(
        _PYTHON["list"] if loose and parameter.kind == "list" else test_of(parameter) for parameter in parameters
    )
    return Overload(name, member, tuple(parameters), parse_type(match["result"]), since, run, tests)


def _split(parameters: str) -> list[str]:
    """Split at the commas that are not within angle brackets."""
    parts, depth, start = [], 0, 0
    for place, char in enumerate(parameters):
        depth += (char == "<") - (char == ">")
        if char == "," and not depth:
            parts.append(parameters[start:place])
            start = place + 1
    return [part for part in (*parts, parameters[start:]) if part.strip()]


_PYTHON: dict[str, Test] = {
    "bool": lambda value: value is True or value is False,
    "int": lambda value: type(value) is int,
    "uint": lambda value: type(value) is UInt,
    "double": lambda value: type(value) is float,
    "string": lambda value: type(value) is str,
    "bytes": lambda value: type(value) is bytes,
    "null": lambda value: value is None,
    "timestamp": lambda value: type(value) is Timestamp,
    "duration": lambda value: type(value) is Duration,
    "list": lambda value: isinstance(value, list),
    "map": lambda value: isinstance(value, dict),
    "type": lambda value: type(value) is TypeValue,
}


def test_of(given: Type) -> Test:
    """Return the test at run time whether a value is of a type; for a list, its first element decides."""
    if given.kind == "list":
        element = test_of(given.element)
        return lambda value: isinstance(value, list) and (not value or element(value[0]))
    if is_optional(given):
        return lambda value: type(value) is Optional
    if given.kind == "opaque":
        return lambda value: type(value) is Opaque and value.type == given.name
    return _PYTHON.get(given.kind, _anything)


def _anything(_: Any) -> bool:
    return True


def by_name(libraries: Iterable[Functions], minor: int) -> dict[str, tuple[Overload, ...]]:
    """Return the functions of a minor release, each with its overloads in the order of definition."""
    found: dict[str, list[Overload]] = {}
    for library in libraries:
        if library.since <= minor:
            for one_overload in library.overloads:
                found.setdefault(one_overload.function, []).append(one_overload)
    return {name: tuple(overloads) for name, overloads in found.items()}
