"""Shapes: what a value may be, read in two ways: to find what is not allowed and where, and as a condition in CEL.

A shape is closed: a field that it does not name is refused. Both readings of one shape give the same verdict, but for
`Served` fields, which only a server fills in.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainyard.findings import Path, did_you_mean
from trainyard.tenancy.allowance import Allowance

YES = "true"
"""The condition of what may be anything."""


@dataclass(frozen=True, slots=True)
class Breach:
    """What is not allowed: what it is about, where it is, and a sentence."""

    subject: str
    path: Path
    message: str


@dataclass(frozen=True, slots=True)
class About:
    """Whose object is looked at: what its team may do, and what object and run are called."""

    allowance: Allowance
    name: str
    run: str

    @property
    def own(self) -> Mapping[str, str]:
        """What the object says of itself, by the words that shapes use."""
        return {"name": self.name, "run": self.run, "team": self.allowance.team}


OWN = {"name": "object.metadata.name", "run": "object.metadata.name", "team": "object.metadata.namespace"}
"""The same in CEL; every object of a run is called as the run."""


class Shape(ABC):
    """What a value may be."""

    @abstractmethod
    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Yield what of a value is not allowed; `subject` is what the field around it is about."""

    @abstractmethod
    def cel(self, x: str, depth: int = 0) -> str:
        """Return the condition that an expression's value is allowed."""


class Anything(Shape):
    """Whatever the API takes."""

    def breaches(self, _value: Any, _path: Path, _subject: str, _about: About) -> Iterator[Breach]:
        """Yield nothing."""
        yield from ()

    def cel(self, _x: str, _depth: int = 0) -> str:
        """Return what always holds."""
        return YES


ANY = Anything()


class Served(Anything):
    """A field that a server or a webhook fills in, and that nobody writes."""

    def breaches(self, _value: Any, path: Path, subject: str, _about: About) -> Iterator[Breach]:
        """Refuse the field in what is rendered."""
        yield Breach(subject, path, f"{called(path)} is set by the cluster alone; remove it")


@dataclass(frozen=True, slots=True)
class Only(Shape):
    """One of a few values, all of one type."""

    values: tuple[Any, ...]

    def breaches(self, value: Any, path: Path, subject: str, _about: About) -> Iterator[Breach]:
        """Refuse another value."""
        if not any(value == each and type(value) is type(each) for each in self.values):
            known = " or ".join(shown(each) for each in self.values)
            yield Breach(subject, path, f"{called(path)} is {shown(value)}, but a run may have {known}; change it")

    def cel(self, x: str, _depth: int = 0) -> str:
        """Compare with each value."""
        listed = [json.dumps(each) for each in self.values]
        return f"{x} == {listed[0]}" if len(listed) == 1 else f"{x} in [{', '.join(listed)}]"


def only(*values: Any) -> Only:
    """Return the shape of a few values."""
    return Only(values)


class Never(Shape):
    """A field that no run has."""

    def breaches(self, value: Any, path: Path, subject: str, _about: About) -> Iterator[Breach]:
        """Refuse the field, whatever it says."""
        yield Breach(subject, path, f"{called(path)} is {shown(value)}, which no run may have; remove it")

    def cel(self, _x: str, _depth: int = 0) -> str:
        """Return what never holds."""
        return "false"


class Kept(Never):
    """A list of metadata that no run brings, and to which an update of it adds nothing."""

    def cel(self, x: str, _depth: int = 0) -> str:
        """Compare with the list before."""
        name = x.rpartition(".")[2]
        return f"(oldObject != null && {x}.all(e, e in dyn(oldObject).metadata.?{name}.orValue([])))"


NEVER, SERVED, KEPT = Never(), Served(), Kept()


@dataclass(frozen=True, slots=True)
class Listed(Shape):
    """A text that a list of the allowance has; what `own` says of the object itself is allowed too."""

    of: str
    what: str
    own: str | None = None

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Refuse what is not listed, with the nearest name."""
        listed = about.allowance.lists[self.of]
        if value not in listed and (self.own is None or value != about.own[self.own]):
            hint = did_you_mean(str(value)[:63], listed) if listed else "there are none"
            message = f"{self.what} {shown(value)} is not one that the team may use; {hint}"
            yield Breach(subject, path, message)

    def cel(self, x: str, _depth: int = 0) -> str:
        """Look into the list."""
        own = f" || {x} == {OWN[self.own]}" if self.own else ""
        return f"({x} in variables.{self.of}{own})"


@dataclass(frozen=True, slots=True)
class Same(Shape):
    """What the object says of itself."""

    own: str

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Refuse another's."""
        if value != about.own[self.own]:
            message = (
                f"{called(path)} is {shown(value)}, but should be {about.own[self.own]!r}, the run's own; remove it"
            )
            yield Breach(subject, path, message)

    def cel(self, x: str, _depth: int = 0) -> str:
        """Compare with the object's own."""
        return f"{x} == {OWN[self.own]}"


@dataclass(frozen=True, slots=True)
class AtMost(Shape):
    """A whole number of seconds, up to a bound of the allowance."""

    bound: str

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Refuse a larger one."""
        most = int(about.allowance.lists[self.bound][0])
        if type(value) is not int or value > most:
            message = f"{called(path)} is {shown(value)}, but the cluster's longest is {most} s; lower it"
            yield Breach(subject, path, message)

    def cel(self, x: str, _depth: int = 0) -> str:
        """Compare with the bound."""
        return f"{x} <= int(variables.{self.bound}[0])"


@dataclass(frozen=True, slots=True)
class Condition(Shape):
    """What a table of fields cannot say: a test, the same in CEL of `{x}`, and what is said where it fails."""

    test: Callable[[Any, About], bool]
    expression: str
    message: str
    subject: str | None = None
    at: Path = ()
    """The field that is meant, from the value."""

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Refuse a value that fails the test."""
        if not self.test(value, about):
            name = value.get("name") if isinstance(value, Mapping) else value
            message = self.message.format(name=shown(name) if name is not None else "it")
            yield Breach(self.subject or subject, (*path, *self.at), message)

    def cel(self, x: str, _depth: int = 0) -> str:
        """Return the condition of the value."""
        return "(" + self.expression.replace("{x}", x) + ")"


@dataclass(frozen=True, slots=True)
class Fields(Shape):
    """A map of which only some fields may be there, each of its shape; null is as good as absent."""

    what: str
    """Whose fields they are, in words."""
    fields: Mapping[str, Shape]
    about: Mapping[str, str] = field(default_factory=dict)
    """What fields are about, where that is not what the map is about."""
    required: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Refuse unknown fields, and look into the others."""
        if not isinstance(value, Mapping):
            yield Breach(subject, path, f"{called(path)} should be {self.what}, a map; change it")
            return
        for key, inner in value.items():
            shape, of = self.fields.get(key), self.about.get(key, subject)
            if shape is None:
                message = f"{str(key)[:63]} is not among what {self.what} of a run may have; remove it"
                yield Breach(of, (*path, key), message)
            elif shape is not ANY and inner is not None:
                yield from shape.breaches(inner, (*path, key), of, about)
        for key in self.required:
            if value.get(key) is None:
                message = f"{key} is missing, which {self.what} of a run must have; add it"
                yield Breach(self.about.get(key, subject), path, message)
        for each in self.conditions:
            yield from each.breaches(value, path, subject, about)

    def parts(self, x: str, depth: int = 0) -> Iterator[tuple[str, str]]:
        """Yield the conditions one by one, each with what it is about; empty where that is what the map is about."""
        key = f"k{depth}"
        names = ", ".join(json.dumps(each) for each in self.fields)
        yield "", f"{x}.all({key}, {key} in [{names}])"
        for name, shape in self.fields.items():
            inner = shape.cel(f"{x}.{name}", depth + 1)
            there = f"has({x}.{name}) && {x}.{name} != null"
            if inner == "false":
                yield self.about.get(name, ""), f"!({there})"
            elif inner != YES:
                yield self.about.get(name, ""), f"(!({there}) || {inner})"
            if name in self.required:
                yield self.about.get(name, ""), f"({there})"
        for each in self.conditions:
            yield each.subject or "", each.cel(x, depth)

    def cel(self, x: str, depth: int = 0) -> str:
        """Return all conditions together."""
        return "(" + " && ".join(text for _, text in self.parts(x, depth)) + ")"


@dataclass(frozen=True, slots=True)
class Items(Shape):
    """A list, every item of a shape."""

    item: Shape

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Look into every item."""
        if not isinstance(value, list):
            yield Breach(subject, path, f"{called(path)} should be a list; change it")
            return
        for index, each in enumerate(value):
            yield from self.item.breaches(each, (*path, index), subject, about)

    def cel(self, x: str, depth: int = 0) -> str:
        """Ask the condition of every item."""
        inner = self.item.cel(f"v{depth}", depth + 1)
        return YES if inner == YES else f"{x}.all(v{depth}, {inner})"


@dataclass(frozen=True, slots=True)
class Values(Shape):
    """A map with any keys, every value of a shape."""

    value: Shape

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Look into every value."""
        if not isinstance(value, Mapping):
            yield Breach(subject, path, f"{called(path)} should be a map; change it")
            return
        for key, each in value.items():
            yield from self.value.breaches(each, (*path, key), subject, about)

    def cel(self, x: str, depth: int = 0) -> str:
        """Ask the condition of every value."""
        inner = self.value.cel(f"{x}[v{depth}]", depth + 1)
        return YES if inner == YES else f"{x}.all(v{depth}, {inner})"


@dataclass(frozen=True, slots=True)
class Either(Shape):
    """A value of one of two shapes; what is wrong is said by the second."""

    first: Shape
    second: Shape

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Refuse what has neither shape."""
        if any(True for _ in self.first.breaches(value, path, subject, about)):
            yield from self.second.breaches(value, path, subject, about)

    def cel(self, x: str, depth: int = 0) -> str:
        """Ask either."""
        return f"({self.first.cel(x, depth)} || {self.second.cel(x, depth)})"


class Elsewhere(Shape):
    """A part that has a policy of its own: the check looks into it here, CEL does not."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Look into it."""
        yield from self.shape.breaches(value, path, subject, about)

    def cel(self, _x: str, _depth: int = 0) -> str:
        """Leave it to its own policy."""
        return YES


@dataclass(frozen=True, slots=True)
class Loose(Shape):
    """A map of which one field has a shape, and the others are as they are."""

    name: str
    shape: Shape

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Look into the field."""
        found = value.get(self.name) if isinstance(value, Mapping) else None
        if found is not None:
            yield from self.shape.breaches(found, (*path, self.name), subject, about)

    def cel(self, x: str, depth: int = 0) -> str:
        """Leave it to the policy on pods."""
        inner = self.shape.cel(f"{x}.{self.name}", depth)
        return inner if inner == YES else f"(!has({x}.{self.name}) || {inner})"


@dataclass(frozen=True, slots=True)
class Both(Shape):
    """A value of two shapes."""

    one: Shape
    other: Shape

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Look by both."""
        yield from self.one.breaches(value, path, subject, about)
        yield from self.other.breaches(value, path, subject, about)

    def cel(self, x: str, depth: int = 0) -> str:
        """Ask both."""
        found = [each for each in (self.one.cel(x, depth), self.other.cel(x, depth)) if each != YES]
        return f"({' && '.join(found)})" if found else YES


PLAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
"""Keys without a group that are words of people; those that controllers read mostly have dots or underscores."""

OBEYED = ("aadpodidbinding",)
"""Words that a controller reads all the same: AAD Pod Identity gives such a pod an identity (v1.8 docs/concepts)."""


@dataclass(frozen=True, slots=True)
class Pairs(Shape):
    """Labels or annotations: those that runs have, and people's own under groups that the repository lists."""

    known: Mapping[str, Shape]
    about: Mapping[str, str] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    exact: str | None = None
    """A list of the allowance with whole pairs that are right, as `key=value`."""

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Refuse keys of others, and values that are not the run's."""
        if not isinstance(value, Mapping):
            yield Breach(subject, path, f"{called(path)} should be a map; change it")
            return
        for key, text in value.items():
            if self.exact and f"{key}={text}" in about.allowance.lists[self.exact]:
                continue
            if key in self.known:
                yield from self.known[key].breaches(text, (*path, key), self.about.get(key, subject), about)
            elif not is_own(str(key), about.allowance.lists["keys"]):
                message = f"{called(path)} have {str(key)[:63]!r}, whose group is not the team's to use; remove it"
                yield Breach(subject, (*path, key), message)
        for key in self.required:
            if key not in value:
                yield Breach(subject, path, f"label {key} is missing, which everything of a run has; add it")

    def cel(self, x: str, depth: int = 0) -> str:
        """Ask every key, and the values of those that are known."""
        key = f"k{depth}"
        names = ", ".join(json.dumps(each) for each in self.known)
        exact = f"{key} + '=' + {x}[{key}] in variables.{self.exact} || " if self.exact else ""
        obeyed = ", ".join(json.dumps(each) for each in OBEYED)
        own = (
            f"({key}.matches('^{PLAIN.pattern}$') && !({key} in [{obeyed}])) || {key} in variables.keys || "
            f"variables.keys.exists(g, {key}.startsWith(g + '/') || {key}.contains('.' + g + '/'))"
        )
        parts = [f"{x}.all({key}, {exact}{key} in [{names}] || {own})"]
        for name, shape in self.known.items():
            inner = shape.cel(f"{x}[{json.dumps(name)}]", depth + 1)
            if inner != YES:
                whole = f" || '{name}=' + {x}[{json.dumps(name)}] in variables.{self.exact}" if self.exact else ""
                parts.append(f"(!({json.dumps(name)} in {x}) || {inner}{whole})")
        parts += [f"{json.dumps(name)} in {x}" for name in self.required]
        return "(" + " && ".join(parts) + ")"


def is_own(key: str, groups: Sequence[str]) -> bool:
    """Whether a key is people's own: a plain word, one that is listed, or of a group that is listed or below it."""
    if key in groups or (PLAIN.fullmatch(key) and key not in OBEYED):
        return True
    return any(key.startswith(f"{group}/") or f".{group}/" in key for group in groups)


def called(path: Path) -> str:
    """Return the name of a field for a message."""
    names = [str(part) for part in path if isinstance(part, str)]
    return names[-1][:63] if names else "the object"


def shown(value: Any) -> str:
    """Return a value for a message: as YAML has it, or that there is something."""
    if isinstance(value, str):
        return repr(value[:63])
    if isinstance(value, (bool, int, float)) or value is None:
        return json.dumps(value)
    return "set"
