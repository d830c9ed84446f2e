"""Cluster-scoped kinds that a chart's templates may make: what a project of Argo CD has to allow for it.

Templates are read, not rendered: every kind counts that some values make, also those of charts inside the chart as far
as they lie unpacked in its folder `charts/`. A kind whose scope no vendored schema knows is left out and named.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

TEMPLATES = "templates"
SUFFIXES = frozenset({".yaml", ".yml", ".tpl"})
FIELD = re.compile(r"^(apiVersion|kind):[ \t]*(.*?)[ \t]*$", re.MULTILINE)
DOCUMENT = re.compile(r"^---.*$", re.MULTILINE)
WORD = re.compile(r"\b[A-Z][A-Za-z0-9]+\b")

Scopes = Mapping[tuple[str, str], bool]
"""By group and kind, whether it is cluster-scoped."""


def scopes(schemas: Path) -> dict[tuple[str, str], bool]:
    """Return the scope of every kind that is vendored in a folder."""
    files = sorted(schemas.glob("*/*/index.json"))
    entries = [kind for file in files for kind in json.loads(file.read_bytes())["kinds"]]
    return {(entry["group"], entry["kind"]): entry["scope"] == "Cluster" for entry in entries}


def cluster_kinds(chart: Path, known: Scopes) -> list[str] | None:
    """Return the cluster-scoped kinds that a chart's templates may make, as `group/Kind`; None without templates."""
    if not (chart / TEMPLATES).is_dir():
        return None
    made = {pair for text in texts(chart) for pair in objects(text)}
    found: set[str] = set()
    for group, kind in sorted(made, key=str):
        groups = {of for of, name in known if name == kind} if group is None else {group} & {of for of, _ in known}
        fitting = {of for of in groups if (of, kind) in known}
        if not fitting:
            print(f"{chart.name}: scope of {kind} of {group or 'a group that values choose'} is not known; left out")
        found |= {f"{of}/{kind}" for of in fitting if known[of, kind]}
    return sorted(found)


def texts(chart: Path) -> Iterator[str]:
    """Yield the text of every template of a chart and of the charts inside it."""
    for file in sorted(chart.rglob("*")):
        if file.suffix in SUFFIXES and TEMPLATES in file.relative_to(chart).parts[:-1]:
            yield file.read_text(encoding="utf-8")


def objects(text: str) -> Iterator[tuple[str | None, str]]:
    """Yield group and kind of every object in a template; the group is None where values choose it."""
    for document in DOCUMENT.split(text):
        fields = [(match[1], match[2].strip("\"'")) for match in FIELD.finditer(document)]
        versions = [value for field, value in fields if field == "apiVersion"]
        for kind in (value for field, value in fields if field == "kind"):
            yield from ((group_of(versions), word) for word in WORD.findall(kind))


def group_of(versions: Iterable[str]) -> str | None:
    """Return the group of an object that says its version once and plainly."""
    said = {version.rpartition("/")[0] for version in versions if "{{" not in version}
    return said.pop() if len(said) == 1 else None
