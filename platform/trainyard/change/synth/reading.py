"""Reads a repository's specs, and of its jobs only the files about which nothing is remembered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainyard.base.findings import Finding, Location
from trainyard.base.memory import CODE
from trainyard.base.system import reads
from trainyard.base.system.reads import Recording
from trainyard.base.system.repository import GENERATED, JOBS
from trainyard.change.synth import idle
from trainyard.change.synth.facts import ClusterFact, FileFact, RunFact
from trainyard.change.synth.kept_waivers import join_waivers, waivers_by_file
from trainyard.change.synth.render.processes import CLUSTER
from trainyard.change.synth.start import Start
from trainyard.judge import preflight
from trainyard.judge.checks.left_out import NamedJob
from trainyard.judge.preflight import Checked, Remembered, Waivers
from trainyard.judge.preflight.between import folders
from trainyard.judge.preflight.waivers import Job
from trainyard.render.kinds import Resolved
from trainyard.render.tree import layout
from trainyard.render.tree.wanted import Wanted, wanted_entry
from trainyard.specs.load import Loaded, read_repository
from trainyard.specs.sources import JobFile, Printed, Specs


@dataclass(frozen=True, slots=True)
class Opened:
    """Specs, without the job files about which enough is known."""

    start: Start
    known: Mapping[str, FileFact]
    """Job files that were not opened."""
    loaded: Loaded

    @property
    def clusters(self) -> dict[str, ClusterFact]:
        """Clusters that need not be looked at again."""
        with reads.apart():  # which clusters there are is looked at each time
            facts = self.start.facts.facts.clusters
            return {name: fact for name, fact in facts.items() if name in self.loaded.specs.clusters}


@dataclass(frozen=True, slots=True)
class Reading:
    """The specs at hand: what was read now, and what is remembered of the rest."""

    start: Start
    record: Recording
    """What was read, by job file and cluster file."""
    known: Mapping[str, FileFact]
    """Job files that were not opened."""
    clusters: Mapping[str, ClusterFact]
    """Clusters that were not looked at again."""
    checked: Checked
    """The specs that were read, and what is wrong with all of them."""

    @property
    def root(self) -> Path:
        """The repository's folder."""
        return self.start.root

    @property
    def specs(self) -> Specs:
        """The specs that were read."""
        return self.checked.specs

    @property
    def findings(self) -> Sequence[Finding]:
        """Everything that is wrong with specs."""
        return self.checked.findings

    @property
    def outputs(self) -> Mapping[str, str]:
        """The output of the programs that were run, by file."""
        return {document.file: document.text for document in self.checked.printed}

    @property
    def weight(self) -> int:
        """How much there is to render for certain, in runs: what is on disk may do."""
        wanted = [entry for entry in self.opened_runs() if not entry.retired]
        new = [entry for entry in wanted if f"{entry.cluster}/{layout.index_file(entry.folder)}" not in self.there]
        return len(new) + self.weight_of_clusters

    @property
    def weight_of_clusters(self) -> int:
        """How much of that are clusters."""
        return CLUSTER * (len(self.specs.clusters) - len(self.clusters))

    @property
    def there(self) -> Mapping[str, str | None]:
        """The content id of every file on disk, by path below `generated/`."""
        return self.start.disk.scan(GENERATED)

    def opened_runs(self) -> list[Wanted]:
        """Return the runs that the job files which were opened ask for."""
        return [wanted_entry(job) for job in self.specs.jobs]

    def named_jobs(self) -> list[NamedJob]:
        """Return the names of all jobs that could be read."""
        found = [NamedJob.of(job) for job in self.specs.jobs]
        for file, fact in self.known.items():
            team = file.split("/")[1]
            found += (NamedJob(team, run.job, run.cluster, file, run.retired, run.former) for run in fact.runs)
        return found

    def unopened(self) -> dict[str, str]:
        """Return the cluster of each job whose file was not opened, by `team/job`, retired ones left out."""
        known = ((file.split("/")[1], run) for file, fact in self.known.items() for run in fact.runs)
        return {f"{team}/{run.job}": run.cluster for team, run in known if not run.retired}

    def lost(self) -> dict[Job, str]:
        """Return the jobs of which no run can be made, by team and name, each with its file."""
        known = {
            (file.split("/")[1], run.job): file for file, fact in self.known.items() for run in fact.runs if run.lost
        }
        return {**known, **self.checked.lost}

    def waivers(self) -> Waivers:
        """Return the waivers of all specs, with what came of them so far."""
        return join_waivers(self.checked.waivers, self.root, {file: fact.waivers for file, fact in self.known.items()})

    def jobs(self) -> list[Wanted]:
        """Return the runs that all job files ask for."""
        found = self.opened_runs()
        for file, fact in self.known.items():
            team, place = file.split("/")[1], Location(file, 1, 1)
            found += (
                Wanted(run.cluster, team, run.job, run.spec, run.retired, run.number, place, run.former)
                for run in fact.runs
            )
        return found

    def small(self) -> dict[str, set[str]]:
        """Return the small files that the jobs of each file name."""
        found: dict[str, set[str]] = {file: set(fact.small) for file, fact in self.known.items()}
        for job in self.specs.jobs:
            found.setdefault(job.source.file, set()).update(job.small_files)
        return found

    def printed(self) -> tuple[Printed, ...]:
        """Return the output of programs, of this run or of an earlier one."""
        said = {file: fact.printed for file, fact in self.known.items() if fact.printed} | dict(self.outputs)
        return tuple(Printed(file, text) for file, text in sorted(said.items()))

    def load(self, asked: Sequence[Wanted]) -> list[Resolved]:
        """Return the runs of jobs, opening the files that were not opened before."""
        runs = by_name(self.checked.runs)
        closed = {entry.location.file for entry in asked if (entry.team, entry.job) not in runs}
        if closed:
            skip = frozenset(self.known.keys() - closed)
            loaded = read_repository(self.root, skip=skip, small=small_files(self.known))
            runs |= by_name(preflight.check_jobs(loaded)[0])
        return [runs[entry.team, entry.job] for entry in asked]

    def facts(self) -> dict[str, FileFact]:
        """Return the facts to remember of all job files without errors."""
        by_file: dict[str, list[JobFile]] = defaultdict(list)
        for job in self.specs.jobs:
            by_file[job.source.file].append(job)
        said: dict[str, list[Finding]] = defaultdict(list)
        for finding in self.findings:
            said[finding.location.file].append(finding)
        waivers = waivers_by_file(self.checked.waivers)
        facts, printed, lost = dict(self.known), self.outputs, self.checked.lost
        for file, jobs in by_file.items():
            if not any(finding.is_error for finding in said[file]):
                small = sorted({path for job in jobs for path in job.small_files})
                runs = [fact_of(job, lost=(job.team, job.name) in lost) for job in jobs]
                facts[file] = FileFact(
                    self.record.reads_of(file), small, runs, said[file], printed.get(file, ""), waivers.get(file, ())
                )
        return facts


def read(start: Start) -> Reading:
    """Read the specs, of jobs only those about which nothing is known, and check them.

    Raises SpecError where the folder is no repository.
    """
    with reads.recording(start.world) as record:
        reads.ask(CODE, "")
        opened = open_specs(start, start.facts.facts.jobs)
        unmixed = open_mixed(opened)
        whole = open_named(unmixed)
        return check(whole, record)


def open_specs(start: Start, known: Mapping[str, FileFact]) -> Opened:
    """Read specs, without these job files."""
    listed = start.disk.walk(JOBS)
    return Opened(
        start, known, read_repository(start.root, skip=frozenset(known), small=small_files(known), listed=listed)
    )


def open_mixed(opened: Opened) -> Opened:
    """Read all job files where a name or a small file is in one that was opened and in one that was not."""
    names = {name for file, fact in opened.known.items() for name in names_of(file, fact)}
    twice = any((job.team, job.name) in names for job in opened.loaded.specs.jobs)
    return open_specs(opened.start, {}) if twice or opened.loaded.small & opened.known.keys() else opened


def open_named(opened: Opened) -> Opened:
    """Read also the job files of which an opened one speaks: what is said of it follows from them."""
    others = {(job.team, name) for job in opened.loaded.specs.jobs for name in folders.others(job.job)}
    left = {file: fact for file, fact in opened.known.items() if not others & names_of(file, fact)}
    return opened if len(left) == len(opened.known) else open_specs(opened.start, left)


def check(opened: Opened, record: Recording) -> Reading:
    """Check specs, of which `record` tells who read what; what is known is not looked at again."""
    clusters = opened.clusters
    remembered = Remembered(
        [finding for fact in opened.known.values() for finding in fact.findings],
        {name: fact.findings for name, fact in clusters.items()},
    )
    checked = preflight.check(opened.loaded, opened.start.root, remembered=remembered)
    known = {**opened.known, **idle.facts(opened.loaded, opened.start.disk)}
    return Reading(opened.start, record, known, clusters, checked)


def names_of(file: str, fact: FileFact) -> set[tuple[str, str]]:
    """Return team and name of the jobs that are remembered of a file."""
    return {(file.split("/")[1], run.job) for run in fact.runs}


def small_files(facts: Mapping[str, FileFact]) -> frozenset[str]:
    """Return the small files that the jobs of these files name."""
    return frozenset(path for fact in facts.values() for path in fact.small)


def by_name(runs: Iterable[Resolved]) -> dict[tuple[str, str], Resolved]:
    """Return runs by team and job."""
    return {(run.run.team_name, run.run.job_name): run for run in runs}


def fact_of(job: JobFile, *, lost: bool) -> RunFact:
    """Return the fact to remember of a job, which is `lost` where no run could be made of it."""
    asked = wanted_entry(job)
    return RunFact(asked.cluster, asked.job, asked.spec, asked.retired, asked.number, former=asked.former, lost=lost)
