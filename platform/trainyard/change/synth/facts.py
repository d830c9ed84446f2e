"""What earlier runs of this program found out: facts, each with everything that was read for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from trainyard.base.findings import Finding, finding_from
from trainyard.base.memory import Memory, Table
from trainyard.base.system.reads import Reads
from trainyard.base.system.repository import JOBS, cluster_file
from trainyard.change.synth.kept_waivers import KeptWaiver

FORMAT = "6"
"""Raise it when the facts are written in another way."""


@dataclass(frozen=True, slots=True)
class RunFact:
    """One job of a file, and what its run is rendered to, where that was done."""

    cluster: str
    job: str
    spec: str
    retired: bool
    number: int
    files: Mapping[str, str] | None = None
    """Content ids of the run's files and of its index, by path below `generated/`."""
    digest: str = ""
    """The files' digest, as the ledger has it."""
    former: str = ""
    """The name that the job had before."""
    lost: bool = False
    """Whether no run can be made of it, as long as another file has an error."""


@dataclass(frozen=True, slots=True)
class FileFact:
    """What a job file without errors asks for, and the warnings on it."""

    reads: Reads
    """What all of it follows from; nothing that was not found out, but is told by the tree at hand."""
    small: Sequence[str]
    """Small files that its jobs name."""
    runs: Sequence[RunFact]
    findings: Sequence[Finding] = ()
    printed: str = ""
    """What the file prints, where it is a program."""
    waivers: Sequence[KeptWaiver] = ()
    """What its jobs accept."""

    @property
    def is_idle(self) -> bool:
        """Whether the file is a program that was not run: no later synth may take this for what it would say."""
        return not self.reads

    @property
    def clusters(self) -> list[str]:
        """The clusters of its runs."""
        return sorted({run.cluster for run in self.runs})


@dataclass(frozen=True, slots=True)
class ClusterFact:
    """What a cluster without errors is rendered to, and the warnings of its operators."""

    reads: Reads
    """What all of it follows from."""
    files: Mapping[str, str]
    """Content ids of all its folders' files and indexes but those of runs, by path below `generated/`."""
    findings: Sequence[Finding] = ()


@dataclass(frozen=True)
class Facts:
    """Facts on job files and on clusters, by file and by name."""

    jobs: Mapping[str, FileFact] = field(default_factory=dict)
    clusters: Mapping[str, ClusterFact] = field(default_factory=dict)

    def by_part(self) -> dict[str, dict[str, FileFact | ClusterFact]]:
        """Return the facts to keep, by team or cluster and then by file; programs that did not run have none."""
        found: dict[str, dict[str, FileFact | ClusterFact]] = {}
        for file, fact in self.jobs.items():
            if not fact.is_idle:
                found.setdefault(part_of(file), {})[file] = fact
        for cluster, about in self.clusters.items():
            file = cluster_file(cluster)
            found.setdefault(part_of(file), {})[file] = about
        return found


@dataclass(frozen=True)
class FactStore:
    """Facts about one repository that hold, since all that was read for them is as it was, and where they are kept.

    They are kept by team and cluster, so that little is written for a small change.
    """

    memory: Memory
    root: Path
    facts: Facts = field(default_factory=Facts)
    whole: frozenset[str] = frozenset()
    """The teams and clusters of which all that was kept holds."""

    def save(self, facts: Facts) -> None:
        """Keep other facts for the next process."""
        before, now = self.facts.by_part(), facts.by_part()
        for name in sorted({*before, *now}):
            held, left = before.get(name, {}), now.get(name, {})
            if left != held or name not in self.whole:
                rows = {file: (row_of(fact), fact.reads) for file, fact in left.items()}
                Table(self.memory, inputs_of(self.root, name)).replace(rows)


def load_facts(memory: Memory, root: Path, specs: Iterable[str]) -> FactStore:
    """Return the remembered facts of the repository at a folder, of those teams and clusters that have specs."""
    jobs: dict[str, FileFact] = {}
    clusters: dict[str, ClusterFact] = {}
    whole = set()
    for name in sorted({part_of(path) for path in specs}):
        table = memory.table(*inputs_of(root, name))
        held = [file for file in table.values if table.knows(file)]
        for file in held:
            if file.startswith(f"{JOBS}/"):
                jobs[file] = file_fact(table.reads_of(file), *table.value(file))
            else:
                clusters[PurePosixPath(file).stem] = cluster_fact(table.reads_of(file), *table.value(file))
        if len(held) == len(table.values):
            whole.add(name)
    return FactStore(memory, root, Facts(jobs, clusters), frozenset(whole))


def inputs_of(root: Path, part: str) -> tuple[str, ...]:
    """Return the inputs under which the facts of a team or cluster are kept."""
    return "facts", FORMAT, str(root.resolve()), part


def part_of(path: str) -> str:
    """Return under which name the facts of a spec file are kept: its team or its cluster."""
    return "/".join(path.split("/")[:2]) if path.startswith(f"{JOBS}/") else path


def file_fact(
    reads: Reads,
    small: Sequence[str],
    runs: Iterable[Any],
    findings: Iterable[Any],
    printed: str,
    waivers: Iterable[Any],
) -> FileFact:
    """Return the fact on a job file that was kept."""
    return FileFact(
        reads,
        small,
        [RunFact(*run) for run in runs],
        [finding_from(said) for said in findings],
        printed,
        [KeptWaiver(*waiver) for waiver in waivers],
    )


def cluster_fact(reads: Reads, contents: Mapping[str, str], findings: Iterable[Any]) -> ClusterFact:
    """Return the fact on a cluster that was kept."""
    return ClusterFact(reads, contents, [finding_from(said) for said in findings])


def row_of(fact: FileFact | ClusterFact) -> list[Any]:
    """Return a fact without its reads, as JSON has it."""
    findings = [asdict(finding) for finding in fact.findings]
    if isinstance(fact, ClusterFact):
        return [fact.files, findings]
    return [fact.small, [_values(run) for run in fact.runs], findings, fact.printed, fact.waivers]


def _values(run: RunFact) -> tuple[object, ...]:
    return run.cluster, run.job, run.spec, run.retired, run.number, run.files, run.digest, run.former, run.lost
