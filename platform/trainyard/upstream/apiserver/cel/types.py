"""The types of CEL, and when a value of one may stand where another is asked for.

Source: google/cel-go v0.26.0 checker/types.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal[
    "dyn", "error", "null", "bool", "int", "uint", "double", "string", "bytes",
    "timestamp", "duration", "list", "map", "type", "opaque", "object", "param",
]  # fmt: skip

NULLABLE = frozenset({"duration", "timestamp", "opaque", "object"})
"""Kinds that may be null."""


@dataclass(frozen=True, slots=True)
class Type:
    """A type; lists, maps, optionals and `type` itself have parameters."""

    kind: Kind
    name: str
    parameters: tuple[Type, ...] = ()
    special: Callable[[], bool] | None = field(default=None, compare=False, repr=False)
    """Says whether values come from a schema that reads them otherwise than as plain JSON: sets, times."""

    def __str__(self) -> str:
        inner = ", ".join(map(str, self.parameters))
        return f"{self.name}({inner})" if inner else self.name

    @property
    def element(self) -> Type:
        """What a list holds or an optional may hold; a map's values."""
        return self.parameters[-1]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an object: its type, and its key in the object where that is no identifier."""

    type: Type
    key: str


@dataclass(frozen=True, slots=True, eq=False)
class ObjectType(Type):
    """An object with declared fields; two object types are the same only where they are one.

    `field` answers with a field by its name in CEL, or None; `names` lists them, for near misses.
    """

    find: Callable[[str], Field | None] = field(default=lambda _: None)
    names: Callable[[], Iterable[str]] = field(default=tuple)
    nullable_fields: bool = True
    """Whether a field that is null counts as absent, as in rules of custom resources."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


DYN = Type("dyn", "dyn")
ERROR = Type("error", "!error!")
NULL = Type("null", "null_type")
BOOL = Type("bool", "bool")
INT = Type("int", "int")
UINT = Type("uint", "uint")
DOUBLE = Type("double", "double")
STRING = Type("string", "string")
BYTES = Type("bytes", "bytes")
TIMESTAMP = Type("timestamp", "google.protobuf.Timestamp")
DURATION = Type("duration", "google.protobuf.Duration")


def list_of(element: Type) -> Type:
    """Return the type of lists of these."""
    return Type("list", "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """Return the type of maps from these to those."""
    return Type("map", "map", (key, value))


def optional_of(value: Type) -> Type:
    """Return the type of values that may be absent."""
    return Type("opaque", "optional_type", (value,))


def type_of(value: Type) -> Type:
    """Return the type of a type."""
    return Type("type", "type", (value,))


def opaque(name: str) -> Type:
    """Return a type of a library, known by its name alone."""
    return Type("opaque", name)


FORMATTED = frozenset({"double", "bytes", "timestamp", "duration"})
"""Kinds that plain JSON does not have."""


def needs_conversion(given: Type) -> bool:
    """Whether plain JSON has to be converted before it is a value of this type."""
    if given.special is not None:
        return given.special()
    return given.kind in FORMATTED or any(map(needs_conversion, given.parameters))


def is_optional(given: Type) -> bool:
    """Whether values of this type may be absent."""
    return given.kind == "opaque" and given.name == "optional_type"


LIBRARY_TYPES = (
    "kubernetes.NamedFormat",
    "kubernetes.Quantity",
    "kubernetes.Semver",
    "kubernetes.URL",
    "net.CIDR",
    "net.IP",
    *(
        f"kubernetes.authorization.{name}"
        for name in ("Authorizer", "Decision", "GroupCheck", "PathCheck", "ResourceCheck")
    ),
)
NAMED: dict[str, Type] = {
    **{type_.name: type_ for type_ in (DYN, BOOL, INT, UINT, DOUBLE, STRING, BYTES, NULL)},
    **{name: opaque(name) for name in LIBRARY_TYPES},
    "timestamp": TIMESTAMP,
    "duration": DURATION,
}
"""Simple types by the name that signatures use."""

_TOKEN = re.compile(r"[\w.]+|[<>,]")


def parse_type(text: str) -> Type:
    """Read a type as signatures spell it: `map<string, list<A>>`; a single capital is a type parameter.

    >>> str(parse_type("map<string, list<A>>"))
    'map(string, list(A))'
    """
    tokens = iter(_TOKEN.findall(text))
    return _read(tokens, next(tokens))


def _read(tokens: Iterator[str], name: str) -> Type:
    if name not in {"list", "map", "optional", "type"}:
        return Type("param", name) if len(name) == 1 else NAMED[name]
    inner = []
    if next(tokens) == "<":
        while True:
            inner.append(_read(tokens, next(tokens)))
            if next(tokens) == ">":
                break
    builders: dict[str, Callable[..., Type]] = {
        "list": list_of,
        "map": map_of,
        "optional": optional_of,
        "type": type_of,
    }
    return builders[name](*inner)


class Unifier:
    """What the type parameters of one expression stand for, so far."""

    def __init__(self) -> None:
        self.known: dict[Type, Type] = {}

    def assignable(self, target: Type, value: Type) -> bool:
        """Whether the two agree; what that says of type parameters is kept only if they do."""
        before = dict(self.known)
        if self._assignable(target, value):
            return True
        self.known = before
        return False

    def all_assignable(self, targets: Iterable[Type], values: Iterable[Type]) -> bool:
        """Whether every pair agrees, all at once."""
        before = dict(self.known)
        if all(self._assignable(target, value) for target, value in zip(targets, values, strict=True)):
            return True
        self.known = before
        return False

    def _assignable(self, one: Type, two: Type) -> bool:
        if two.kind == "param":
            valid, bound = self._substitute(one, two)
            if valid or bound:
                return valid
        if one.kind == "param":
            return self._substitute(two, one)[0]
        if one.kind in {"dyn", "error"} or two.kind in {"dyn", "error"}:
            return True
        if one.kind == "null":
            return two.kind in NULLABLE or two.kind == "null"
        if two.kind == "null":
            return one.kind in NULLABLE
        if one.kind == "type":
            return two.kind == "type"
        if one.kind == "object":
            return one is two
        return (
            one.kind == two.kind
            and one.name == two.name
            and len(one.parameters) == len(two.parameters)
            and all(map(self._assignable, one.parameters, two.parameters))
        )

    def _substitute(self, value: Type, parameter: Type) -> tuple[bool, bool]:
        """Whether a value's type may stand for a parameter, and whether the parameter stood for something before."""
        if value == parameter:
            return True, True
        known = self.known.get(parameter)
        if known is None:
            if self._mentions(parameter, value):
                return False, False
            self.known[parameter] = value
            return True, False
        if value == known:
            return True, True
        if not self._assignable(value, known):
            return False, True
        general = value if less_specific(value, known) else known
        if not self._mentions(parameter, general):
            self.known[parameter] = general
        return True, True

    def _mentions(self, parameter: Type, within: Type) -> bool:
        if parameter == within:
            return True
        if within.kind == "param":
            known = self.known.get(within)
            return known is not None and self._mentions(parameter, known)
        return any(self._mentions(parameter, type_) for type_ in within.parameters)

    def resolve(self, given: Type, *, free_is_dyn: bool = False) -> Type:
        """Replace type parameters by what they stand for; the free ones stay, or become `dyn`."""
        if given.kind == "param":
            known = self.known.get(given)
            if known is not None:
                return self.resolve(known, free_is_dyn=free_is_dyn)
            return DYN if free_is_dyn else given
        if not given.parameters:
            return given
        inner = tuple(self.resolve(parameter, free_is_dyn=free_is_dyn) for parameter in given.parameters)
        return given if inner == given.parameters else Type(given.kind, given.name, inner)


OPEN = frozenset({"param", "dyn", "error", "null"})
"""Kinds of types that may agree with another one."""


def differ(one: Type, two: Type) -> bool:
    """Say quickly whether two types never agree, whatever type parameters stand for."""
    return one.kind != two.kind and one.kind not in OPEN and two.kind not in OPEN


def less_specific(one: Type, two: Type) -> bool:
    """Whether the first is equal to the second, or says less."""
    if one.kind in {"dyn", "param"}:
        return True
    if two.kind in {"dyn", "param"} or one.kind != two.kind:
        return False
    if one.kind == "type":
        return True
    if one.kind == "object":
        return one is two
    return (
        one.name == two.name
        and len(one.parameters) == len(two.parameters)
        and all(map(less_specific, one.parameters, two.parameters))
    )


def rename(given: Type, suffix: str) -> Type:
    """Give the type parameters of a signature names of their own, for one call."""
    if given.kind == "param":
        return Type("param", given.name + suffix)
    if not given.parameters:
        return given
    return Type(given.kind, given.name, tuple(rename(parameter, suffix) for parameter in given.parameters))
