"""From objects to text: one object a file, the same bytes on every machine; touches no disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.base.documents import Path, dump
from trainyard.base.findings import Finding
from trainyard.base.manifests import identity_of
from trainyard.change.synth.render.names import file_names
from trainyard.render.parts.objects import PlainFile
from trainyard.render.tree.index import FILE, Entry

FIRST = {"apiVersion": 0, "kind": 1, "metadata": 2, "spec": 3}
"""Fields that open an object; the others follow in alphabetical order, as everything does below."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The spec file and the field that an object comes from; no line, so that moving lines changes no index."""

    file: str
    path: Path = ()


@dataclass(frozen=True, slots=True)
class Rendered:
    """One folder of a cluster: the text and the index entry of each file, by the file's name."""

    cluster: str
    folder: str
    """Empty for pages in the cluster's own folder, which no index lists."""
    files: Mapping[str, str]
    index: Mapping[str, Entry]
    findings: tuple[Finding, ...] = ()
    """What is wrong with programs of one's own that add to it."""


def render_folder(
    cluster: str,
    folder: str,
    objects: Iterable[tuple[Mapping[str, Any], Origin]],
    findings: tuple[Finding, ...] = (),
) -> Rendered:
    """Return a folder's files; raises ValueError where one object is there twice."""
    found = [(identity_of(value), value, origin) for value, origin in objects]
    names = file_names([identity for identity, _, _ in found])
    found.sort(key=lambda resource: names[resource[0]])
    return Rendered(
        cluster,
        folder,
        {names[identity]: dump(ordered_fields(value)) for identity, value, _ in found},
        {names[identity]: entry(value, origin) for identity, value, origin in found},
        findings,
    )


def render_files(cluster: str, folder: str, files: Iterable[tuple[PlainFile, Origin]]) -> Rendered:
    """Return a folder of files that are no objects."""
    found = sorted(files, key=lambda file: file[0].name)
    return Rendered(
        cluster,
        folder,
        {file.name: file.text for file, _ in found},
        {file.name: Entry("", FILE, None, file.name, origin.file, tuple(origin.path)) for file, origin in found},
    )


def entry(value: Mapping[str, Any], origin: Origin) -> Entry:
    """Return the object's line in the index."""
    _, kind, namespace, name = identity_of(value)
    return Entry(str(value["apiVersion"]), kind, namespace or None, name, origin.file, tuple(origin.path))


def ordered_fields(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with its fields in the order in which they are written."""
    keys = sorted(value, key=lambda key: (FIRST.get(key, len(FIRST)), key))
    return {key: in_order(value[key]) for key in keys}


def in_order(value: Any) -> Any:
    """Return a copy with the keys of every map sorted."""
    if isinstance(value, Mapping):
        return {key: in_order(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [in_order(item) for item in value]
    return value
