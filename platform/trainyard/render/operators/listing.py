"""Which releases are known of every operator, and of what else can be judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trainyard.base.versions import order
from trainyard.render.operators import operators
from trainyard.specs.changes import Change, changes_between
from trainyard.specs.releases import Facts, releases
from trainyard.upstream.apiserver.catalog.releases import CORE, Shelf

INSTALLED, THERE, JUDGED = "can be installed", "with managed: false", "only checked"
"""What a cluster's file can do with a project, and with one that it cannot name."""


def listing(schemas: Path) -> list[dict[str, Any]]:
    """Return each project by name: its releases, the newest first, and what can be done with them.

    `schemas` is the folder whose API types judge; operators are known whether they have types there or not.
    """
    shelf = Shelf(schemas)
    facts = releases()
    names = sorted({*facts, *shelf.projects(), CORE})
    return [project(name, facts.get(name), shelf) for name in names]


def project(name: str, facts: Facts | None, shelf: Shelf) -> dict[str, Any]:
    """Return one project."""
    typed = shelf.releases(name)
    known = sorted({*(facts.releases if facts else ()), *(() if facts else typed)}, key=order, reverse=True)
    use = INSTALLED if name in operators() else THERE if facts and name != "argo-cd" else JUDGED
    chart = facts.chart if facts else None
    return {
        "name": name,
        "use": use,
        "chart": {"repository": chart.repository, "name": chart.name} if chart else None,
        "releases": [
            release(version, facts, changes_between(name, before, version))
            for version, before in zip(known, [*known[1:], None], strict=True)
        ],
    }


def release(version: str, facts: Facts | None, changed: Sequence[Change] = ()) -> dict[str, Any]:
    """Return one release, with the Kubernetes that upstream says it works on, and what it decides otherwise."""
    known = facts.releases.get(version) if facts else None
    oldest, newest = (known.kubernetes.oldest, known.kubernetes.newest) if known else (None, None)
    found: dict[str, Any] = {"version": version, "kubernetes": {"oldest": oldest, "newest": newest}}
    return {**found, "changes": [change.model_dump() for change in changed]} if changed else found
