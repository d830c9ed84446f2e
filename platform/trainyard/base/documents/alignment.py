"""Which fields differ between two values: lists by what is in them, texts with JSON by its fields."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from trainyard.base.findings import Path

ABSENT: Any = object()
"""In place of a value that one side has not."""

LONGEST = 2000
"""Entries of a list, or lines of a text, that are aligned; longer ones are compared one by one."""

NAMES = ("name", "key", "namespace", "resource", "path")
"""Fields by which an entry of a list is known again, the first that it has."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that differs; within a text that holds JSON, `left` and `right` lead to the text."""

    path: Path
    """Where it is, in the list of the new side where entries were moved."""
    before: Any
    after: Any
    left: Path
    """Where the value before is."""
    right: Path
    within: Path = ()
    """The text that it is a part of, where it is a field of the JSON in one, or a line."""
    line: int | None = None
    """Of a text with several lines, the one that differs; from 1."""


def align_fields(before: Any, after: Any) -> Iterator[Difference]:
    """Yield each field that differs between two values."""
    return _fields(before, after, (), (), ())


def _fields(before: Any, after: Any, path: Path, left: Path, right: Path) -> Iterator[Difference]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({*before, *after}, key=str):
            old, new = before.get(key, ABSENT), after.get(key, ABSENT)
            yield from _fields(old, new, (*path, key), (*left, key), (*right, key))
    elif isinstance(before, list) and isinstance(after, list):
        for one, two in _pairs(before, after):
            old, new = ABSENT if one is None else before[one], ABSENT if two is None else after[two]
            at = two if two is not None else one if one is not None else 0
            ways = (way if index is None else (*way, index) for way, index in ((left, one), (right, two)))
            yield from _fields(old, new, (*path, at), *ways)
    elif isinstance(before, str) and isinstance(after, str) and before != after:
        yield from _texts(before, after, path, left, right)
    elif before != after or type(before) is not type(after):
        yield Difference(path, before, after, left, right)


def _pairs(before: Sequence[Any], after: Sequence[Any]) -> Iterator[tuple[int | None, int | None]]:
    """Yield the entries of two lists that belong together, by their places, but those that are equal."""
    if max(len(before), len(after)) > LONGEST:
        yield from zip_longest(range(len(before)), range(len(after)))
        return
    ones, twos = ([json.dumps(element, sort_keys=True, default=str) for element in side] for side in (before, after))
    for word, start, stop, first, last in SequenceMatcher(None, ones, twos, autojunk=False).get_opcodes():
        if word != "equal":
            yield from _replaced(before, after, range(start, stop), range(first, last))


def _replaced(
    before: Sequence[Any], after: Sequence[Any], olds: range, news: range
) -> Iterator[tuple[int | None, int | None]]:
    """Yield the entries of two stretches that belong together: those of one name, else those of one place."""
    known = [name for index in olds if (name := entry_name(before[index])) is not None]
    names = {name: index for index in news if (name := entry_name(after[index])) is not None}
    if len(known) < len(olds) or len(names) < len(news):
        yield from zip_longest(olds, news)
        return
    for index, name in zip(olds, known, strict=True):
        yield index, names.pop(name, None)
    yield from ((None, index) for index in names.values())


def entry_name(value: Any) -> tuple[str, str] | None:
    """Return by what an entry of a list is known again, None where it has no name."""
    if not isinstance(value, Mapping):
        return None
    return next(((field, str(value[field])) for field in NAMES if isinstance(value.get(field), str)), None)


def _texts(before: str, after: str, path: Path, left: Path, right: Path) -> Iterator[Difference]:
    """Yield how two texts differ: by the fields of the JSON in them, by lines, or as they are."""
    old, new = _json(before), _json(after)
    if old is not None and new is not None and type(old) is type(new) and old != new:
        for field in _fields(old, new, path, (), ()):
            yield Difference(field.path, field.before, field.after, left, right, path)
        return
    ones, twos = before.splitlines(), after.splitlines()
    if min(len(ones), len(twos)) < 2 or max(len(ones), len(twos)) > LONGEST:
        yield Difference(path, before, after, left, right)
        return
    for word, start, stop, first, last in SequenceMatcher(None, ones, twos, autojunk=False).get_opcodes():
        if word == "equal":
            continue
        for one, two in zip_longest(range(start, stop), range(first, last)):
            was, now = ABSENT if one is None else ones[one], ABSENT if two is None else twos[two]
            at = two if two is not None else one if one is not None else 0
            yield Difference(path, was, now, left, right, path, at + 1)


def _json(text: str) -> Any:
    """Return the map or list that a text is in JSON, None where it is none."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, (dict, list)) else None
