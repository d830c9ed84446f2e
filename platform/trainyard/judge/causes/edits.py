"""Edits of what a spec says: a field taken out, another value, a name that is spelt otherwise everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.findings import Path, format_path

NOTHING = object()
"""What stands where nothing stands."""


def fields(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every field below a value with what stands there, outer ones first."""
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for part, inner in items:
        yield (*path, part), inner
        yield from fields(inner, (*path, part))


def path_of(value: Any, written: str) -> Path:
    """Return the path of a field as findings write it; of one that is not there the nearest that holds it."""
    known = {format_path(path): path for path, _ in fields(value)}
    while written and written not in known:
        written = written[: max(written.rfind("."), written.rfind("["), 0)]
    return known.get(written, ())


def value_at(value: Any, path: Path) -> Any:
    """Return the value at a path, NOTHING where none stands."""
    for part in path:
        is_there = part in value if isinstance(value, dict) else isinstance(value, list) and part in range(len(value))
        if not is_there:
            return NOTHING
        value = value[part]
    return value


def put(value: Any, path: Path, new: Any) -> Any:
    """Return a value in which something else stands at a path; NOTHING takes out what stands there."""
    if not path:
        return new
    part, rest = path[0], path[1:]
    if isinstance(value, list) and isinstance(part, int):
        items = [put(item, rest, new) if at == part else item for at, item in enumerate(value)]
        return [item for item in items if item is not NOTHING]
    if isinstance(value, dict):
        inner = put(value.get(str(part), {}), rest, new)
        rest_of = {key: item for key, item in value.items() if key != part}
        return rest_of if inner is NOTHING else {**value, part: inner}
    return value


def rename(value: Any, old: str, new: str) -> Any:
    """Return a value in which a name is spelt otherwise wherever it stands alone, as a key or as a text."""
    if isinstance(value, dict):
        return {new if key == old else key: rename(item, old, new) for key, item in value.items()}
    if isinstance(value, list):
        return [rename(item, old, new) for item in value]
    return new if value == old and isinstance(value, str) else value
