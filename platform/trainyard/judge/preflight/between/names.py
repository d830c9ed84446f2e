"""Clusters, teams and policies that files other than jobs name must exist."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Location, did_you_mean
from trainyard.base.rules import Rule
from trainyard.base.system.data import policy_files, policy_id
from trainyard.base.system.repository import team_file
from trainyard.judge.preflight.names import UNKNOWN_CLUSTER, UNKNOWN_TEAM, present
from trainyard.judge.preflight.subjects import BETWEEN
from trainyard.specs.load import Loaded
from trainyard.specs.reading import layout
from trainyard.specs.sources import ExtraFile, ProgramFile, Specs

SWITCHED_OFF = Rule(
    id="spec/unknown-policy",
    title="The policies that the repository switches off exist.",
    why="a policy with a mistyped id stays on, while readers believe that it is off",
    fix="correct the id, or remove the line",
    source="docs/rules.md",
)


@BETWEEN.check()
def check_folders(loaded: Loaded) -> Iterator[Finding]:
    """Yield folders of jobs that belong to no team, at the first file of each."""
    names = present("team", loaded.specs.teams, loaded.broken)
    for folder, place in {place.folder: place for place in reversed(loaded.places)}.items():
        if folder not in names:
            shown = layout.text(folder)
            message = f"team {shown!r} has no file {team_file(shown)}; {did_you_mean(shown, names)}"
            yield UNKNOWN_TEAM.of(Location(place.path, 1, 1), message)


@BETWEEN.check()
def check_extra(loaded: Loaded) -> Iterator[Finding]:
    """Yield objects and programs of one's own in the folder of a cluster or team that does not exist."""
    added: list[ExtraFile | ProgramFile] = [*loaded.specs.extra, *loaded.specs.programs]
    for file in added:
        yield from check_folder(loaded.specs, file, broken=loaded.broken)


def check_folder(specs: Specs, file: ExtraFile | ProgramFile, *, broken: frozenset[str]) -> Iterator[Finding]:
    """Yield a folder of a cluster or team that does not exist."""
    team = file.folder.removeprefix("teams/")
    clusters, teams = present("cluster", specs.clusters, broken), present("team", specs.teams, broken)
    place = Location(file.source.file if isinstance(file, ExtraFile) else file.file, 1, 1)
    if file.cluster not in clusters:
        message = f"cluster {file.cluster!r} does not exist; {did_you_mean(file.cluster, clusters)}"
        yield UNKNOWN_CLUSTER.of(place, message)
    elif team != file.folder and team not in teams:
        yield UNKNOWN_TEAM.of(place, f"team {team!r} does not exist; {did_you_mean(team, teams)}")


@BETWEEN.check()
def check_switched_off(loaded: Loaded) -> Iterator[Finding]:
    """Yield policies that the repository switches off and that do not exist."""
    specs = loaded.specs
    policies = {policy_id(path) for path in policy_files(loaded.root)} if specs.repository.policies else set()
    for name in specs.repository.policies:
        if name not in policies:
            message = f"policy {name!r} does not exist; {did_you_mean(name, policies)}"
            yield SWITCHED_OFF.at(specs.sources["repository"], ("policies", name), message, key=True)
