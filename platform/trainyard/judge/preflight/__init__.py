"""What is wrong with the specs, before anything is rendered: one call, which every command that reads them makes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trainyard.base.credentials import PLAIN
from trainyard.base.findings import Finding
from trainyard.base.system import memory, progress, reads
from trainyard.base.system.data import policy_files, schemas_dir
from trainyard.base.system.repository import SETTINGS, cluster_file
from trainyard.base.system.unforeseen import UNFORESEEN, judge_safely
from trainyard.judge.policies.policy import Policy, usable
from trainyard.judge.preflight import jobs
from trainyard.judge.preflight.between import credentials
from trainyard.judge.preflight.declared import Look
from trainyard.judge.preflight.job import objects
from trainyard.judge.preflight.subjects import BETWEEN, CLUSTER, CLUSTER_BESIDE, TEAM, OneCluster, OneTeam
from trainyard.judge.preflight.waivers import Job, Waiver, Waivers
from trainyard.render.kinds import Resolved
from trainyard.specs.load import Loaded, read_repository
from trainyard.specs.reading.layout import Place
from trainyard.specs.sources import JobFile, Printed, Source, Specs, prefix_of

__all__ = [
    "Checked",
    "Remembered",
    "Waivers",
    "check",
    "check_cluster",
    "check_jobs",
    "check_repository",
    "waive_findings",
]


@dataclass(frozen=True, slots=True)
class Remembered:
    """What was found before in files and clusters that are as they were, and are not looked at again."""

    findings: Sequence[Finding] = ()
    """Those in files of jobs that were not opened, without what is waived."""
    on_clusters: Mapping[str, Sequence[Finding]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Checked:
    """The specs of a repository, the runs of those jobs that can be rendered, and everything that was found."""

    specs: Specs
    runs: tuple[Resolved, ...] = ()
    findings: list[Finding] = field(default_factory=list)
    waivers: Waivers = field(default_factory=Waivers)
    """What is accepted, for those who look at objects."""
    printed: tuple[Printed, ...] = ()
    """What programs that make jobs print."""
    idle: tuple[Place, ...] = ()
    """The programs that make jobs and were not run."""
    on_clusters: Mapping[str, Sequence[Finding]] = field(default_factory=dict)
    """What was found on each cluster, waived or not."""
    rest: tuple[JobFile, ...] = ()
    """What is left of broken jobs without their wrong fields."""
    loaded: Loaded | None = None
    """What the specs were read as, for those who judge them once more."""

    @property
    def refused(self) -> bool:
        """Whether an error stands, so that nothing may be written."""
        return any(finding.is_error for finding in self.findings)

    @property
    def lost(self) -> dict[Job, str]:
        """The jobs of which no run could be made, by team and name, each with its file."""
        runs = {(run.run.team_name, run.run.job_name) for run in self.runs}
        jobs = ((job.team, job.name, job) for job in self.specs.jobs)
        return {
            (team, name): job.source.file
            for team, name, job in jobs
            if not (job.job.retired or job.job.step or (team, name) in runs)
        }


def check_repository(root: Path, *, home: Path | None = None, jobs: Collection[str] = ()) -> Checked:
    """Read the specs below a repository's root, and say everything that is wrong with them.

    With `jobs`, as <team>/<job>, only what concerns the clusters of these is looked at and said. `home` is the
    repository whose schemas and policies count, by default the same. Raises SpecError where the folder
    is no repository or cannot be read, and TrainyardError for a policy that cannot be used.
    """
    loaded = read_repository(root)
    named = {f"{file.team}/{file.name}": file.job.cluster for file in loaded.specs.jobs}
    only = {named[job] for job in jobs} if jobs and named.keys() >= {*jobs} else None
    return check(loaded, home or root, only=only)


NOTHING = Remembered()


@memory.without_collecting()
def check(
    loaded: Loaded, home: Path, *, remembered: Remembered = NOTHING, only: Collection[str] | None = None
) -> Checked:
    """Say everything that is wrong with specs that were read, sorted by place; `remembered` is not looked at again.

    With `only`, the names of clusters, no other cluster is looked at, and no job there.
    """
    closed = files_elsewhere(loaded, only)
    runs, findings = check_jobs(loaded, home=home, closed=closed)
    schemas, known = schemas_dir(home), remembered.on_clusters
    on_clusters = {
        name: known[name] if name in known else check_cluster(loaded, name, schemas)
        for name in clusters_of(loaded)
        if cluster_file(name) not in closed
    }
    findings = [*loaded.findings, *findings, *check_between(loaded)]
    findings += (finding for found in on_clusters.values() for finding in found)
    waivers = Waivers.of(loaded, closed)
    left = (*waive_findings(loaded, waivers, findings, closed, runs), *remembered.findings)
    ordered = sorted(dict.fromkeys(left), key=lambda finding: finding.order)
    open_ = {(finding.location.file, prefix_of(finding.message)) for finding in ordered if finding.rule == PLAIN.id}
    shown = (run for run in runs if (run.run.source.file, run.run.source.prefix) not in open_)
    return Checked(
        loaded.specs, tuple(shown), ordered, waivers, loaded.printed, loaded.idle, on_clusters, loaded.rest, loaded
    )


def files_elsewhere(loaded: Loaded, only: Collection[str] | None) -> frozenset[str]:
    """Return the files of clusters that nobody asks about and of the jobs there; none where all are asked about."""
    if only is None:
        return frozenset()
    jobs = {(job.source.file, job.job.cluster in only) for job in loaded.specs.jobs}
    files = {file for file, _ in jobs} - {file for file, is_asked in jobs if is_asked}
    return frozenset(files).union(cluster_file(name) for name in clusters_of(loaded) if name not in only)


BETWEEN_FILES = "files beside each other"
"""For whom everything is read that is looked at each time, so that it counts for no job and no cluster."""


def clusters_of(loaded: Loaded) -> list[str]:
    """Return the names of all clusters."""
    with reads.about(BETWEEN_FILES):
        return list(loaded.specs.clusters)


def waive_findings(
    loaded: Loaded,
    waivers: Waivers,
    findings: Iterable[Finding],
    closed: Collection[str] = (),
    runs: Iterable[Resolved] = (),
) -> list[Finding]:
    """Return the findings in specs that no waiver takes off, and those on the waivers themselves; none in `closed`.

    Of jobs without one of the `runs` nobody knows which waivers they need, where a file that they name is broken.
    Credentials are looked for here, since nothing else that was found may show them.
    """
    found = judge_safely(
        lambda: credentials.check(loaded),
        lambda why: credentials.Found((stopped(loaded, "between/credentials.py:check", why),), frozenset(), blind=True),
    )
    left = waivers.left([finding for finding in (*findings, *found.findings) if finding.location.file not in closed])
    unneeded = waivers.unneeded(before=True, seen=was_judged(loaded, runs))
    return [found.hidden(finding) for finding in (*left, *waivers.wrong(), *unneeded)]


def was_judged(loaded: Loaded, runs: Iterable[Resolved]) -> Callable[[Waiver], bool]:
    """Return whether all rules were tried that a waiver may be for: not on a job whose cluster or team is broken."""
    done = {(run.run.team_name, run.run.job_name) for run in runs}
    jobs = ((file.team, file.name, file.job.cluster) for file in (*loaded.specs.jobs, *loaded.rest))
    held = {(team, name) for team, name, on in jobs if {f"cluster/{on}", f"team/{team}"} & loaded.broken} - done
    return lambda waiver: waiver.job not in held


@memory.without_collecting()
def check_jobs(
    loaded: Loaded, *, home: Path | None = None, closed: Collection[str] = ()
) -> tuple[list[Resolved], list[Finding]]:
    """Return the runs of jobs that can be rendered, retired ones included, and what is wrong with all jobs.

    Jobs in `closed` files are passed over.
    What a run's objects would be is looked at too, by the policies of `home`, by default the jobs' own repository.
    """
    runs: list[Resolved] = []
    findings: list[Finding] = []
    accepted = Waivers.of(loaded)
    open_ = [job for job in loaded.specs.jobs if job.source.file not in closed]
    for file in progress.each(open_, "checking", "jobs"):
        run, found = check_job(loaded, file, accepted)
        runs += [run] if run else []
        findings += found
    policies = usable(path for path in policy_files(home or loaded.root) if path.suffix == ".py")
    said = check_objects(loaded, runs, policies, home or loaded.root)
    refused = {run.run.name for run, finding in said if finding.is_error and not accepted.covers(finding)}
    findings += (finding for _, finding in said)
    return [run for run in runs if run.run.name not in refused], findings


def across_lines(root: Path, file: str) -> frozenset[tuple[str, str]]:
    """Return in which rules and sentences the runs of one file of jobs cross their team's lines, as rendered now."""
    loaded = read_repository(root)
    accepted = Waivers.of(loaded)
    checked = (check_job(loaded, job, accepted)[0] for job in loaded.specs.jobs if job.source.file == file)
    return frozenset(crossing for run in checked if run for crossing in objects.across_lines(loaded.specs, run))


def check_job(loaded: Loaded, file: JobFile, accepted: Waivers) -> tuple[Resolved | None, list[Finding]]:
    """Return the run of a job and what is wrong with it; no run, and an error, of one that stops Trainyard itself."""
    with reads.about(file.source.file):
        return judge_safely(
            lambda: jobs.check(loaded.specs, file, broken=loaded.broken, accepted=accepted.covers),
            lambda why: (None, [UNFORESEEN.at(file.source, (), f"Trainyard cannot check this job: {why}")]),
        )


Said = list[tuple[Resolved, Finding]]


def check_objects(loaded: Loaded, runs: Sequence[Resolved], policies: Sequence[Policy], home: Path) -> Said:
    """Return the findings in the objects of runs; a run that stops a check gets an error, and the others are judged.

    Where runs stop it only together, all of them have that error.
    """
    specs = loaded.specs

    def one_by_one(_: str) -> Said:
        wrong = {id(run): found for run in runs if (found := alone(specs, run, policies, home))}
        left = [run for run in runs if id(run) not in wrong]
        together = judge_safely(
            lambda: list(objects.check(specs, left, policies, home)),
            lambda why: [(run, stopped(loaded, "job/objects.py:check", why)) for run in left],
        )
        return [*(finding for found in wrong.values() for finding in found), *together]

    return judge_safely(lambda: list(objects.check(specs, runs, policies, home)), one_by_one)


def alone(specs: Specs, run: Resolved, policies: Sequence[Policy], home: Path) -> Said:
    """Return the error of a run whose objects cannot be judged, nothing of any other."""

    def look() -> Said:
        for _ in objects.check(specs, [run], policies, home):
            pass
        return []

    return judge_safely(
        look,
        lambda why: [
            (run, UNFORESEEN.at(run.run.source, (), (f"Trainyard cannot check the objects of this job: {why}")))
        ],
    )


def check_between(loaded: Loaded) -> list[Finding]:
    """Return the problems with teams and between files; an error of a check that stops Trainyard itself."""
    look = Look(stopped=lambda check, why: stopped(loaded, check.place, why))
    with reads.about(BETWEEN_FILES):
        look.ask(BETWEEN, loaded)
        return [*look.findings, *(finding for name in loaded.specs.teams for finding in check_team(loaded, name))]


def stopped(loaded: Loaded, check: str, why: str) -> Finding:
    """Return the error of a check of all files that stops Trainyard itself, at the repository's settings."""
    sources = loaded.specs.sources
    return unlooked(sources.get("repository") or next(iter(sources.values()), Source(SETTINGS)), check, why)


def unlooked(source: Source, check: str, why: str) -> Finding:
    """Return the error of a check that stops Trainyard itself."""
    return UNFORESEEN.at(source, (), f"check {check} stopped, so its rules were not checked: {why}")


def check_team(loaded: Loaded, name: str) -> list[Finding]:
    """Return the problems with a team; an error of a check that stops Trainyard itself."""
    team = OneTeam(loaded.specs, name, loaded.broken)
    look = Look(stopped=lambda check, why: unlooked(team.source, check.place, why))
    look.ask(TEAM, team)
    return look.findings


def check_cluster(loaded: Loaded, name: str, schemas: Path) -> list[Finding]:
    """Return the problems with a cluster; an error of one that stops Trainyard itself."""
    one = OneCluster(loaded, name, schemas)

    def look() -> list[Finding]:
        look = Look()
        look.ask(CLUSTER, one.cluster, one.source)
        look.ask(CLUSTER_BESIDE, one)
        return look.findings

    with reads.about(cluster_file(name)):
        return judge_safely(
            look, lambda why: [UNFORESEEN.at(one.source, (), f"Trainyard cannot check this cluster: {why}")]
        )
