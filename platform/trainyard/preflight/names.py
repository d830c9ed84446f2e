"""Clusters, teams, registries and policies that specs name must exist; and all that a job names, in one call."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from trainyard.documents import Path
from trainyard.findings import Finding, Location, did_you_mean
from trainyard.images import is_of_registry
from trainyard.preflight import fields, placement, secrets
from trainyard.preflight.placement import LEVEL, POOL, PRIORITY, QUEUE, QUEUE_POOL, QUEUE_TEAM, TEAM_PRIORITY
from trainyard.preflight.secrets import ACCOUNT, CONFIG_MAP, SECRET
from trainyard.rules import Rule
from trainyard.specs.models.job import Job
from trainyard.specs.models.repository import Repository
from trainyard.specs.models.team import Team
from trainyard.specs.reading import layout
from trainyard.specs.reading.layout import Place
from trainyard.specs.sources import ExtraFile, JobFile, ProgramFile, Specs
from trainyard.system.repository import team_file

DOCS = "docs/jobs.md"

UNKNOWN_CLUSTER = Rule(
    id="spec/unknown-cluster",
    title="Clusters that jobs, teams and objects of one's own are for have files.",
    why="nothing would be rendered for it anywhere",
    fix="name a file of platform/clusters, or write one",
    source=DOCS,
)
UNKNOWN_TEAM = Rule(
    id="spec/unknown-team",
    title="Every folder of jobs, and every team that a queue admits, has a file in platform/teams.",
    why="a team's file makes its namespace; without it its jobs have nowhere to run",
    fix="write platform/teams/<team>.yaml, or correct the name",
    source=DOCS,
)
REGISTRY = Rule(
    id="spec/image-registry",
    title="Images come from registries that the repository allows.",
    why="an image from elsewhere runs code that nobody vouches for",
    fix="push the image to an allowed registry, or add the registry to repository.yaml",
    source="docs/clusters.md",
)
SWITCHED_OFF = Rule(
    id="spec/unknown-policy",
    title="The policies that the repository switches off exist.",
    why="a policy whose id is mistyped stays on, and whoever reads the settings takes it for off",
    fix="name a policy, or remove the line",
    source="docs/rules.md",
)

MISSING = (
    *(UNKNOWN_CLUSTER, UNKNOWN_TEAM, SECRET, CONFIG_MAP, ACCOUNT),
    *(PRIORITY, TEAM_PRIORITY, QUEUE, QUEUE_TEAM, QUEUE_POOL, POOL, LEVEL, REGISTRY),
)
"""What a job names that is not there, or not allowed, whatever else it says."""


def check_job(specs: Specs, file: JobFile, *, broken: frozenset[str] = frozenset()) -> Iterator[Finding]:
    """Yield what a job names that does not exist or that is not for it.

    `broken` are the keys of specs that are there but could not be read.
    """
    job = file.job
    cluster, team = specs.clusters.get(job.cluster), specs.teams.get(file.team)
    if cluster is None and f"cluster/{job.cluster}" not in broken:
        names = present("cluster", specs.clusters, broken)
        message = f"cluster {job.cluster!r} does not exist; {did_you_mean(job.cluster, names)}"
        yield UNKNOWN_CLUSTER.at(file.source, ("cluster",), message)
    yield from check_image(file, specs.repository)
    yield from fields.check(file)
    if cluster is not None:
        yield from placement.check(file, cluster, team_known=team is not None)
    if team is not None:
        yield from secrets.check(file, team)
    if team is not None and cluster is not None:
        yield from placement.check_priority(file, cluster, team)


def present(kind: str, names: Iterable[str], broken: frozenset[str]) -> set[str]:
    """Return the names of all specs of a kind that are there, readable or not."""
    return {*names, *(key.removeprefix(f"{kind}/") for key in broken if key.startswith(f"{kind}/"))}


def check_folders(places: Iterable[Place], teams: Mapping[str, Team], *, broken: frozenset[str]) -> Iterator[Finding]:
    """Yield folders of jobs that belong to no team, at the first file of each."""
    names = present("team", teams, broken)
    for folder, place in {place.folder: place for place in reversed(list(places))}.items():
        if folder not in names:
            shown = layout.text(folder)
            message = f"team {shown!r} has no file {team_file(shown)}; {did_you_mean(shown, names)}"
            yield UNKNOWN_TEAM.of(Location(place.path, 1, 1), message)


def check_extra(specs: Specs, file: ExtraFile | ProgramFile, *, broken: frozenset[str]) -> Iterator[Finding]:
    """Yield objects and programs of one's own in the folder of a cluster or team that does not exist."""
    team = file.folder.removeprefix("teams/")
    clusters, teams = present("cluster", specs.clusters, broken), present("team", specs.teams, broken)
    place = Location(file.source.file if isinstance(file, ExtraFile) else file.file, 1, 1)
    if file.cluster not in clusters:
        message = f"cluster {file.cluster!r} does not exist; {did_you_mean(file.cluster, clusters)}"
        yield UNKNOWN_CLUSTER.of(place, message)
    elif team != file.folder and team not in teams:
        yield UNKNOWN_TEAM.of(place, f"team {team!r} does not exist; {did_you_mean(team, teams)}")


def check_switched_off(specs: Specs, policies: Collection[str]) -> Iterator[Finding]:
    """Yield policies that the repository switches off and that do not exist."""
    for name in specs.repository.policies:
        if name not in policies:
            message = f"policy {name!r} does not exist; {did_you_mean(name, policies)}"
            yield SWITCHED_OFF.at(specs.sources["repository"], ("policies", name), message, key=True)


def check_image(file: JobFile, repository: Repository) -> Iterator[Finding]:
    """Yield images from a registry that the repository does not allow, those of the job's own containers too."""
    allowed = repository.registries
    for path, image in images(file.job):
        if allowed and not is_of_registry(image, allowed):
            name = image.partition("@")[0]
            message = f"image {name!r} is from a registry that is not allowed; use one of: {', '.join(allowed)}"
            yield REGISTRY.at(file.source, path, message)


def images(job: Job) -> Iterator[tuple[Path, str]]:
    """Yield every image that a job names, with its field."""
    yield ("image",), job.image
    for field, containers in (("initContainers", job.init_containers), ("containers", job.containers)):
        for index, each in enumerate(containers):
            if isinstance(image := each.get("image"), str):
                yield (field, index, "image"), image
