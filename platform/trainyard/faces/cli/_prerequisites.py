"""Prints what a cluster needs and somebody else installs."""

from __future__ import annotations

import json
from pathlib import Path

from trainyard.faces.cli._out import data, say
from trainyard.specs.sources import Source


def of_cluster(root: Path, name: str, *, as_json: bool) -> int:
    """Print the prerequisites of a cluster; raises SpecError where there is no such cluster."""
    from trainyard.base.system.repository import CLUSTERS, cluster_file
    from trainyard.faces.cli import _table
    from trainyard.faces.cli._findings import show
    from trainyard.render.prerequisites import prerequisites
    from trainyard.render.prerequisites.faults import steps
    from trainyard.render.prerequisites.page import as_data, place
    from trainyard.specs.editing.named import cluster_of
    from trainyard.specs.load import read_repository

    loaded = read_repository(root, listed=())
    is_broken, own = f"cluster/{name}" in loaded.broken, cluster_file(name)
    errors = (finding for finding in loaded.findings if finding.is_error)
    broken = [
        finding
        for finding in errors
        if finding.location.file == own or (is_broken and finding.location.file.startswith(f"{CLUSTERS}/"))
    ]
    if broken:
        show(broken)
        return 1
    cluster = cluster_of(name, loaded.specs.clusters)
    found = prerequisites(loaded.specs, cluster)
    if as_json:
        data(json.dumps([as_data(area, item, cluster) for area, items in found.items() for item in items], indent=1))
        return 0
    for area, items in found.items():
        say(area)
        for item in items:
            say(f"  {item.what}")
            say(f"    why: {item.why} ({place(item)})")
            say(f"    get: {item.get}")
            if item.look:
                say(f"    look: {item.look}")
    rows = [(step.what, step.who, step.how) for step in steps(loaded.specs.clusters[cluster])]
    if rows:
        say("When a node has a fault")
        for line in _table.lines(rows, within=_table.columns()):
            say(line)
    show_origins(loaded.specs.sources[f"cluster/{name}"])
    return 0


def show_origins(source: Source) -> None:
    """Print the fields that come from the files of bases, each with its place; nothing for a cluster without any."""
    from trainyard.base.documents import format_path
    from trainyard.base.documents.layered import Layered, outermost

    document = source.document
    if not isinstance(document, Layered):
        return
    say("From its bases")
    for path in outermost(document):
        place = document.location(path, key=True)
        say(f"  {format_path(path)} ({place.file}:{place.line})")
