"""What follows from the API types and charts that are vendored, so that no file of facts repeats it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trainyard.base.system import vendored
from trainyard.base.versions import nearest, order, same
from trainyard.specs.releases.facts import Chart, Facts, Release


def complete_facts(name: str, facts: Facts, schemas: Path) -> Facts:
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
    unsaid = {field: value for field, value in found.items() if field not in facts.model_fields_set}
    known = facts.model_copy(update=unsaid)
    return known.model_copy(update={"releases": with_kinds(name, known, schemas)})


def with_kinds(name: str, facts: Facts, schemas: Path) -> dict[str, Release]:
    """Return the releases of an operator with the cluster-scoped kinds of each, as far as somebody has read them."""
    return {
        version: release.model_copy(update={"cluster_kinds": cluster_kinds(name, version, facts, schemas)})
        for version, release in facts.releases.items()
    }


def cluster_kinds(name: str, version: str, facts: Facts, schemas: Path) -> tuple[str, ...] | None:
    """Return the cluster-scoped kinds that a release may make, or None where nobody has read its chart.

    Its own facts count first, then the operator's, then the templates of the release's chart. An operator without chart
    and manifests makes none but what Trainyard writes for it.
    """
    said = facts.releases[version].cluster_kinds
    said = facts.cluster_kinds if said is None else said
    if said is not None:
        return said
    if facts.chart is None:
        return () if facts.manifests is None else None
    for entry in vendored.charts(schemas):
        ours = entry["project"] == name and entry["name"] == facts.chart.name and same(entry["version"], version)
        if ours and "clusterKinds" in entry:
            return tuple(sorted({*entry["clusterKinds"]} - left_out(facts)))
    return None


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
    return {one_left_out.name for one_left_out in facts.leaves_out}
