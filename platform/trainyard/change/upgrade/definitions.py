"""What another release does to the kinds of an operator: those that come and go, their versions and their fields."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from trainyard.base.system import vendored
from trainyard.base.versions import exact

DEEPEST = 12
"""Levels of fields that are compared; below come the fields of pods, which are Kubernetes' own."""

Kinds = Mapping[tuple[str, str], Mapping[str, Mapping[str, Any]]]
"""By group and kind, the versions of a release with what its index says of each."""


@dataclass(frozen=True, slots=True)
class Definitions:
    """The differences between the kinds of two releases."""

    read: bool = True
    """False where the types of one of the releases are not there."""
    added: tuple[str, ...] = ()
    """Kinds that come, as `group/Kind`."""
    removed: tuple[str, ...] = ()
    dropped: tuple[tuple[str, str, bool], ...] = ()
    """Kind and version that are served no more, and whether objects may be stored in it."""
    stored: tuple[tuple[str, str, str, bool], ...] = ()
    """Kind, the version in which objects were stored and the one from now on, and whether the old release serves it."""
    lost: tuple[tuple[str, str], ...] = ()
    """Kind and field that the new release does not know."""
    new: tuple[tuple[str, str], ...] = ()
    """Kind and field that the old release does not know."""


def compare_kinds(schemas: Path, project: str, before: str, after: str) -> Definitions:
    """Return the differences between two releases of a project, of which `schemas` has the types."""
    old, new = folder(schemas, project, before), folder(schemas, project, after)
    if old is None or new is None:
        return Definitions(read=not vendored.folders(schemas / project))
    one, two = kinds(schemas, project, old), kinds(schemas, project, new)
    both = [kind for kind in one if kind in two]
    fields = [difference for kind in both for difference in field_differences(schemas / project, old, new, kind, two)]
    return Definitions(
        added=tuple(spelled(kind) for kind in two if kind not in one),
        removed=tuple(spelled(kind) for kind in one if kind not in two),
        dropped=tuple(gone for kind in both for gone in dropped_versions(kind, one[kind], two[kind])),
        stored=tuple(moved for kind in both for moved in moved_storage(kind, one[kind], two[kind])),
        lost=tuple(dict.fromkeys((kind, field) for kind, field, is_new in fields if not is_new)),
        new=tuple(dict.fromkeys((kind, field) for kind, field, is_new in fields if is_new)),
    )


def folder(schemas: Path, project: str, release: str) -> str | None:
    """Return the folder of a release's types, None where nobody imported them."""
    return next((name for name in vendored.folders(schemas / project) if exact(name, release)), None)


def kinds(schemas: Path, project: str, release: str) -> Kinds:
    """Return the kinds of a release that it serves."""
    found: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for entry in vendored.kinds(schemas, project, release):
        if entry.get("served"):
            found.setdefault((entry["group"], entry["kind"]), {})[entry["version"]] = entry
    return found


def spelled(kind: tuple[str, str]) -> str:
    """Return a kind with its group, as messages have it."""
    return "/".join(kind)


def dropped_versions(
    kind: tuple[str, str], old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[tuple[str, str, bool]]:
    """Yield versions of a kind that are served no more; any that was ever the stored one may still hold objects."""
    for version, entry in old.items():
        if version not in new:
            yield spelled(kind), version, bool(entry.get("storage"))


def moved_storage(
    kind: tuple[str, str], old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[tuple[str, str, str, bool]]:
    """Yield a kind whose objects are stored in another version."""
    one, two = stored_version(old), stored_version(new)
    if one and two and one != two:
        yield spelled(kind), one, two, two in old


def stored_version(versions: Mapping[str, Any]) -> str | None:
    """Return the version in which objects of a kind are stored."""
    return next((version for version, entry in versions.items() if entry.get("storage")), None)


def field_differences(
    project: Path, old: str, new: str, kind: tuple[str, str], after: Kinds
) -> Iterator[tuple[str, str, bool]]:
    """Yield kind and field that only one of two releases has, and whether that is the new one; the outermost alone."""
    group, name = kind
    for version in after[kind]:
        files = [project / release / group / f"{name.lower()}_{version}.json" for release in (old, new)]
        if not all(file.is_file() for file in files):
            continue
        one, two = (fields_of(file) for file in files)
        for path in outermost(one - two):
            yield name, path, False
        for path in outermost(two - one):
            yield name, path, True


def outermost(paths: frozenset[str]) -> list[str]:
    """Return paths without those below another one of them."""
    above = {path: [path[:end] for end, letter in enumerate(path) if letter == "."] for path in paths}
    return [path for path in sorted(paths) if not paths.intersection(above[path])]


@cache
def fields_of(file: Path) -> frozenset[str]:
    """Return the paths of the fields that a kind's types name, as in `spec.podSets[].count`."""
    schema = json.loads(file.read_bytes())
    return frozenset(below(schema, "", schema.get("definitions") or {}, 0))


def below(schema: Mapping[str, Any], path: str, definitions: Mapping[str, Any], depth: int) -> Iterator[str]:
    """Yield the paths of the fields below a schema."""
    if "$ref" in schema:
        schema = definitions.get(str(schema["$ref"]).rpartition("/")[2]) or {}
    if depth > DEEPEST:
        return
    for key, part in (schema.get("properties") or {}).items():
        inner = f"{path}.{key}" if path else key
        yield inner
        yield from below(part, inner, definitions, depth + 1)
    for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(schema.get(key), Mapping):
            yield from below(schema[key], f"{path}{mark}", definitions, depth + 1)
