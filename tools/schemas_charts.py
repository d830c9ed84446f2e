"""Helm charts: default values, which a cluster's own are judged against, where they are published, what they make."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import schemas_sources as sources
from schemas_crds import digest
from schemas_json import render
from schemas_templates import Scopes, cluster_kinds
from schemas_yaml import dump, load

VALUES = "values.yaml"
SCHEMA = "values.schema.json"
BUNDLED = "bundled"
OCI = "oci://"
WORDS = frozenset({"description", "title", "$comment", "examples"})
DATA = frozenset({"default", "enum", "const"})


@dataclass(frozen=True)
class Chart:
    """One version of a chart: its values without comments, the schema of them where there is one, and its origin."""

    name: str
    version: str
    values: str
    schema: str | None
    lock: dict[str, Any]


def from_folder(folder: Path, scopes: Scopes) -> Iterator[Chart]:
    """Yield every chart of a folder `<project>/<release>/<chart>/`; `scopes` are those of the kinds they may make."""
    origins = {(row["project"], row["chart"]): row for row in sources.rows(folder)}
    for place in sorted(path for path in folder.glob("*/*/*") if (path / VALUES).is_file()):
        project, directory, name = place.parts[-3:]
        yield one_chart(place, project, directory, name, origins.get((project, name), {}), scopes)


def one_chart(place: Path, project: str, directory: str, name: str, origin: Mapping[str, str], scopes: Scopes) -> Chart:
    """Read one chart; an older line than the one the table names follows its own tag, spelled as the newest is."""
    newest = sources.release(origin.get("tag", directory)) == sources.release(directory)
    published = origin.get("published version", "").split(" ")[0].strip("-")
    version = published if published and newest else directory.removeprefix("chart-")
    if published and not published.startswith("v"):
        version = version.removeprefix("v")
    data = (place / VALUES).read_bytes()
    files = {VALUES: digest(data)}
    schema = None
    if (place / SCHEMA).is_file():
        files[SCHEMA] = digest((place / SCHEMA).read_bytes())
        schema = render(wordless(json.loads((place / SCHEMA).read_text(encoding="utf-8"))))
    facts = {
        "project": project,
        "published": origin.get("published at"),
        "version": version,
        "repository": origin.get("repository"),
        "tag": origin.get("tag") if newest else directory,
        "commit": origin.get("commit") if newest else None,
        "path": origin.get("path"),
        "sha256": files,
        "clusterKinds": cluster_kinds(place, scopes),
    }
    lock = {key: value for key, value in facts.items() if value or value == []}
    return Chart(name, sources.release(version), dump(load(data.decode()) or {}), schema, lock)


def wordless(schema: Any) -> Any:
    """Return a JSON schema without its words."""
    if isinstance(schema, list):
        return [wordless(element) for element in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value if key in DATA else wordless(value)
        for key, value in schema.items()
        if not (key in WORDS and not isinstance(value, dict | bool))
    }


def write(folder: Path, charts: list[Chart]) -> None:
    """Write the charts' files; other versions of them stay."""
    for chart in charts:
        place = folder / chart.name
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{chart.version}.yaml").write_text(chart.values, encoding="utf-8", newline="\n")
        if chart.schema is not None:
            (place / f"{chart.version}.schema.json").write_text(chart.schema, encoding="utf-8", newline="\n")


def index(lock: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """Return the index of published charts in the lock, one entry a release, with addresses as Argo CD takes them."""
    entries = (entry(name, locked) for name, releases in sorted(lock.items()) for _, locked in sorted(releases.items()))
    return {"charts": [one_entry for one_entry in entries if one_entry is not None]}


def entry(name: str, locked: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return one release of a chart; None for one that is published inside another, or nowhere."""
    published = locked.get("published", BUNDLED).split(" or ")[0]
    if published == BUNDLED or not {"project", "version"} <= locked.keys():
        return None
    registry = published.removeprefix(OCI)
    facts = {
        "name": name,
        "project": locked["project"],
        "repository": registry if registry == published else registry.removesuffix(f"/{name}"),
        "version": locked["version"],
        "clusterKinds": locked.get("clusterKinds"),
    }
    return {key: value for key, value in facts.items() if value is not None}
