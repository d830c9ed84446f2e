"""Lays the files of a release out as `tools/schemas.py` reads them: `crds/` and `charts/`, each with its sources."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemas_yaml import load, load_all
from trainyard.base.versions import order
from trainyard.upstream.apiserver.catalog.crd import is_crd
from updates.files import Tree
from updates.registries import Project

OF_CRDS = ("project", "repository", "tag", "commit", "licence")
OF_CHARTS = ("project", "chart", "published at", "published version", "repository", "tag", "commit", "path")
YAML = (".yaml", ".yml")


@dataclass
class Collected:
    """A folder of files from upstream, and what could not be collected."""

    folder: Path
    crds: list[dict[str, Any]] = field(default_factory=list)
    rows: dict[str, list[dict[str, str]]] = field(default_factory=lambda: {"crds": [], "charts": []})
    notes: list[str] = field(default_factory=list)

    def add(self, project: Project, release: str, tree: Tree, lock: Mapping[str, Any]) -> None:
        """Add the definitions and charts of one release."""
        tag = project.tag_of(release)
        known = lock["projects"].get(project.name, {})
        if known:
            entry = known[max(known, key=order)]
            self.add_definitions(project, tag, tree, entry["files"])
            said = {"project": project.name, "repository": project.repository, "tag": tag}
            said |= {"commit": tree.commit or "", "licence": entry.get("licence", "")}
            self.rows["crds"].append(said)
        for name, releases in lock["charts"].items():
            chart = releases[max(releases, key=order)]
            if chart["project"] == project.name and "path" in chart:
                self.add_chart(project, name, release, tree, chart)

    def add_definitions(self, project: Project, tag: str, tree: Tree, known: list[dict[str, Any]]) -> None:
        """Add the files of definitions: those that are known, and new ones beside them of the same API groups."""
        paths = [entry["path"].replace(project.known, project_release(project, tag)) for entry in known]
        names = set(tree.names())
        lost = [path for path in paths if path not in names]
        self.notes += [f"{project.name} {tag} has no file {path} any more" for path in lost]
        texts = {path: tree.read(path) for path in paths if path in names}
        groups = {group for data in texts.values() for group in groups_of(data)}
        folders = {path.rpartition("/")[0] for path in paths}
        for path in sorted(names - set(paths)):
            if path.rpartition("/")[0] in folders and path.endswith(YAML):
                data = tree.read(path)
                if set(groups_of(data)) & groups:
                    texts[path] = data
                    self.notes.append(f"{project.name} {tag} has the new file {path}")
        if not texts:
            raise ValueError(
                f"{project.name} {tag} has none of the files that schemas/lock.yaml names; correct its paths"
            )
        for path, data in texts.items():
            place = f"{project.name}/{tag}/{path.replace('/', '_').removesuffix('.yml').removesuffix('.yaml')}.yaml"
            write(self.folder / "crds" / place, data)
            self.crds.append({"file": place, "source": path, "verbatim": True})

    def add_chart(self, project: Project, name: str, release: str, tree: Tree, known: Mapping[str, Any]) -> None:
        """Add a chart with its templates; one of another repository is only noted."""
        tag = project.tag_of(release)
        path = known["path"].replace(project.known, release)
        held = [file for file in tree.names() if file.startswith(f"{path}/")]
        if known.get("repository") != project.repository or f"{path}/values.yaml" not in held:
            where = f"{known.get('repository')} {path}"
            self.notes.append(f"the chart {name} of {project.name} {release} is not in {where}, and was not read")
            return
        for file in held:
            write(self.folder / "charts" / project.name / tag / name / file.removeprefix(f"{path}/"), tree.read(file))
        version = f"v{release}" if known["version"].startswith("v") else release
        if known["version"].removeprefix("v") != project.known:
            version = str(load(tree.read(f"{path}/Chart.yaml").decode())["version"])
        said = {"project": project.name, "chart": name, "published at": known.get("published", "")}
        said |= {"published version": version, "repository": project.repository, "tag": tag}
        self.rows["charts"].append({**said, "commit": (tree.commit or "")[:12], "path": path})

    def finish(self) -> None:
        """Write the tables of sources."""
        for kind, columns in (("crds", OF_CRDS), ("charts", OF_CHARTS)):
            if self.rows[kind]:
                lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
                lines += [f"| {' | '.join(row.get(column) or ' ' for column in columns)} |" for row in self.rows[kind]]
                write(self.folder / kind / "SOURCES.md", ("\n".join(lines) + "\n").encode())
        if self.crds:
            write(self.folder / "crds" / "index.json", json.dumps({"crds": self.crds}).encode())


def project_release(project: Project, tag: str) -> str:
    """Return the release that a tag of a project names."""
    prefix = project.tag.partition(project.known)[0]
    return tag.removeprefix(prefix)


def groups_of(data: bytes) -> Iterator[str]:
    """Yield the API group of each definition in a file; none of a file that is no YAML, as a template of a chart."""
    try:
        yield from (document["spec"]["group"] for document in load_all(data.decode()) if is_crd(document))
    except Exception:  # noqa: BLE001 - a template, or bytes
        return


def write(file: Path, data: bytes) -> None:
    """Write a file and the folders above it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
