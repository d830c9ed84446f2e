"""List the known releases of operators."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from trainyard.faces.cli._options import PLAIN, ROOT
from trainyard.faces.cli._out import data, page

if TYPE_CHECKING:
    from trainyard.specs.defects import Defect

EXAMPLES = (
    "trainyard releases",
    "trainyard releases kueue",
    "trainyard releases kubernetes",
    "trainyard releases --defects",
)

GAP = 2
"""Spaces between columns."""


def command(
    operator: str | None = typer.Argument(None, metavar="OPERATOR", help="Only this project; default: all."),
    defects: bool = typer.Option(False, "--defects", help="List known defects, and the first releases without them."),
    format_: str = PLAIN,
    root: Path = ROOT,
) -> int:
    """List the known releases of operators and other projects, newest first."""
    from trainyard.base.errors import TrainyardError
    from trainyard.base.findings import did_you_mean
    from trainyard.base.system.data import schemas_dir
    from trainyard.render.operators.listing import listing

    found = listing(schemas_dir(root))
    names = {verdict["name"] for verdict in found}
    if operator is not None and operator not in names:
        raise TrainyardError(f"operator {operator!r} is unknown; {did_you_mean(operator, names)}")
    if defects:
        from trainyard.specs.defects import defects as known_defects

        told = {name: found.defects for name, found in known_defects().items() if operator in {None, name}}
        if format_ == "json":
            data(
                json.dumps(
                    [{"name": name, **one.model_dump()} for name, rows in told.items() for one in rows], indent=1
                )
            )
        else:
            page("\n".join(defect_line(name, one) for name, rows in told.items() for one in rows) or "no known defects")
        return 0
    chosen = [verdict for verdict in found if operator in {None, verdict["name"]}]
    if format_ == "json":
        data(json.dumps(chosen, indent=1))
    else:
        width = max(len(item["name"]) for item in chosen) + GAP
        page("\n".join(line(item, width) for item in chosen) + ("\n".join(change_lines(chosen)) if operator else ""))
    return 0


def line(project: dict[str, Any], width: int) -> str:
    """Return a project with its releases, and the Kubernetes that each is said to work on."""
    releases = "; ".join(f"{release['version']}{kubernetes(release)}" for release in project["releases"])
    return f"{project['name']:<{width}}{releases} ({project['use']})"


def change_lines(projects: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the differences of each release to the one before it, in lines, each after a break."""
    for one_release in (one_release for project in projects for one_release in project["releases"]):
        if changes := one_release.get("changes"):
            yield ""
            yield f"\nchanges in {one_release['version']}:"
            for change in changes:
                gate = f" ({change['gate']})" if change["gate"] else ""
                where = " ".join(filter(None, (change["kind"], change["field"])))
                yield f"  {change['word']:<9} {where}: {change['says']}{gate}"


MET = {
    "always": "",
    "topology": " (clusters with topology)",
    "pods": " (where Kueue manages single pods)",
    "kueue": " (clusters with queues of Kueue)",
    "volcano": " (clusters with queues of Volcano)",
    "batch-scheduler": " (with a batchScheduler of KubeRay)",
    "others": " (no object that Trainyard renders)",
}


def defect_line(project: str, defect: Defect) -> str:
    """Return a defect in words: the project, the first releases without it, what happens, where it is told."""
    since = f" from {' and '.join(defect.since)}" if defect.since else ""
    fixed = f" before {' and '.join(defect.fixed)}" if defect.fixed else ""
    return f"{project}{since}{fixed}: {defect.happens}{MET[defect.meets]}; {defect.issue}"


def kubernetes(release: dict[str, Any]) -> str:
    """Return the range of Kubernetes of a release in words."""
    oldest, newest = release["kubernetes"]["oldest"], release["kubernetes"]["newest"]
    if oldest and newest:
        return f" on Kubernetes {oldest} to {newest}"
    return f" on Kubernetes from {oldest}" if oldest else f" on Kubernetes up to {newest}" if newest else ""
