"""What cannot be rendered, since something is wrong with it: its objects are not judged, and all others are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from trainyard.base.findings import Finding, count_of, parse_path
from trainyard.base.memory import NOTHING_KNOWN, Memory
from trainyard.base.system.repository import CLUSTERS, EXTRA, GENERATED, JOBS, TEAMS
from trainyard.judge.preflight import Checked
from trainyard.judge.preflight.waivers import WAIVE, Job
from trainyard.render.tree import index, layout
from trainyard.render.tree.disk import Disk
from trainyard.render.tree.ledgers import JobKey
from trainyard.render.tree.rules import STALE
from trainyard.render.tree.snapshot import Snapshot
from trainyard.specs.sources import JobFile, Source

WITHOUT = ("policies/", f"{GENERATED}/")
"""Where errors keep nothing from being rendered."""

Text = Callable[[str], bytes | None]
"""The content of a file below `generated/`."""

SHOWN = 3
"""Jobs that a sentence names."""

ASIDE: tuple[tuple[str | None, ...], ...] = (
    ("pipelines",),
    ("queues", None, "nominalQuota"),
    ("queues", None, "borrowingLimit"),
    ("queues", None, "lendingLimit"),
)
"""Fields of a cluster that change no object of a run; None stands for any name.

What a quota decides over a job is an error at the job, which is left out then.
"""

AGAIN = "fix the errors above and run again"
EVERYTHING = f"manifests were not checked; {AGAIN}"
"""What is said where nothing can be rendered."""


@dataclass(frozen=True, slots=True)
class NamedJob:
    """A job by its name, and where it is written and runs; its file need not have been opened."""

    team: str
    name: str
    cluster: str
    file: str
    retired: bool = False
    former: str = ""
    """The name that it had before."""

    @classmethod
    def of(cls, job: JobFile) -> NamedJob:
        """Return the name of a job whose file was opened."""
        spec = job.job
        return cls(job.team, job.name, spec.cluster, job.source.file, spec.retired, spec.renamed_from or "")

    @property
    def key(self) -> Job:
        """Team and name."""
        return self.team, self.name

    @property
    def prefix(self) -> str:
        """What a sentence about it begins with: its name, where a program makes many jobs."""
        return Source(self.file, job=self.name if self.file.endswith(".py") else "").prefix


@dataclass(frozen=True, slots=True)
class JudgedSpecs:
    """The specs of a repository with everything that is wrong with them, before objects are judged."""

    checked: Checked
    jobs: Sequence[NamedJob]
    """All jobs that could be read, those too that are remembered."""
    without: LeftOut
    """What cannot be rendered, and is not judged."""
    tree: Snapshot | None = None
    """The generated tree, where that is not the one on disk."""
    context: frozenset[str] | None = None
    """Files below `generated/` that others refer to, and of which nothing is said; None where nobody knows them yet."""
    disk: Disk | None = None
    """What is on disk, where that was looked at."""
    base: Snapshot | None = None
    """The tree at the base, where that was read."""
    memory: Memory = NOTHING_KNOWN
    """What is remembered of the repository's commits, and what everything that may be read is now."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The parts of a repository that cannot be rendered, and of whose objects nothing is said."""

    everything: bool = False
    """Whether the settings have an error, from which everything follows."""
    clusters: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    """Clusters with an error that leaves the objects of runs as they are: nothing is said of the other objects."""
    teams: frozenset[str] = frozenset()
    jobs: frozenset[Job] = frozenset()
    """Team and name of the jobs with an error, and of those of such a team or on such a cluster."""
    unread: frozenset[str] = frozenset()
    """Files below `jobs/` that have an error, and of which nobody knows the jobs."""
    extra: frozenset[str] = frozenset()
    """Files of the repository's own objects that have an error."""
    formers: frozenset[Job] = frozenset()
    """Team and former name of those jobs."""
    known: frozenset[Job] = frozenset()
    """Team and name of all jobs that could be read."""

    def __bool__(self) -> bool:
        return self.everything or bool(
            self.clusters or self.own or self.teams or self.jobs or self.unread or self.extra
        )

    def has_job(self, team: str, name: str) -> bool:
        """Say whether a job is left out, or may be one of those that could not be read."""
        if (team, name) in self.jobs or team in self.teams:
            return True
        return (team, name) not in self.known and (
            (team, name) in self.formers or any(may_have(file, team, name) for file in self.unread)
        )

    def has_key(self, key: JobKey) -> bool:
        """Say whether a job is left out, or its cluster is."""
        return self.everything or key[0] in self.clusters or self.has_job(*key[1:])

    def has_path(self, path: str) -> bool:
        """Say whether a file below `generated/` is of something that is left out, by its path."""
        cluster, _, rest = path.partition("/")
        if self.everything or cluster in self.clusters:
            return True
        if (run := layout.run_of(path)) is not None:
            return self.has_job(*layout.job_of_run(run))
        if (key := layout.job_of_ledger(path)) is not None:
            return self.has_key(key)
        folder = layout.index_folder(rest) if rest.startswith(layout.INDEX) else rest.rpartition("/")[0]
        return folder in {f"{top}{team}" for team in self.teams for top in ("teams/", layout.RUNS)}

    def is_quiet(self, path: str) -> bool:
        """Say whether a file below `generated/` is rendered but not judged: no run has it, and its cluster is wrong."""
        return path.partition("/")[0] in self.own and layout.run_of(path) is None

    def paths(self, there: Iterable[str], text: Text) -> frozenset[str]:
        """Return the files below `generated/` that are of something that is left out."""
        return frozenset({*filter(self.has_path, there), *self.own_objects(text)} if self else ())

    def own_objects(self, text: Text) -> Iterator[str]:
        """Yield the files below `generated/` that come from files with an error below `platform/extra`."""
        for file in sorted(self.extra):
            parts = PurePosixPath(file).relative_to(EXTRA).parts
            cluster, folder = parts[0], "/".join(parts[1:-1])
            data = text(f"{cluster}/{layout.index_file(folder)}")
            entries = (index.load(data, folder) if data else None) or {}
            yield from (f"{cluster}/{folder}/{name}" for name, entry in entries.items() if entry.spec == file)

    @property
    def sentence(self) -> str:
        """What is not judged, and how many jobs that are; empty where that is nothing."""
        if self.everything:
            return EVERYTHING
        jobs = [f"{team}/{name}" for team, name in sorted(self.jobs)]
        jobs += [file.removeprefix(f"{JOBS}/") for file in sorted(self.unread)]
        things = [f"cluster {name!r}" for name in sorted(self.clusters)]
        things += [f"the platform of cluster {name!r}" for name in sorted(self.own)]
        things += [*(f"team {name!r}" for name in sorted(self.teams)), *sorted(self.extra)]
        if jobs:
            more = f" and {len(jobs) - SHOWN} more" if len(jobs) > SHOWN else ""
            things.append(f"{count_of(len(jobs), 'job')} ({', '.join(jobs[:SHOWN])}{more})")
        what = " and ".join([", ".join(things[:-1]), *things[-1:]] if len(things) > 1 else things)
        return f"manifests of {what} were not checked; {AGAIN}" if things else ""


NOTHING = LeftOut()


def left_out(
    findings: Sequence[Finding],
    jobs: Sequence[NamedJob],
    *,
    rest: Sequence[NamedJob] = (),
    lost: Mapping[Job, str] | None = None,
    small: Mapping[str, Collection[str]] | None = None,
    readable: Collection[str] = (),
) -> LeftOut:
    """Return the parts that errors among findings keep from being rendered.

    `jobs` are all that could be read, and `rest` those of which only some fields could be; `lost` are those of which no
    run could be made, with their files; `small` has the small files that the jobs of each file name. `readable` are
    the clusters that can be rendered, of which an error in some fields leaves all runs as they are. An error on a
    waiver keeps nothing from being rendered, and a job with frozen findings has its files at the base.
    """
    errors = [finding for finding in findings if finding.is_error and finding.rule != WAIVE.id]
    if not errors:
        return NOTHING
    places = [((finding.spec or finding.location).file, finding.message) for finding in errors]
    of_clusters = [
        (PurePosixPath(file).stem, error)
        for (file, _), error in zip(places, errors, strict=True)
        if is_directly_in(CLUSTERS, file)
    ]
    clusters = {name for name, error in of_clusters if name not in readable or not is_aside(error)}
    clusters |= {file.split("/")[1] for file, _ in places if is_ledger(file)}
    teams = {PurePosixPath(file).stem for file, _ in places if is_directly_in(TEAMS, file)}
    frozen = {finding.location.file for finding in findings if finding.frozen}
    wrong, unread = {job for job, file in (lost or {}).items() if file not in frozen}, set[str]()
    by_file: dict[str, list[NamedJob]] = {}
    for job in jobs:
        by_file.setdefault(job.file, []).append(job)
    for file, message in places:
        if file.startswith(f"{JOBS}/"):
            found = jobs_of(file, message, by_file, small or {})
            wrong |= found
            unread |= set() if found else {file}
    wrong |= {job.key for job in jobs if not job.retired and (job.cluster in clusters or job.team in teams)}
    return LeftOut(
        any(is_of_all(file) for file, _ in places),
        frozenset(clusters),
        frozenset(name for name, _ in of_clusters) - clusters,
        frozenset(teams),
        frozenset(wrong),
        frozenset(unread),
        frozenset(file for file, _ in places if file.startswith(f"{EXTRA}/")),
        frozenset((job.team, job.former) for job in (*jobs, *rest) if job.former and job.key in wrong),
        frozenset(job.key for job in jobs),
    )


def hindering(findings: Iterable[Finding], jobs: Sequence[NamedJob], readable: Collection[str] = ()) -> frozenset[str]:
    """Return the files whose errors keep any of these jobs from being rendered; `readable` are clusters that can be."""
    keys, files = [job.key for job in jobs], set[str]()
    for finding in findings:
        if finding.rule == STALE.id:
            continue  # files that another synth writes keep nothing from being rendered
        without = left_out([finding], jobs, readable=readable)
        if without.everything or any(without.has_job(*key) for key in keys):
            files.add(finding.location.file)
    return frozenset(files)


def jobs_of(
    file: str, message: str, by_file: Mapping[str, Sequence[NamedJob]], small: Mapping[str, Collection[str]]
) -> set[Job]:
    """Return the jobs that an error in a file is about: those of the file, or those that name it as a small file.

    The name of a job that could not be read is that of its file.
    """
    there = by_file.get(file, ())
    named = [job for job in there if job.prefix and message.startswith(job.prefix)]
    users = (job for user, others in small.items() if file in others for job in by_file.get(user, ()))
    found = {job.key for job in named or list(there) or users}
    _, *folders, name = file.split("/")
    is_one = len(folders) == 1 and not name.endswith(".py")
    return found or ({(folders[0], PurePosixPath(name).stem)} if is_one else set())


def may_have(file: str, team: str, name: str) -> bool:
    """Say whether a file that could not be read may have a job: a program, a file that is misplaced, or a folder."""
    path = PurePosixPath(file)
    of_program = path.suffix == ".py" and path.parts[1] == team and name.startswith(f"{path.stem}-")
    return of_program or path.stem == name or path.parts[1:] == (team,)


def is_aside(error: Finding) -> bool:
    """Say whether an error in a cluster's file stands at a field that changes no object of a run."""
    path = parse_path(error.path or "") if error.spec is None else ()
    shapes = (shape for shape in ASIDE if len(path) >= len(shape))
    return any(all(name in {None, part} for name, part in zip(shape, path, strict=False)) for shape in shapes)


def is_directly_in(folder: str, file: str) -> bool:
    """Say whether a file is in a folder, and in none below it."""
    return file.rpartition("/")[0] == folder


def is_ledger(file: str) -> bool:
    """Say whether a file is a ledger, without which nobody knows which runs a cluster has."""
    return file.startswith(f"{GENERATED}/") and layout.job_of_ledger(file.removeprefix(f"{GENERATED}/")) is not None


def is_of_all(file: str) -> bool:
    """Say whether everything may follow from a file: the settings, and what is no spec of its own."""
    return not file.startswith((f"{JOBS}/", f"{CLUSTERS}/", f"{TEAMS}/", f"{EXTRA}/", *WITHOUT))
