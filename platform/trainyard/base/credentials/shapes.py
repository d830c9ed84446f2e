"""Tokens and keys by their looks: the published forms of their issuers, which `shapes.yaml` has as data.

A form that other things have as well is not there: such keys are known by the names that they stand under.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

import re2

from trainyard.base.credentials.literals import is_documented, is_placeholder


class Shape(NamedTuple):
    """What something is, in words, and what it looks like; a group, if there is one, is the secret part."""

    what: str
    pattern: str
    hint: str
    """A part that every match has, quick to look for."""
    free: bool = False
    """Whether anything may stand beside it, since what is around it tells what it is."""


def read(file: Traversable) -> tuple[Shape, ...]:
    """Return the shapes of a file, in its order: one that says more comes before one that says less."""
    import yaml

    return tuple(Shape(**row) for row in yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader))


@cache
def shapes() -> tuple[Shape, ...]:
    """Return all shapes; to read and compile them takes longer than most commands need any."""
    return read(resources.files(__package__) / "shapes.yaml")


LEFT, RIGHT = r"(?<![A-Za-z0-9_/+-])", r"(?![A-Za-z0-9])"


@cache
def hints() -> str:
    """Return the pattern of a text in which a shape may be."""
    return "|".join(f"(?:{shape.hint})" for shape in shapes())


@cache
def hinted() -> re2.Pattern[bytes]:
    """Return the same compiled."""
    return re2.compile(hints())


@cache
def apart() -> re2.Set:
    """Return the hints of all shapes as a set, which tells those that a text has."""
    found = re2.Set.SearchSet()
    for shape in shapes():
        found.Add(shape.hint)
    found.Compile()
    return found


class Match(NamedTuple):
    """A token or key in a text: what it is, the part that is secret, and where that starts."""

    what: str
    value: str
    start: int
    documented: bool
    """Whether it is one that its issuer's documents show, which opens nothing."""


SURROGATE = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """Return a text as long as it was, with a sign in place of each byte of a file's name that is no UTF-8."""
    return text if text.isascii() else SURROGATE.sub("\ufffd", text)


def shapes_in(text: str) -> Iterator[Match]:
    """Yield the tokens and keys in a text, those first whose form says most; placeholders are none."""
    text = encodable(text)
    data = text.encode()
    if hinted().search(data) is None:
        return
    taken: list[tuple[int, int]] = []
    for shape in hinted_shapes(data):
        pattern, what = compile_shape(shape), shape.what
        for match in pattern.finditer(text):
            group = 1 if pattern.groups and match[1] is not None else 0
            value, (start, end) = match[group], match.span(group)
            if any(start < last and first < end for first, last in taken) or is_no_key(what, value, match[0]):
                continue
            taken.append((start, end))
            yield Match(what, value, start, is_documented(match[0]))


def hinted_shapes(data: bytes) -> list[Shape]:
    """Return the shapes to search for in a text that has some hint, in their order.

    It is all of them where no hint is told: a set that runs out of memory tells none.
    """
    found: list[int] = sorted(apart().Match(data))
    return [shapes()[number] for number in found] if found else list(shapes())


@cache
def compile_shape(shape: Shape) -> re.Pattern[str]:
    """Return the compiled pattern of a shape: compiling all takes longer than most commands need any."""
    return re.compile(shape.pattern if shape.free else f"{LEFT}(?:{shape.pattern}){RIGHT}")


def is_no_key(what: str, value: str, around: str) -> bool:
    """Say whether what looks like a key stands for one."""
    if what == "a password in a URL":
        user = around.partition("://")[2].partition(":")[0].lower()
        return is_placeholder(value) or (user in USERS and value.lower() in PASSWORDS) or value.isdigit()
    if what == "an Authorization header":
        return is_placeholder(value)
    return len(set(value)) <= FEW or is_placeholder(value)


USERS = frozenset({"user", "username", "usr", "name", "login", "youruser", "myuser"})
PASSWORDS = frozenset({"password", "pass", "passwd", "pwd", "pw", "token", "secret", "yourpassword", "mypassword"})
"""How documents write a URL with a password."""

FEW = 5
"""Different characters that a placeholder such as `hf_xxxxxxxx` has at most."""
