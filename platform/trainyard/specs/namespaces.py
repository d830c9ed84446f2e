"""Which namespaces have another name than their team: the teams' files say so, and clusters know it from then on.

`Cluster.namespace_of` is the one answer to which namespace a team has, and `Cluster.team_in` to whose one is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from trainyard.base.documents import load
from trainyard.base.system import files, reads
from trainyard.base.system.repository import TEAMS
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.team import DEFAULT, Team
from trainyard.specs.reading import layout
from trainyard.specs.sources import Specs
from trainyard.specs.tracked import Folder

SAID = "namespaces"
"""The sort of read that is what all files of a folder of teams say of namespaces."""


def know_teams(name: str, cluster: Cluster, teams: Mapping[str, Team]) -> Cluster:
    """Return a cluster that knows the namespaces of teams."""
    return cluster.with_namespaces({key: space for key, team in teams.items() if (space := team.namespace_on(name))})


def know_all_teams(specs: Specs) -> Specs:
    """Return specs whose clusters know the namespaces of their teams, after a team or a cluster was replaced."""
    teams = {name: specs.teams[name] for name in specs.teams}
    return replace(specs, clusters={name: know_teams(name, specs.clusters[name], teams) for name in specs.clusters})


def digest(contents: Iterable[tuple[str, bytes | None]]) -> str:
    """Return the digest of what files of teams say of namespaces, given by name."""
    said = [f"{name} {field(data)!r}" for name, data in contents if data is not None and b"namespace" in data]
    return reads.names_digest([text for text in said if not text.endswith(" None")])


def field(data: bytes) -> object:
    """Return the value of the field `namespace` of a team's file, None where there is none."""
    documents, _ = load(data, file="")
    value = documents[0].value if documents else None
    return value.get("namespace") if isinstance(value, dict) else None


def said_for(data: bytes | None, cluster: str) -> str | None:
    """Return the namespace that the bytes of a team's file give it on a cluster, None where they say none."""
    value = field(data) if data is not None and b"namespace" in data else None
    found = (value.get(cluster) or value.get(DEFAULT)) if isinstance(value, Mapping) else value
    return found if isinstance(found, str) else None


@reads.answer(SAID)
def present_digest(folder: str, _: reads.Digests) -> str:
    """Return the digest of what the files of a folder say now."""
    places, _findings = layout.flat(TEAMS, files.walk(Path(folder)))
    names = [f"{place.name}.yaml" for place in places]
    return digest((name, files.read(Path(folder) / name)) for name in names)


def reads_of_teams(teams: Folder) -> tuple[tuple[reads.Read, str], ...]:
    """Return the read that goes with every cluster: of all files of teams, and their fields of namespaces."""
    return (((SAID, reads.absolute(teams.path)), digest(teams.contents.items())),)
