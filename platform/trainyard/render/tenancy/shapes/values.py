"""Shapes of single values: some that are known, those that a list of the allowance has, and what a test says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.base.findings import Path, did_you_mean
from trainyard.render.tenancy.shapes.base import OWN, YES, About, Breach, Shape, field_of, show


class Anything(Shape):
    """Any value that the API accepts."""

    def breaches(self, _value: Any, _path: Path, _subject: str, _about: About) -> Iterator[Breach]:
        """Yield nothing."""
        yield from ()

    def cel(self, _x: str, _depth: int = 0) -> str:
        """Return the condition that always holds."""
        return YES


ANY = Anything()


class Served(Anything):
    """A field that a server or a webhook fills in, and that nobody writes."""

    def breaches(self, _value: Any, path: Path, subject: str, _about: About) -> Iterator[Breach]:
        """Refuse the field in what is rendered."""
        yield Breach(subject, path, f"only the cluster sets {field_of(path)}; remove it")


@dataclass(frozen=True, slots=True)
class Only(Shape):
    """One of a few values, all of one type."""

    values: tuple[Any, ...]

    def breaches(self, value: Any, path: Path, subject: str, _about: About) -> Iterator[Breach]:
        """Refuse another value."""
        if not any(value == one_value and type(value) is type(one_value) for one_value in self.values):
            known = " or ".join(show(one_value) for one_value in self.values)
            yield Breach(subject, path, f"{field_of(path)} is {show(value)}, but may only be {known}; change it")

    def cel(self, x: str, _depth: int = 0) -> str:
        """Compare with each value."""
        listed = [json.dumps(value) for value in self.values]
        return f"{x} == {listed[0]}" if len(listed) == 1 else f"{x} in [{', '.join(listed)}]"


def only(*values: Any) -> Only:
    """Return the shape of a few values."""
    return Only(values)


class Never(Shape):
    """A field that no run has."""

    def breaches(self, value: Any, path: Path, subject: str, _about: About) -> Iterator[Breach]:
        """Refuse the field, whatever it says."""
        yield Breach(subject, path, f"{field_of(path)} is {show(value)}, which no run may have; remove it")

    def cel(self, _x: str, _depth: int = 0) -> str:
        """Return the condition that never holds."""
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
            message = f"the team may not use {self.what} {show(value)}; {hint}"
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
                f"{field_of(path)} is {show(value)}, but must be {about.own[self.own]!r}, the run's value; remove it"
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
            message = f"{field_of(path)} is {show(value)}, but the cluster allows at most {most} seconds; lower it"
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
            message = self.message.format(name=show(name) if name is not None else "it")
            yield Breach(self.subject or subject, (*path, *self.at), message)

    def cel(self, x: str, _depth: int = 0) -> str:
        """Return the condition of the value."""
        return "(" + self.expression.replace("{x}", x) + ")"
