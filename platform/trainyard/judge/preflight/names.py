"""Names of clusters and teams, which files of every kind name, and what is said of one that does not exist."""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.base.rules import Rule

DOCS = "docs/jobs.md"


UNKNOWN_CLUSTER = Rule(
    id="spec/unknown-cluster",
    title="The clusters that jobs, teams and platform/extra name have files.",
    why="nothing is rendered for a cluster without a file",
    fix="use the name of a file in platform/clusters, or write one",
    source=DOCS,
)


UNKNOWN_TEAM = Rule(
    id="spec/unknown-team",
    title="Every folder in jobs/, and every team that a queue admits, has a file in platform/teams.",
    why="a team's file creates its namespace; without it the team's jobs cannot run",
    fix="write platform/teams/<team>.yaml, or correct the name",
    source=DOCS,
)


def present(kind: str, names: Iterable[str], broken: frozenset[str]) -> set[str]:
    """Return the names of all specs of a kind that are there, readable or not."""
    return {*names, *(key.removeprefix(f"{kind}/") for key in broken if key.startswith(f"{kind}/"))}
