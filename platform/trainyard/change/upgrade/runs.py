"""The objects of runs that clusters have, by the kinds and API versions in which they were written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainyard.base.documents import load
from trainyard.base.system import files
from trainyard.base.system.repository import GENERATED
from trainyard.render.tree import layout

HEAD = re.compile(rb"^apiVersion: (?P<version>[^\s\"']+)$.*?^kind: (?P<kind>\w+)$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Head:
    """Kind and version of an object of a run."""

    cluster: str
    run: str
    """Its folder, from the cluster's on."""
    group: str
    version: str
    kind: str
    file: str = ""
    """Its file, from the repository on."""


def run_objects(root: Path, clusters: Collection[str]) -> Iterator[Head]:
    """Yield the objects of all runs that are in the tree of these clusters."""
    for cluster in clusters:
        top = f"{GENERATED}/{cluster}/{layout.RUNS}"
        for path in (f"{top}{file.path}" for file in files.walk(root / top)):
            run = layout.run_of(path.removeprefix(f"{GENERATED}/"))
            found = HEAD.search(files.read(root / path) or b"") if run else None
            if run and found:
                group, _, version = found["version"].decode().rpartition("/")
                yield Head(cluster, run, group, version, found["kind"].decode(), path)


def used_fields(root: Path, head: Head, fields: Iterable[str]) -> list[str]:
    """Return those of the fields, as in `spec.podSets[].count`, that an object of a run has."""
    documents, _ = load(files.read(root / head.file) or b"", file=head.file)
    return [field for field in fields if documents and has_field(documents[0].value, field)]


def has_field(value: Any, field: str) -> bool:
    """Whether a value has a field, in any item of the lists on the way.

    >>> has_field({"a": [{"b": 1}]}, "a[].b"), has_field({"a": []}, "a[].b")
    (True, False)
    """
    if not field:
        return True
    key, _, rest = field.partition(".")
    name = key.rstrip("[]{}")
    if not isinstance(value, Mapping) or name not in value:
        return False
    inner = value[name]
    if key.endswith("[]"):
        return isinstance(inner, list) and any(has_field(item, rest) for item in inner)
    if key.endswith("{}"):
        return isinstance(inner, Mapping) and any(has_field(item, rest) for item in inner.values())
    return has_field(inner, rest)
