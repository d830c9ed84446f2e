"""The list of a cluster's prerequisites as a page in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.documents import format_path
from trainyard.base.system.repository import cluster_file
from trainyard.render.prerequisites import Prerequisite, prerequisites
from trainyard.render.prerequisites.faults import steps
from trainyard.specs.sources import Specs

SPECIAL = re.compile(r"([\\*_<>\[\]])")

CODE = re.compile(r"(`[^`]*`)")


def page(specs: Specs, cluster: str) -> str:
    """Return the page: a heading for each area, and for each prerequisite what, why, where and how."""
    return "\n".join([*lines(specs, cluster), ""])


def lines(specs: Specs, cluster: str) -> Iterator[str]:
    """Yield the lines of the page."""
    yield f"# Prerequisites of {cluster}"
    yield ""
    yield f"Somebody else installs these. Fields without a file are those of {cluster_file(cluster)}."
    yield f"`trainyard live prerequisites {cluster} --context CONTEXT` looks for them and changes nothing."
    for area, items in prerequisites(specs, cluster).items():
        yield from ("", f"## {area}", "")
        for item in items:
            yield f"- {legible(item.what)}"
            yield f"  - why: {legible(item.why)} ({place(item)})"
            yield f"  - get: {legible(item.get)}"
            if item.look:
                yield f"  - look: {legible(item.look)}"
    rows = steps(specs.clusters[cluster])
    if rows:
        yield from ("", "## When a node has a fault", "", "| step | who | how |", "|---|---|---|")
        yield from (f"| {legible(row.what)} | {row.who} | {legible(row.how)} |" for row in rows)


def place(item: Prerequisite) -> str:
    """Return the field that calls for a prerequisite, with its file where that is not the cluster's."""
    field = f"`{format_path(item.at)}`"
    return f"{field} of {item.file}" if item.file else field


def legible(text: str) -> str:
    """Return text that Markdown shows as it is, in one line; what stands in backticks stays code."""
    parts = CODE.split(" ".join(text.split()))
    return "".join(part if part.startswith("`") and len(part) > 1 else SPECIAL.sub(r"\\\1", part) for part in parts)


def as_data(area: str, item: Prerequisite, cluster: str) -> dict[str, str | None]:
    """Return a prerequisite as data."""
    return {
        "area": area,
        "what": item.what,
        "why": item.why,
        "file": item.file or cluster_file(cluster),
        "field": format_path(item.at),
        "get": item.get,
        "look": item.look or None,
    }
