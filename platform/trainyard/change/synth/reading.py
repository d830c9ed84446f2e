"""Reads a repository's specs, and of its jobs only the files about which nothing is remembered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trainyard.base.findings import Finding, Location
from trainyard.base.system import reads
from trainyard.base.system.reads import Recording
from trainyard.base.system.repository import JOBS
from trainyard.change.synth import idle
from trainyard.change.synth.facts import ClusterFact, FileFact, Memory, RunFact
from trainyard.change.synth.render.processes import CLUSTER
from trainyard.judge import preflight
from trainyard.judge.preflight import Remembered, Waivers
from trainyard.judge.preflight.between import folders
from trainyard.render.kinds import Resolved
from trainyard.render.tree.disk import Disk
from trainyard.render.tree.wanted import Wanted, wanted_entry
from trainyard.specs.load import read_repository
from trainyard.specs.sources import JobFile, Printed, Specs


@dataclass
class Reading:
    """The specs at hand: what was read now, and what is remembered of the rest."""

    root: Path
    record: Recording
    """What was read, by job file and cluster file."""
    known: dict[str, FileFact]
    """Job files that were not opened."""
    clusters: dict[str, ClusterFact]
    """Clusters that were not looked at again."""
    specs: Specs
    runs: dict[tuple[str, str], Resolved] = field(default_factory=dict)
    """By team and job."""
    findings: list[Finding] = field(default_factory=list)
    on_clusters: Mapping[str, Sequence[Finding]] = field(default_factory=dict)
    """What was found on each cluster, now or when it was looked at."""
    waivers: Waivers = field(default_factory=Waivers)
    said: Mapping[str, str] = field(default_factory=dict)
    """What the programs that were run print, by file."""

    @property
    def weight(self) -> int:
        """How much there may be to render, in runs."""
        return len(self.specs.jobs) + CLUSTER * (len(self.specs.clusters) - len(self.clusters))

    def jobs(self) -> list[Wanted]:
        """Return the runs that all job files ask for."""
        found = [wanted_entry(job) for job in self.specs.jobs]
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
            found.setdefault(job.source.file, set()).update(small_of(job))
        return found

    def printed(self) -> tuple[Printed, ...]:
        """Return the output of programs, of this run or of an earlier one."""
        said = {file: fact.printed for file, fact in self.known.items() if fact.printed} | dict(self.said)
        return tuple(Printed(file, text) for file, text in sorted(said.items()))

    def load(self, asked: Sequence[Wanted]) -> list[Resolved]:
        """Return the runs of jobs, opening the files that were not opened before."""
        closed = {entry.location.file for entry in asked if (entry.team, entry.job) not in self.runs}
        if closed:
            skip = frozenset(self.known.keys() - closed)
            loaded = read_repository(self.root, skip=skip, small=small_files(self.known))
            self.runs |= by_name(preflight.check_jobs(loaded)[0])
        return [self.runs[entry.team, entry.job] for entry in asked]

    def facts(self) -> dict[str, FileFact]:
        """Return the facts to remember of all job files without errors."""
        by_file: dict[str, list[JobFile]] = defaultdict(list)
        for job in self.specs.jobs:
            by_file[job.source.file].append(job)
        said: dict[str, list[Finding]] = defaultdict(list)
        for finding in self.findings:
            said[finding.location.file].append(finding)
        facts = dict(self.known)
        for file, jobs in by_file.items():
            if not any(finding.is_error for finding in said[file]):
                small = sorted({path for job in jobs for path in small_of(job)})
                runs = [fact_of(job) for job in jobs]
                facts[file] = FileFact(self.record.reads_of(file), small, runs, said[file], self.said.get(file, ""))
        return facts


def read(disk: Disk, record: Recording, memory: Memory) -> Reading:
    """Read the specs below the root of the disk, of which `record` tells who read what.

    Raises SpecError where the folder is no repository.
    """
    root, listed = disk.root, disk.walk(JOBS)
    known = dict(memory.jobs)
    loaded = read_repository(root, skip=frozenset(known), small=small_files(known), listed=listed)
    names = {name for file, fact in known.items() for name in names_of(file, fact)}
    if loaded.small & known.keys() or any((job.team, job.name) in names for job in loaded.specs.jobs):
        known = {}  # what is said of these files follows from others too
        loaded = read_repository(root)
    others = {(job.team, name) for job in loaded.specs.jobs for name in folders.others(job.job)}
    apart = {file: fact for file, fact in known.items() if not others & names_of(file, fact)}
    if len(apart) < len(known):
        known = apart
        loaded = read_repository(root, skip=frozenset(known), small=small_files(known), listed=listed)
    specs = loaded.specs
    with reads.apart():  # which clusters there are is looked at each time
        clusters = {name: fact for name, fact in memory.clusters.items() if name in specs.clusters}
    remembered = Remembered(
        [finding for fact in known.values() for finding in fact.findings],
        {name: fact.findings for name, fact in clusters.items()},
    )
    checked = preflight.check(loaded, root, remembered=remembered)
    said = {document.file: document.text for document in loaded.printed}
    known |= idle.facts(loaded, disk)
    return Reading(
        root,
        record,
        known,
        clusters,
        specs,
        by_name(checked.runs),
        checked.findings,
        checked.on_clusters,
        checked.waivers,
        said,
    )


def names_of(file: str, fact: FileFact) -> set[tuple[str, str]]:
    """Return team and name of the jobs that are remembered of a file."""
    return {(file.split("/")[1], run.job) for run in fact.runs}


def small_of(job: JobFile) -> Iterator[str]:
    """Yield the small files that a job names."""
    yield from (f"{JOBS}/{job.team}/{file.source}" for file in job.job.files)


def small_files(facts: Mapping[str, FileFact]) -> frozenset[str]:
    """Return the small files that the jobs of these files name."""
    return frozenset(path for fact in facts.values() for path in fact.small)


def by_name(runs: Iterable[Resolved]) -> dict[tuple[str, str], Resolved]:
    """Return runs by team and job."""
    return {(run.run.team_name, run.run.job_name): run for run in runs}


def fact_of(job: JobFile) -> RunFact:
    """Return the fact to remember of a job."""
    asked = wanted_entry(job)
    return RunFact(asked.cluster, asked.job, asked.spec, asked.retired, asked.number, former=asked.former)
