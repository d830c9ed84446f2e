"""Which fields differ between two values, in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from trainyard.base.credentials import Sure, hide, hides, leaks
from trainyard.base.documents.alignment import ABSENT, align_fields, entry_name
from trainyard.base.findings import Path, count_of, format_path

LONGEST = 40
"""Characters of a value that are shown."""

DIGEST = re.compile(r"(@sha256:[0-9a-f]{12})[0-9a-f]{52}\b")
"""Digests of images, of which a few characters tell one from another."""

AROUND = 12
"""Characters that are shown in front of the place where two long texts part."""


def differences(before: Any, after: Any) -> Iterator[str]:
    """Yield a phrase for each field that differs: `spec.numVfs: 4 → 8`, `spec.mtu: 9000 removed`.

    What a credential was or is remains untold, and so does all that a Secret holds.
    """
    for field_change in field_changes(before, after):
        if field_change.closed:
            yield f"{field_change.path} changed"
        elif field_change.after is None:
            yield f"{field_change.path}: {field_change.before} removed"
        elif field_change.before is None:
            yield f"{field_change.path}: {field_change.after} added"
        else:
            yield f"{field_change.path}: {field_change.before} → {field_change.after}"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that differs, as it may be shown; None on a side that has it not."""

    path: str
    before: str | None
    after: str | None
    closed: bool = False
    """Whether neither value may be shown."""
    way: Path = ()
    """The path in parts."""


def field_changes(before: Any, after: Any) -> Iterator[FieldChange]:
    """Yield each field that differs, without what a credential was or is, and nothing of what a Secret holds."""
    found = list(align_fields(before, after))
    if not found:
        return
    known = Known(before, after)
    closed = any(isinstance(fate, Mapping) and fate.get("kind") == "Secret" for fate in (before, after))
    told_of = set()
    for change in found:
        where = hide(format_path(change.path), known.sure) + (f" line {change.line}" if change.line else "")
        if change.within and (known.hidden(change.left, left=True) or known.hidden(change.right)):
            where = hide(format_path(change.within), known.sure)
            if where not in told_of:
                told_of.add(where)
                yield FieldChange(where, None, None, closed=True, way=change.within)
            continue
        if closed:
            yield FieldChange(where, None, None, closed=True, way=change.path)
            continue
        old = None if change.before is ABSENT else known.whole(change.before, change.left, left=True)
        new = None if change.after is ABSENT else known.whole(change.after, change.right)
        yield FieldChange(where, *part_texts(old, new), way=change.path)


class Known:
    """The credentials of two values, which are found where all of each is seen: a flag names what is behind it."""

    def __init__(self, before: Any, after: Any) -> None:
        self._sides = (before, after)
        self._at: tuple[dict[Path, set[str]], dict[Path, set[str]]] = ({}, {})
        self.sure: set[str] = set()
        for value, found in zip(self._sides, self._at, strict=True):
            for leak in leaks(value):
                found.setdefault(leak.path, set()).add(leak.value)
                if leak.sure is Sure.YES:
                    self.sure.add(leak.value)

    def hidden(self, path: Path, *, left: bool = False) -> bool:
        """Say whether a text has a credential in it, so that no part of it may be shown by itself."""
        text: Any = self._sides[0 if left else 1]
        for part in path:
            text = text[part]
        known = self.sure | self._at[0 if left else 1].get(path, set())
        return hides(hide(str(text), known), name=_name(self._sides[0 if left else 1], path)) != str(text)

    def whole(self, value: Any, path: Path, *, left: bool = False) -> str:
        """Return a value on one line without the credentials in it; `left` says that it is the one before."""
        if isinstance(value, str):
            value = hide(value, self.sure | self._at[0 if left else 1].get(path, set()))
        return flat(value, _name(self._sides[0 if left else 1], path))


def _name(value: Any, path: Path) -> str:
    """Return the name of the value at a path: the name beside it, its key, or the flag in front of it."""
    around: Any = None
    for part in path:
        around, value = value, value[part]
    last = path[-1] if path else ""
    if isinstance(around, Mapping):
        return str(around.get("name", "") if last == "value" else last)
    before = around[last - 1] if isinstance(around, list) and isinstance(last, int) and last > 0 else ""
    return before.lstrip("-") if isinstance(before, str) and before.startswith("-") and "=" not in before else ""


def flat(value: Any, name: str = "") -> str:
    """Return a value on one line, without the credentials in it."""
    if isinstance(value, Mapping):
        known = entry_name(value)
        if known is not None:
            return f"{{{known[0]}: {hides(known[1])}{', …' if len(value) > 1 else ''}}}"
        return f"{{{count_of(len(value), 'field')}}}" if value else "{}"
    if isinstance(value, list):
        return f"[{count_of(len(value), 'item')}]" if value else "[]"
    text = {True: "true", False: "false", None: "null"}.get(value) if value is None or isinstance(value, bool) else None
    return text or " ".join(hides(str(value), name=name).split())


def cut(text: str) -> str:
    """Return a text, cut where it is long."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def abridge_digests(text: str) -> str:
    """Return a text in which digests of images are as short as people compare them.

    >>> abridge_digests("a/b@sha256:" + 8 * "0123abcd")
    'a/b@sha256:0123abcd0123…'
    """
    return DIGEST.sub(r"\1…", text)


def part_texts(old: str | None, new: str | None) -> tuple[str | None, str | None]:
    """Return two texts as they are shown side by side: long ones from a little before the place where they part."""
    old, new = (text and abridge_digests(text) for text in (old, new))
    if old is None or new is None or max(len(old), len(new)) <= LONGEST:
        return old if old is None else cut(old), new if new is None else cut(new)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    start = same - AROUND if same >= LONGEST - AROUND else 0
    one, two = (cut(f"…{text[start:]}" if start else text) for text in (old, new))
    return one, two
