"""Read what people wrote: every spec of a repository with the place of every field, and every problem at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from trainyard.base.documents import load
from trainyard.base.documents.templates import name_template
from trainyard.base.errors import SpecError
from trainyard.base.findings import Finding
from trainyard.base.system import files, memory, progress, reads
from trainyard.base.system.accepted import accepted_text
from trainyard.base.system.repository import CLUSTERS, EXTRA, JOBS, SETTINGS, TEAMS, is_repository, team_file
from trainyard.base.system.trust import IDLE, checkout
from trainyard.specs import namespaces
from trainyard.specs.models.base import Spec
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.repository import Repository
from trainyard.specs.models.team import Team
from trainyard.specs.reading import bases, contents, document, job_files, layout, misplaced, python_jobs, rehearsals
from trainyard.specs.reading.elsewhere import foreign
from trainyard.specs.reading.layout import Place, problem
from trainyard.specs.reading.rules import RULES
from trainyard.specs.sources import ExtraFile, JobFile, Printed, ProgramFile, Source, Specs
from trainyard.specs.tracked import Added, Folder, Tracked

S = TypeVar("S", bound=Spec)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Everything that could be read, and what is wrong with the files one by one."""

    specs: Specs
    root: Path
    """The repository's folder."""
    findings: list[Finding] = field(default_factory=list)
    broken: frozenset[str] = frozenset()
    """Keys of specs that are there but unusable, so that nothing else complains that they are missing."""
    rest: tuple[JobFile, ...] = ()
    """What is left of broken jobs without their wrong fields."""
    places: tuple[Place, ...] = ()
    """Every file that may be a job, by its path alone."""
    small: frozenset[str] = frozenset()
    """Small files that the opened jobs name."""
    printed: tuple[Printed, ...] = ()
    """What the programs that were run print."""
    idle: tuple[Place, ...] = ()
    """The programs that make jobs and were not run, since whoever reads this only looks."""


@memory.without_collecting()
def read_repository(
    root: Path,
    *,
    skip: frozenset[str] = frozenset(),
    small: frozenset[str] = frozenset(),
    listed: Sequence[files.Found] | None = None,
) -> Loaded:
    """Read what can be read below a repository's root: specs with errors are left out, and reported.

    What is wrong between files is not looked at here, see `trainyard.preflight`.

    The job files in `skip` are not opened, for a caller who knows what they say; `small` are the files that they name,
    `listed` everything below `jobs/`, where that was walked already.
    Raises SpecError where the folder is no repository or cannot be read.
    """
    if not is_repository(root):
        hint = "go to a repository, or make one with `trainyard init`"
        raise SpecError(f"folder {str(root)!r} has no {CLUSTERS}; {hint}")
    loading = Loading(root, skip, small, listed)
    try:
        specs = loading.specs()
    except OSError as error:
        raise SpecError(f"{error.filename or root} cannot be read: {error.strerror}") from error
    findings = sorted(set(loading.findings), key=lambda finding: finding.order)
    return Loaded(
        specs,
        root,
        findings,
        frozenset(loading.broken),
        tuple(loading.rest),
        tuple(loading.places),
        loading.named,
        tuple(loading.printed),
        tuple(loading.idle),
    )


@dataclass(slots=True)
class Loading:
    """One pass over a repository, and the problems met on the way."""

    root: Path
    skip: frozenset[str] = frozenset()
    """Job files that are not opened."""
    small: frozenset[str] = frozenset()
    """Small files that those name."""
    listed: Sequence[files.Found] | None = None
    """Everything below `jobs/`."""
    findings: list[Finding] = field(default_factory=list)
    read: dict[str, bytes | None] = field(default_factory=dict)
    """What was read of the files of clusters and teams, of settings and of objects of one's own."""
    below: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the files that say a part of a cluster's file, by its path."""
    sources: dict[str, Source] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    """Keys of specs that are there but unusable, so that nothing else complains that they are missing."""
    rest: list[JobFile] = field(default_factory=list)
    """What is left of broken jobs without their wrong fields."""
    places: list[Place] = field(default_factory=list)
    """Every file that may be a job."""
    named: frozenset[str] = frozenset()
    """Small files that the opened jobs name."""
    printed: list[Printed] = field(default_factory=list)
    """What the programs that were run print."""
    idle: list[Place] = field(default_factory=list)
    """The programs that were not."""

    def specs(self) -> Specs:
        """Read everything."""
        self.findings += [*layout.links(self.root), *misplaced.misplaced_specs(self.root)]
        clusters, of_clusters = self.folder(CLUSTERS, "cluster", Cluster)
        teams, of_teams = self.folder(TEAMS, "team", Team)
        clusters = {name: namespaces.know_teams(name, cluster, teams) for name, cluster in clusters.items()}
        of_clusters = replace(of_clusters, beside=namespaces.reads_of_teams(of_teams))
        repository = self.spec(SETTINGS, "repository", Repository)
        settings = self.tracked(SETTINGS.rpartition("/")[0], ())
        folders = {"cluster": of_clusters, "team": of_teams, "repository": settings}
        return Specs(
            repository or Repository(live=True, repo_url="https://unknown"),
            Tracked(clusters, lambda name: (of_clusters, f"{name}.yaml"), (of_clusters,)),
            Tracked(teams, lambda name: (of_teams, f"{name}.yaml"), (of_teams,)),
            self.jobs(teams),
            *self.extra(),
            Tracked(self.sources, partial(place_of, folders), (of_clusters, of_teams)),
        )

    def folder(self, folder: str, key: str, model: type[S]) -> tuple[dict[str, S], Folder]:
        """Read all specs of one folder, by name, and return the folder too."""
        listed = self.walk(folder)
        places, findings = layout.flat(folder, listed)
        self.findings += findings
        found = {place.name: self.spec(place.path, f"{key}/{place.name}", model) for place in places}
        refused = {layout.meant_name(wrong.location.file) for wrong in findings if wrong.rule in layout.ELSEWHERE}
        self.broken |= {f"{key}/{name}" for name in refused - set(found)}
        return {name: spec for name, spec in found.items() if spec is not None}, self.tracked(folder, listed)

    def tracked(self, folder: str, listed: Sequence[files.Found]) -> Folder:
        """Return a folder with what was read of its files."""
        top = f"{folder}/"
        contents = {path.removeprefix(top): data for path, data in self.read.items() if path.startswith(top)}
        below = {path.removeprefix(top): names for path, names in self.below.items() if path.startswith(top)}
        return Folder(self.root / folder, tuple(file.path for file in listed), contents, below)

    def spec(self, path: str, key: str, model: type[S]) -> S | None:
        """Read one file as one spec."""
        with reads.apart():  # whoever looks at the spec reads the file
            self.read[path] = data = files.read(self.root / path)
        if data is None:
            self.findings.append(problem("missing-file", path, "file is missing; write live and repoURL into it"))
            return None
        spec, source, findings, below = spec_of(path, data, model, self.root)
        self.findings += findings
        self.below[path] = tuple(f"{base}.yaml" for base in below)
        if source is not None and model is Cluster and bases.is_abstract(source):
            return None
        if source is not None:
            self.sources[key] = source
        if spec is None:
            self.broken.add(key)
        return spec

    def jobs(self, teams: dict[str, Team]) -> tuple[JobFile, ...]:
        """Read the jobs of all teams."""
        listed = self.walk(JOBS) if self.listed is None else self.listed
        places, findings = layout.jobs(listed)
        self.places = places
        places = [place for place in places if place.path not in self.skip]
        plain = [place for place in places if not place.is_python]
        yaml = [
            job_files.candidate(place, self.job_text(place.path)) for place in progress.each(plain, "reading", "jobs")
        ]
        self.named = job_files.named_as_files(yaml)
        small = self.small | self.named
        written, self.rest, wrong = job_files.jobs(yaml, small)
        may = {}
        for name, team in teams.items():
            with reads.about(team_file(name), *(p.path for p in places if p.is_python and p.folder == name)):
                may[name] = team.python and self.may_have_programs(name)
        programs, off = job_files.programs((p for p in places if p.is_python and p.path not in small), teams, may)
        if IDLE.get():
            programs, self.idle = [], programs
        made, failed, self.printed = python_jobs.run(programs, [self.job_text(place.path) for place in programs])
        jobs, twice = job_files.once([*written, *made, *rehearsals.copies([*written, *made])])
        specs = {place.path for place in self.places} - small
        beside = ((f"{JOBS}/{file.path}", file) for file in listed if file.regular)
        sizes = {path: file.stat.st_size for path, file in beside if path not in specs}
        filled, missing = contents.fill(jobs, sizes, self.text)
        deep = (place for place in layout.nested_files(listed) if place.path not in small)
        lost = job_files.strays(job_files.candidate(place, self.job_text(place.path)) for place in deep)
        others = (place for place in layout.other_files(listed) if place.path not in small)
        lost += job_files.misnamed(job_files.candidate(place, self.job_text(place.path)) for place in others)
        self.findings += [*findings, *wrong, *off, *failed, *twice, *missing, *lost]
        return tuple(sorted(filled, key=lambda job: (job.team, job.name)))

    def extra(self) -> tuple[tuple[ExtraFile, ...], tuple[ProgramFile, ...]]:
        """Read plain objects of one's own, one a document, and list the programs that add some."""
        listed = self.walk(EXTRA)
        places, findings = layout.own_objects(listed)
        self.findings += findings
        found: list[ExtraFile] = []
        held = checkout(self.root)
        own = [(name, place) for name, place in places if place.is_python and (held is None or held.counts(place.path))]
        programs = [ProgramFile(name, place.folder, place.path) for name, place in own]
        for cluster, place in places:
            if not place.is_python:
                with reads.apart():
                    self.read[place.path] = data = self.text(place.path)
                documents, errors = load(data, file=place.path)
                self.findings += (
                    name_template(error, data, then="write the rendered objects here") for error in errors
                )
                found += (
                    ExtraFile(cluster, place.folder, Source(place.path, one_document)) for one_document in documents
                )
        folder = self.tracked(EXTRA, listed)
        return Added.of(found, folder), Added.of(programs, folder)

    def may_have_programs(self, team: str) -> bool:
        """Say whether a team's file allows programs where it was accepted too: a branch does not allow itself any."""
        path = team_file(team)
        documents, _ = load(accepted_text(self.root, path) or b"", file=path)
        value = documents[0].value if documents else None
        return isinstance(value, dict) and value.get("python") is True

    def walk(self, folder: str) -> list[files.Found]:
        """Return the files below a folder; nothing where a link leads to it, which is a finding."""
        return [] if files.is_linked(self.root, folder) else files.walk(self.root / folder)

    def text(self, path: str) -> bytes:
        """Return a file's bytes; none where it went away since it was listed."""
        return files.read(self.root / path) or b""

    def job_text(self, path: str) -> bytes:
        """Return the bytes of a file of jobs, which are read for its jobs alone."""
        with reads.about(path):
            return self.text(path)


def spec_of(
    path: str, data: bytes, model: type[S], root: Path
) -> tuple[S | None, Source | None, list[Finding], Sequence[str]]:
    """Return the spec in a file, its source, what is wrong with it, and the names of its bases.

    No source comes of a file that is something else, and no spec of a file that is only a base.
    """
    source, findings = document.read(path, data)
    if source is None:
        return None, None, findings, ()
    if source.document and (kind := foreign(source.document.value)):
        sort = model.__name__.lower()
        message = f"file is a {kind} of Kubernetes, not a {sort}; move it to {EXTRA}/<cluster>/"
        return None, None, [*findings, problem("folder", path, message)], ()
    if model is not Cluster:
        spec, errors = document.validate(model, source)
        return spec, source, [*findings, *errors], ()
    others = names_beside(root, path) if bases.own_field(source, bases.BASE) is not None else frozenset()
    whole, below, wrong = bases.extend(Path(path).stem, source, partial(source_beside, root, path), others)
    if wrong:
        return None, source, [*findings, *wrong], below
    spec, errors = document.validate(model, whole)
    errors = [*errors, *bases.check_nulls(whole)]
    if bases.is_abstract(source):
        lacking = RULES["missing-field"].id
        return None, source, [*findings, *(error for error in errors if error.rule != lacking)], below
    return spec, whole, [*findings, *errors], below


def names_beside(root: Path, path: str) -> frozenset[str]:
    """Return the names of the specs in the folder of one."""
    with reads.apart():
        listed = files.walk((root / path).parent)
    return frozenset(file.path.removesuffix(".yaml") for file in listed if file.path.endswith(".yaml"))


def source_beside(root: Path, path: str, name: str) -> Source | None:
    """Return the source of another spec in the folder of one; its own problems are reported where it is read."""
    other = str(Path(path).with_name(f"{name}.yaml"))
    with reads.apart():
        data = files.read(root / other)
    return document.read(other, data)[0] if data is not None else None


MODELS: dict[str, type[Spec]] = {CLUSTERS: Cluster, TEAMS: Team}
"""What files are read as, by their folder."""


@reads.answer(reads.THERE)
def is_usable(path: str, _: reads.Digests) -> str:
    """Return whether a file can be read as a spec of its folder, as a digest."""
    data = files.read(Path(path))
    model = next((model for folder, model in MODELS.items() if Path(path).parent.match(folder)), None)
    is_spec = data is not None and model is not None and spec_of(path, data, model, Path())[0] is not None
    return reads.THERE if is_spec else reads.ABSENT


def place_of(folders: Mapping[str, Folder], key: str) -> tuple[Folder, str]:
    """Return the folder and the name there of the file that a source has by its key."""
    sort, _, name = key.partition("/")
    return folders[sort], f"{name or sort}.yaml"
