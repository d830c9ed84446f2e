"""What functions of texts, bytes and addresses cost.

Source: google/cel-go v0.26.0 checker/cost.go functionCost; k8s.io/apiserver v0.35.4 pkg/cel/library/cost.go.
"""

from __future__ import annotations

import math

from trainyard.upstream.apiserver.cel.cost.called import ONE, READ, Called, Cost, Found, integer, size_of
from trainyard.upstream.apiserver.cel.cost.lists import elements
from trainyard.upstream.apiserver.cel.cost.ranges import MOST, Range, exactly
from trainyard.upstream.apiserver.cel.functions import Overload

REGEX = 0.25
"""The cost of one character of a regular expression."""
NONE = exactly(0)
_FORMAT_REGEX = 128
"""Characters of a format's regular expression, as the server takes them (pkg/cel/limits.go MaxNameFormatRegexSize)."""
_ADDRESS = Range(4, 16)
"""Bytes of an IP address."""


def over_argument(called: Called, _: Overload) -> Found:
    """Cost what goes over the text that it looks for."""
    return size_of(called.parts[0]).scaled(READ), None


def join(called: Called, _: Overload) -> Found | None:
    """Cost the text that `join` makes: all elements, and what stands between them."""
    if called.target is None:
        return None
    count, size = size_of(called.target), NONE
    if called.target.type.parameters:
        size = count * elements(called, called.target.path)
    if called.parts:
        between = Range(max(0, count.least - 1), max(0, count.most - 1))
        size += size_of(called.parts[0]) * between
    return size.scaled(READ), size


def replace(called: Called, _: Overload) -> Found | None:
    """Cost `replace`, whose result may be longer than what it is called on."""
    if called.target is None or len(called.parts) < 2:
        return None
    text, old, new = size_of(called.target), size_of(called.parts[0]), size_of(called.parts[1])
    most, least = (0, text.most), (0, text.least)
    if old.least == 0:
        most = (min(text.most + 1, MOST), text.most)
    elif new.most > old.least:
        most = (_up(text.most, old.least), 0)
    if old.most == 0:
        least = (min(text.least + 1, MOST), text.least)
    elif old.most > new.least:
        least = (_up(text.least, old.most), 0)
    size = Range(least[0], most[0]) * new + Range(least[1], most[1])
    return text.scaled(2 * READ), size


def _up(one: int, two: int) -> int:
    return min(math.ceil(float(one) / float(two)), MOST)


def split(called: Called, _: Overload) -> Found | None:
    """Cost `split`, whose result has at most as many elements as there are characters, or as it is told."""
    if called.target is None:
        return None
    text = size_of(called.target)
    most = text.most
    if len(called.parts) > 1 and (limit := integer(called.parts[1])) is not None:
        most = limit % 2**64
    return text.scaled(2 * READ), Range(0, most)


def find(called: Called, _: Overload) -> Found | None:
    """Cost `find`, which may find every character."""
    if called.target is None:
        return None
    return regex(size_of(called.target), size_of(called.parts[0])), Range(0, size_of(called.target).most)


def matches(called: Called, _: Overload) -> Found | None:
    """Cost a regular expression: its length times that of the text. The form with two arguments is not counted."""
    if called.target is None:
        return None
    return regex(size_of(called.target), size_of(called.parts[0])), None


def regex(text: Range, expression: Range) -> Range:
    """Return the cost of a regular expression over a text."""
    return (text + ONE).scaled(READ) * expression.scaled(REGEX)


def contains(called: Called, overload: Overload) -> Found | None:
    """Cost `contains`: the length of one text times that of the other."""
    if called.target is None or overload.parameters[0].kind != "string":
        return None
    return size_of(called.target).scaled(READ) * size_of(called.parts[0]).scaled(READ), None


def address(called: Called, _: Overload) -> Found:
    """Cost `ip`: free of reading where it is a member of a range."""
    return (ONE, None) if called.target is not None else (size_of(called.parts[0]).scaled(READ), None)


def holds(*, ranges: bool) -> Cost:
    """Return the cost of asking whether a range has an address, or another range."""

    def cost(called: Called, overload: Overload) -> Found:
        compared = (_ADDRESS + _ADDRESS).scaled(READ)
        if ranges:
            compared += _ADDRESS.scaled(READ) + ONE
        if overload.parameters[-1].kind == "string":
            compared += size_of(called.parts[0]).scaled(READ)
        return compared, None

    return cost


def format_check(called: Called, _: Overload) -> Found:
    """Cost a format's `validate`."""
    return size_of(called.parts[0]).scaled(READ).scaled(_FORMAT_REGEX * REGEX), None


def selector(called: Called, _: Overload) -> Found | None:
    """Cost reading a selector: its text, and what is made of each requirement."""
    size = size_of(called.parts[0])
    return exactly(10) + size.scaled(READ) + size.scaled(0.5).scaled(50), None


def to_bytes(called: Called, overload: Overload) -> Found | None:
    """Cost turning a text into bytes, four for each character at most."""
    if overload.parameters[0].kind != "string":
        return None
    size = size_of(called.parts[0])
    return size.scaled(READ), Range(size.least, (size.most * 4) % 2**64)


def to_text(called: Called, overload: Overload) -> Found | None:
    """Cost turning bytes into a text."""
    if overload.parameters[0].kind != "bytes":
        return None
    size = size_of(called.parts[0])
    return size.scaled(READ), Range(size.least // 4, size.most)


def quote(called: Called, _: Overload) -> Found:
    """Cost a text in quotes, where every character may be escaped."""
    size = size_of(called.parts[0])
    return size.scaled(READ), Range((size.least + 2) % 2**64, (size.most * 2 + 2) % 2**64)
