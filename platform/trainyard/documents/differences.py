"""Which fields differ between two values, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.credentials import hides
from trainyard.findings import Path, format_path

LONGEST = 40
"""Characters of a value that are shown."""


def differences(before: Any, after: Any, path: Path = (), *, name: str = "") -> Iterator[str]:
    """Yield a phrase for each field that differs: `spec.numVfs: 4 -> 8`, `spec.mtu: 9000 removed`.

    What a credential was or is remains untold; `name` is what the value stands under.
    """
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({*before, *after}):
            yield from _field(before, after, key, (*path, key))
    elif isinstance(before, list) and isinstance(after, list):
        left, right = (dict(enumerate(each)) for each in (before, after))
        for index in range(max(len(before), len(after))):
            yield from _field(left, right, index, (*path, index))
    elif before != after or type(before) is not type(after):
        yield f"{format_path(path)}: {short(before, name)} -> {short(after, name)}"


def _field(before: Mapping[Any, Any], after: Mapping[Any, Any], key: Any, path: Path) -> Iterator[str]:
    name = str(after.get("name", before.get("name", "")) if key == "value" else key)
    if key not in after:
        yield f"{format_path(path)}: {short(before[key], name)} removed"
    elif key not in before:
        yield f"{format_path(path)}: {short(after[key], name)} added"
    else:
        yield from differences(before[key], after[key], path, name=name)


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
