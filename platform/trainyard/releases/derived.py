"""What follows from the API types and charts that are vendored, so that no file of facts repeats it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trainyard.releases.facts import Chart, Facts
from trainyard.system import vendored
from trainyard.versions import nearest, order, same


def completed(name: str, facts: Facts, schemas: Path) -> Facts:
    """Return an operator's facts with those that they leave unsaid: definitions, chart and cluster-scoped kinds.

    `schemas` is the folder of that name. What the facts say themselves stays, and of a project that is not vendored
    nothing is added.
    """
    found: dict[str, Any] = {"crds": definitions(name, facts, schemas)}
    published = chart(name, facts, schemas)
    if published is not None:
        found["chart"] = Chart(
            repository=published["repository"], name=published["name"], v_prefix=published["version"].startswith("v")
        )
        found["cluster_kinds"] = tuple(sorted({*published.get("clusterKinds", ())} - left_out(facts)))
    unsaid = {field: value for field, value in found.items() if field not in facts.model_fields_set}
    return facts.model_copy(update=unsaid)


def definitions(name: str, facts: Facts, schemas: Path) -> tuple[str, ...]:
    """Return the definitions of its newest known release, but for those that are another project's.

    That is what it brings along, what a project has that its chart may install as a part, and what it leaves out.
    """
    carried = vendored.folders(schemas / name)
    if not carried:
        return ()
    release = nearest(max(facts.releases, key=order), carried)
    strangers = {*facts.brings_crds, *left_out(facts)}
    for bundle in facts.bundles:
        for other in vendored.folders(schemas / bundle.project):
            strangers |= vendored.definitions(schemas, bundle.project, other)
    return tuple(sorted(vendored.definitions(schemas, name, release) - strangers))


def chart(name: str, facts: Facts, schemas: Path) -> dict[str, Any] | None:
    """Return the entry of the chart that is published at the operator's own releases, the newest of them.

    None where there is no such chart, or more than one, so that the facts have to say which.
    """
    entries = [
        entry
        for entry in vendored.charts(schemas)
        if entry["project"] == name and any(same(entry["version"], release) for release in facts.releases)
    ]
    one = len({entry["name"] for entry in entries}) == 1
    return max(entries, key=lambda entry: order(entry["version"])) if one else None


def left_out(facts: Facts) -> set[str]:
    """Return the definitions and kinds that the operator is said to leave out."""
    return {each.name for each in facts.leaves_out}
