"""Which fields differ between two values, in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from trainyard.credentials import Sure, hide, hides, leaks
from trainyard.documents.alignment import ABSENT, aligned, named
from trainyard.findings import Path, counted, format_path

LONGEST = 40
"""Characters of a value that are shown."""

DIGEST = re.compile(r"(@sha256:[0-9a-f]{12})[0-9a-f]{52}\b")
"""Digests of images, of which a few characters tell one from another."""

AROUND = 12
"""Characters that are shown in front of the place where two long texts part."""


def differences(before: Any, after: Any) -> Iterator[str]:
    """Yield a phrase for each field that differs: `spec.numVfs: 4 -> 8`, `spec.mtu: 9000 removed`.

    What a credential was or is remains untold, and so does all that a Secret holds.
    """
    for each in told(before, after):
        if each.closed:
            yield f"{each.path} changes"
        elif each.after is None:
            yield f"{each.path}: {each.before} removed"
        elif each.before is None:
            yield f"{each.path}: {each.after} added"
        else:
            yield f"{each.path}: {each.before} -> {each.after}"


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


def told(before: Any, after: Any) -> Iterator[FieldChange]:
    """Yield each field that differs, without what a credential was or is, and nothing of what a Secret holds."""
    found = list(aligned(before, after))
    if not found:
        return
    known = Known(before, after)
    closed = any(isinstance(each, Mapping) and each.get("kind") == "Secret" for each in (before, after))
    told_of = set()
    for each in found:
        where = hide(format_path(each.path), known.sure) + (f" line {each.line}" if each.line else "")
        if each.within and (known.hidden(each.left, left=True) or known.hidden(each.right)):
            where = hide(format_path(each.within), known.sure)
            if where not in told_of:
                told_of.add(where)
                yield FieldChange(where, None, None, closed=True, way=each.within)
            continue
        if closed:
            yield FieldChange(where, None, None, closed=True, way=each.path)
            continue
        old = None if each.before is ABSENT else known.whole(each.before, each.left, left=True)
        new = None if each.after is ABSENT else known.whole(each.after, each.right)
        yield FieldChange(where, *parted(old, new), way=each.path)


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
    """Return what the value at a path stands under: the name beside it, its key, or the flag in front of it."""
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
        known = named(value)
        if known is not None:
            return f"{{{known[0]}: {hides(known[1])}{', …' if len(value) > 1 else ''}}}"
        return f"{{{len(value)} fields}}" if value else "{}"
    if isinstance(value, list):
        return f"[{counted(len(value), 'item')}]" if value else "[]"
    text = {True: "true", False: "false", None: "null"}.get(value) if value is None or isinstance(value, bool) else None
    return text or " ".join(hides(str(value), name=name).split())


def short(value: Any, name: str = "") -> str:
    """Return a value on one line, cut where it is long, without the credentials in it."""
    return cut(flat(value, name))


def cut(text: str) -> str:
    """Return a text, cut where it is long."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def abridged(text: str) -> str:
    """Return a text in which digests of images are as short as people compare them.

    >>> abridged("a/b@sha256:" + 8 * "0123abcd")
    'a/b@sha256:0123abcd0123…'
    """
    return DIGEST.sub(r"\1…", text)


def parted(old: str | None, new: str | None) -> tuple[str | None, str | None]:
    """Return two texts as they are shown side by side: long ones from a little before the place where they part."""
    old, new = (each and abridged(each) for each in (old, new))
    if old is None or new is None or max(len(old), len(new)) <= LONGEST:
        return old if old is None else cut(old), new if new is None else cut(new)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    start = same - AROUND if same >= LONGEST - AROUND else 0
    one, two = (cut(f"…{text[start:]}" if start else text) for text in (old, new))
    return one, two


def changed_keys(before: Any, after: Any) -> tuple[str, ...]:
    """Return the top-level fields that differ between two specs, sorted; nothing where either is no map."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return ()
    return tuple(sorted(str(key) for key in {*before, *after} if before.get(key) != after.get(key)))
