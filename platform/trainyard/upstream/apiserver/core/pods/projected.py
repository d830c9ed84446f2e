"""Projected volumes and downward API volumes: files from several sources in one folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.upstream.apiserver.core.pods import paths
from trainyard.upstream.apiserver.core.pods.env import VOLUME_FIELDS, check_field, check_resource_field
from trainyard.upstream.apiserver.core.pods.rules import VOLUME
from trainyard.upstream.apiserver.core.pods.sources import check_keys, check_mode
from trainyard.upstream.apiserver.core.shapes import Object, child, each, number
from trainyard.upstream.apiserver.problems import Path, Problem

_SHORTEST_TOKEN = 600
_KINDS = ("secret", "configMap", "downwardAPI", "serviceAccountToken")


def check_downward(source: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with a downward API volume."""
    yield from check_mode(source, path)
    yield from _check_downward_files(source, path)


def _check_downward_files(source: Object, path: Path) -> Iterator[Problem]:
    for index, file in each(source, "items"):
        at = (*path, "items", index)
        yield from _check_path(file.get("path"), (*at, "path"), anywhere=False)
        field, resource = child(file, "fieldRef"), child(file, "resourceFieldRef")
        if field is not None:
            yield from check_field(field, (*at, "fieldRef"), VOLUME_FIELDS)
            if resource is not None:
                yield VOLUME.invalid(at, "resource", "fieldRef and resourceFieldRef cannot both be set")
        elif resource is not None:
            yield from check_resource_field(resource, (*at, "resourceFieldRef"), volume=True)
        else:
            yield VOLUME.required(at, "one of fieldRef and resourceFieldRef is required")
        yield from check_mode(file, at, "mode")


def _check_path(value: Any, path: Path, *, anywhere: bool) -> Iterator[Problem]:
    if not value:
        yield VOLUME.required(path)
    elif not anywhere and (detail := paths.local(value)):
        yield VOLUME.invalid(path, value, detail)


def check_projected(source: Object, path: Path, *, any_token_path: bool) -> Iterator[Problem]:
    """Yield the problems with a projected volume; no two sources may write the same file.

    Trust bundles and pod certificates are behind gates that are off: the server drops them before it looks.
    """
    yield from check_mode(source, path)
    written: set[str] = set()
    for index, projection in each(source, "sources"):
        at = (*path, "sources", index)
        present = [kind for kind in _KINDS if child(projection, kind) is not None]
        for kind in present:
            yield from _check_projection(kind, projection[kind], (*at, kind), any_token_path)
            if kind == "serviceAccountToken":
                continue
            for file, item in each(projection[kind], "items"):
                target = item.get("path")
                if isinstance(target, str) and target:
                    if target in written:
                        yield VOLUME.invalid((*at, kind, "items", file, "path"), target, "conflicting duplicate path")
                    written.add(target)
        if len(present) > 1:
            yield VOLUME.forbidden(at, "may not specify more than 1 volume type per source")


def _check_projection(kind: str, projection: Object, path: Path, any_token_path: bool) -> Iterator[Problem]:
    if kind == "downwardAPI":
        yield from _check_downward_files(projection, path)
    elif kind == "serviceAccountToken":
        seconds = number(projection, "expirationSeconds")
        if seconds is not None and not _SHORTEST_TOKEN <= seconds <= 2**32:
            yield VOLUME.invalid((*path, "expirationSeconds"), seconds, "must be 10 minutes to 2^32 seconds")
        yield from _check_path(projection.get("path"), (*path, "path"), anywhere=any_token_path)
    else:
        if not projection.get("name"):
            yield VOLUME.required((*path, "name"))
        yield from check_keys(projection, path)
