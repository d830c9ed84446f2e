"""Texts that start as JSON: one object, or several one after another, as kubectl reads them.

A number beyond a float ends Go's reader of JSON (sigs.k8s.io/json v0.0.0-20250730 decode.go, convertNumber): a server
that gets the text as JSON answers 400, and kubectl, which asks its reader of YAML then, makes a string of it.
"""

from __future__ import annotations

import json
import re
from typing import Any

from trainyard.base.documents.nodes import MAX_DEPTH
from trainyard.base.documents.problem import Problem, Remarkable, TooMany, Unreadable
from trainyard.base.documents.scalars import as_json, resolve
from trainyard.base.limits import DOCUMENT_VALUES

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9][-+.0-9eE]*')
"""A text or a number of JSON, in which no number of a text is taken for one."""


def read(text: str, line: int = 1) -> list[tuple[Any, int]]:
    """Return the objects of the text, which starts at a line of its file, each with the index at which it starts.

    Raises Remarkable or ValueError where YAML must judge instead: repeated keys, anything that is no JSON. Kubernetes
    falls back in the same way. Raises Unreadable for a number beyond a float.
    """
    beyond: list[str] = []

    def number(digits: str) -> Any:
        found = as_json(resolve(digits))
        if isinstance(found, str):
            beyond.append(digits)
        return found

    decoder = json.JSONDecoder(
        object_pairs_hook=_object, parse_int=number, parse_float=number, parse_constant=_no_number
    )
    values: list[tuple[Any, int]] = []
    at, escapes = _next(text, 0), "\\u" in text
    while at < len(text):
        if text[at] != "{":
            raise Remarkable
        try:
            value, end = decoder.raw_decode(text, at)
        except RecursionError:
            raise Remarkable from None
        _check_size(value)
        values.append((_without_surrogates(value) if escapes else value, at))
        at = _next(text, end)
    if beyond:
        raise Unreadable(_beyond(text, beyond[0], line))
    return values


def _beyond(text: str, digits: str, line: int) -> Problem:
    """Say where the first number is that no float holds."""
    start = next(found.start() for found in TOKEN.finditer(text) if found[0] == digits)
    message = f"{digits[:40]} is too large a number for JSON; write a smaller one, or quote it"
    return Problem("decode/not-finite", message, line + text.count("\n", 0, start), start - text.rfind("\n", 0, start))


def _next(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise Remarkable
    return out


def _no_number(_text: str) -> Any:
    raise Remarkable


def _check_size(value: Any) -> None:
    """Raise Remarkable for a value that is too deep or has too many others in it."""
    level, left = [value], DOCUMENT_VALUES
    for _ in range(MAX_DEPTH + 1):
        left -= sum(map(len, level))
        if left < 0:
            raise TooMany
        if not level:
            return
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
    raise Remarkable


def _without_surrogates(value: Any) -> Any:
    """Replace halves of characters that JSON can escape alone, as Go's decoder does."""
    if isinstance(value, str):
        return LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        out = {LONE_SURROGATE.sub("\ufffd", key): _without_surrogates(item) for key, item in value.items()}
        if len(out) != len(value):
            raise Remarkable
        return out
    return value
