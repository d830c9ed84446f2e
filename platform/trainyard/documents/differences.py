"""Which fields differ between two values, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from trainyard.credentials import Sure, hide, hides, leaks
from trainyard.findings import Path, format_path

LONGEST = 40
"""Characters of a value that are shown."""


def differences(before: Any, after: Any) -> Iterator[str]:
    """Yield a phrase for each field that differs: `spec.numVfs: 4 -> 8`, `spec.mtu: 9000 removed`.

    What a credential was or is remains untold, and so does all that a Secret holds.
    """
    found = list(_fields(before, after, ()))
    if not found:
        return
    known = Known(before, after)
    closed = any(isinstance(each, Mapping) and each.get("kind") == "Secret" for each in (before, after))
    for path, old, new in found:
        where = hide(format_path(path), known.sure)
        if closed:
            yield f"{where} changes"
        elif new is ABSENT:
            yield f"{where}: {known.short(old, path, left=True)} removed"
        elif old is ABSENT:
            yield f"{where}: {known.short(new, path)} added"
        else:
            yield f"{where}: {known.short(old, path, left=True)} -> {known.short(new, path)}"


ABSENT: Any = object()
"""In place of a value that one side has not."""


def _fields(before: Any, after: Any, path: Path) -> Iterator[tuple[Path, Any, Any]]:
    """Yield each field that differs with its two values."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({*before, *after}):
            yield from _fields(before.get(key, ABSENT), after.get(key, ABSENT), (*path, key))
    elif isinstance(before, list) and isinstance(after, list):
        for index, (old, new) in enumerate(zip_longest(before, after, fillvalue=ABSENT)):
            yield from _fields(old, new, (*path, index))
    elif before != after or type(before) is not type(after):
        yield path, before, after


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

    def short(self, value: Any, path: Path, *, left: bool = False) -> str:
        """Return a value on one line without the credentials in it; `left` says that it is the one before."""
        if isinstance(value, str):
            value = hide(value, self.sure | self._at[0 if left else 1].get(path, set()))
        return short(value, _name(self._sides[0 if left else 1], path))


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


def short(value: Any, name: str = "") -> str:
    """Return a value on one line, cut where it is long, without the credentials in it."""
    if isinstance(value, Mapping):
        return f"{{{len(value)} fields}}" if value else "{}"
    if isinstance(value, list):
        return f"[{len(value)} items]" if value else "[]"
    text = {True: "true", False: "false", None: "null"}.get(value) if value is None or isinstance(value, bool) else None
    text = text or " ".join(hides(str(value), name=name).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def changed_keys(before: Any, after: Any) -> tuple[str, ...]:
    """Return the top-level fields that differ between two specs, sorted; nothing where either is no map."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return ()
    return tuple(sorted(str(key) for key in {*before, *after} if before.get(key) != after.get(key)))
