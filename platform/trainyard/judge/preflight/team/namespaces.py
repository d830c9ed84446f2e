"""Whether the namespace of a team is the team's alone on every cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import TEAM, OneTeam
from trainyard.render.clusters.nets import RESOLVERS
from trainyard.render.clusters.snapshots import NAMESPACE as SNAPSHOTS
from trainyard.specs.models.team import DEFAULT, Team
from trainyard.specs.reading.layout import is_of_system
from trainyard.specs.reading.rules import RULES
from trainyard.specs.releases import releases
from trainyard.specs.sources import Specs

TAKEN = Rule(
    id="spec/team-namespace",
    title="No team has the namespace of Argo CD, of an operator or of another team.",
    why="its people and runs would share it with components that have rights over the cluster, or with other people",
    fix="use another namespace, or rename the team",
    source="docs/teams.md; the namespaces of releases/",
)


@TEAM.check()
def check(one: OneTeam) -> Iterator[Finding]:
    """Yield the namespaces that the team cannot have, each once."""
    taken, said = taken_namespaces(one.specs), dict(said_namespaces(one.team))
    plain = one.team.namespace_on(DEFAULT) is None and one.name not in said
    if plain and (whose := taken.get(one.name)):
        yield TAKEN.at(one.source, (), f"team name {one.name!r} is also the namespace of {whose}; use another")
    for space, path in said.items():
        if is_of_system(space):
            message = f"namespace {space!r} is taken by the system; choose another"
            yield RULES["team-name"].at(one.source, path, message)
        elif whose := taken.get(space):
            yield TAKEN.at(one.source, path, f"namespace {space!r} is that of {whose}; use another")
        elif other := sharer(one.specs, one.name, space):
            yield TAKEN.at(one.source, path, f"namespace {space!r} is that of team {other!r}; use another")


def said_namespaces(team: Team) -> Iterator[tuple[str, Path]]:
    """Yield the namespaces that a team's file names, each with its field."""
    if isinstance(team.namespace, Mapping):
        yield from ((space, ("namespace", key)) for key, space in reversed(team.namespace.items()))
    elif team.namespace is not None:
        yield team.namespace, ("namespace",)


def sharer(specs: Specs, name: str, space: str) -> str | None:
    """Return another team that has a namespace too, or whose name it is; of two that say it, the first by name."""
    if space != name and space in specs.teams:
        return space
    for cluster in specs.clusters.values():
        teams = [team for team in cluster.teams() if cluster.namespace_of(team) == space]
        if name in teams and teams[0] != name:
            return teams[0]
    return None


def taken_namespaces(specs: Specs) -> Mapping[str, str]:
    """Return the namespaces that are the platform's on any cluster, each with whose it is."""
    found = {facts.namespace: f"operator {name!r}" for name, facts in releases().items()}
    found |= {SNAPSHOTS: "what takes snapshots"}
    found |= {name: "Multus and other daemons" for name in RESOLVERS if name not in found}
    for name, cluster in specs.clusters.items():
        found[cluster.argocd.namespace] = f"Argo CD of cluster {name!r}"
        for space in cluster.pipelines.namespaces_apart(cluster.namespace_of) if cluster.pipelines else ():
            found[space] = f"pipelines of cluster {name!r}"
    return found
