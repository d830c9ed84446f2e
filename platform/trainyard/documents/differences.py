"""Which fields differ between two values, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.findings import Path, format_path

LONGEST = 40
"""Characters of a value that are shown."""


def differences(before: Any, after: Any, path: Path = ()) -> Iterator[str]:
    """Yield a phrase for each field that differs: `spec.numVfs: 4 -> 8`, `spec.mtu: 9000 removed`."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({*before, *after}):
            yield from _field(before, after, key, (*path, key))
    elif isinstance(before, list) and isinstance(after, list):
        left, right = (dict(enumerate(each)) for each in (before, after))
        for index in range(max(len(before), len(after))):
            yield from _field(left, right, index, (*path, index))
    elif before != after or type(before) is not type(after):
        yield f"{format_path(path)}: {short(before)} -> {short(after)}"


def _field(before: Mapping[Any, Any], after: Mapping[Any, Any], key: Any, path: Path) -> Iterator[str]:
    if key not in after:
        yield f"{format_path(path)}: {short(before[key])} removed"
    elif key not in before:
        yield f"{format_path(path)}: {short(after[key])} added"
    else:
        yield from differences(before[key], after[key], path)


def short(value: Any) -> str:
    """Return a value on one line, cut where it is long."""
    if isinstance(value, Mapping):
        return f"{{{len(value)} fields}}" if value else "{}"
    if isinstance(value, list):
        return f"[{len(value)} items]" if value else "[]"
    text = {True: "true", False: "false", None: "null"}.get(value) if value is None or isinstance(value, bool) else None
    text = text or " ".join(str(value).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def changed_keys(before: Any, after: Any) -> tuple[str, ...]:
    """Return the top-level fields that differ between two specs, sorted; nothing where either is no map."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return ()
    return tuple(sorted(str(key) for key in {*before, *after} if before.get(key) != after.get(key)))
