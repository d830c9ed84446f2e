"""Texts that start as JSON: one object, or several one after another, as kubectl reads them."""

from __future__ import annotations

import json
import re
from typing import Any

from trainyard.documents.nodes import MAX_DEPTH
from trainyard.documents.problem import Remarkable, TooMany
from trainyard.documents.scalars import as_json, resolve
from trainyard.limits import DOCUMENT_VALUES

LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def read(text: str) -> list[tuple[Any, int]]:
    """Return the objects of the text, each with the index at which it starts.

    Raises Remarkable or ValueError where YAML must judge instead: repeated keys, numbers beyond a float, anything
    that is no JSON. Kubernetes falls back in the same way.
    """
    decoder = json.JSONDecoder(
        object_pairs_hook=_object, parse_int=_number, parse_float=_number, parse_constant=_number
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
    return values


def _next(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise Remarkable
    return out


def _number(text: str) -> Any:
    number = as_json(resolve(text))
    if isinstance(number, str):
        raise Remarkable
    return number


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
