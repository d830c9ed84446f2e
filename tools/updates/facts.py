"""Adds a release to the facts of a project, as text, so that comments and order stay."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from schemas_yaml import load
from trainyard.base.versions import line, order
from updates.files import Tree
from updates.registries import Project, neighbour

TOP = re.compile(r"^releases:[^\n]*\n", re.MULTILINE)
NEXT = re.compile(r"^\S", re.MULTILINE)
MINOR = re.compile(r"1\.\d+")
KUBE_VERSION = re.compile(r"^kubeVersion:\s*[\"']?[>=^~\s]*v?(1\.\d+)", re.MULTILINE)


def add_release(file: Path, project: Project, release: str, tree: Tree | None, charts: Path) -> list[str]:
    """Write a release after the known ones, with what upstream's files say; return the sentences on what is assumed.

    All else is taken from the release before it, or from the oldest where all known ones are newer. `charts` is the
    folder with the charts of the new release, if any.
    """
    text = file.read_text(encoding="utf-8")
    known: dict[str, Any] = load(text)["releases"]
    if release in known:
        return []
    before = neighbour(release, known)
    entry = {key: value for key, value in known[before].items() if key != "source"}
    patch = line(release) == line(before)
    bounds, source = (None, "") if patch else kubernetes_of(project, release, tree, charts)
    if bounds is not None:
        entry["kubernetes"] = bounds
    carried = [key for key in entry if key != "kubernetes" or bounds is None]
    why = f"assumed as in {before}" + (", of which it is a patch" if patch else "")
    repository = (
        f"{project.repository} {project.tag_of(release)}" if project.repository else f"{project.name} {release}"
    )
    said = [f"{repository} {source}" if source else repository]
    said += [f"{', '.join(carried)} {why}"] if carried else []
    entry["source"] = "; ".join(said)
    start = TOP.search(text)
    if start is None:
        raise ValueError(f"{file.name} has no releases")
    end = NEXT.search(text, start.end())
    at = end.start() if end else len(text)
    file.write_text(text[:at] + entry_lines(release, entry) + text[at:], encoding="utf-8", newline="\n")
    return [f"{project.name} {release}: {', '.join(carried)} {why}; read them"] if carried else []


def entry_lines(release: str, entry: dict[str, Any]) -> str:
    """Return a release as the lines of the file."""
    lines = [f'  "{release}":\n']
    for key, value in entry.items():
        lines.append(f"    {key}: {flow(value)}\n")
    return "".join(lines)


def flow(value: Any) -> str:
    """Return a value on one line, with its texts in double quotes as the files of facts have them."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {flow(inner)}' for name, inner in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(flow, value))}]"
    return json.dumps(value, ensure_ascii=False)


def kubernetes_of(project: Project, release: str, tree: Tree | None, charts: Path) -> tuple[dict[str, str] | None, str]:
    """Return the versions of Kubernetes that upstream names, and the file that does: a table, or a chart."""
    if project.row.kubernetes and tree is not None:
        text = tree.read(project.row.kubernetes).decode()
        row = re.search(rf"^\|\s*v?{re.escape(line(release))}\s*\|(.*)$", text, re.MULTILINE)
        if row is not None and (minors := sorted(MINOR.findall(row[1]), key=order)):
            return {"oldest": minors[0], "newest": minors[-1]}, project.row.kubernetes
    for file in sorted(charts.glob("*/Chart.yaml")):
        found = KUBE_VERSION.search(file.read_text(encoding="utf-8"))
        if found is not None:
            return {"oldest": found[1]}, f"{file.parent.name}/Chart.yaml"
    return None, ""
