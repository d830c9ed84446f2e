"""What earlier runs of this program found out: facts, each with everything that was read for it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from trainyard.base.findings import Finding, Location, ObjectRef, Severity
from trainyard.base.memory import World, from_json, to_json
from trainyard.base.system import cache
from trainyard.base.system.reads import Reads
from trainyard.base.system.repository import JOBS, cluster_file

FORMAT = "4"
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


Facts = tuple[dict[str, FileFact], dict[str, ClusterFact]]
"""Facts on job files and on clusters."""


@dataclass
class Memory:
    """Facts about one repository that hold, since all that was read for them is as it was.

    They are kept by team and cluster, so that little is written for a small change.
    """

    store: cache.Cache | None
    root: Path
    jobs: dict[str, FileFact] = field(default_factory=dict)
    clusters: dict[str, ClusterFact] = field(default_factory=dict)
    _before: dict[str, Facts | None] = field(default_factory=dict)
    """What was kept, by team and cluster; None of what no longer holds in part."""

    @classmethod
    def load(cls, store: cache.Cache | None, root: Path, specs: Iterable[str], world: World) -> Memory:
        """Return the remembered facts of the repository at a folder, of those teams and clusters that have specs."""
        memory = cls(store, root)
        for name in sorted({part_of(path) for path in specs}):
            data = store.get(memory._key(name)) if store else None
            value = json.loads(data) if data else {"jobs": {}, "clusters": {}, **to_json({})}
            traces = from_json(value)
            held = {result for result in traces.results if traces.holds(result, world)}
            jobs = {file: file_fact(traces.of(file), *value["jobs"][file]) for file in value["jobs"] if file in held}
            clusters = {
                cluster: cluster_fact(traces.of(cluster_file(cluster)), *said)
                for cluster, said in value["clusters"].items()
                if cluster_file(cluster) in held
            }
            memory.jobs |= jobs
            memory.clusters |= clusters
            memory._before[name] = (jobs, clusters) if len(held) == len(traces.results) else None
        return memory

    def save(self) -> None:
        """Keep the facts for the next process."""
        if self.store is None:
            return
        parts: dict[str, Facts] = {name: ({}, {}) for name in self._before}
        for file, fact in self.jobs.items():
            if not fact.is_idle:
                parts.setdefault(part_of(file), ({}, {}))[0][file] = fact
        for cluster, about in self.clusters.items():
            parts.setdefault(part_of(cluster_file(cluster)), ({}, {}))[1][cluster] = about
        for name, facts in parts.items():
            if facts != self._before.get(name, ({}, {})):
                self.store.put(self._key(name), _text(*facts))

    def _key(self, name: str) -> str:
        return cache.key("memory", FORMAT, str(self.root.resolve()), name)


def part_of(path: str) -> str:
    """Return under which name the facts of a spec file are kept: its team or its cluster."""
    return "/".join(path.split("/")[:2]) if path.startswith(f"{JOBS}/") else path


def file_fact(
    reads: Reads, small: Sequence[str], runs: Iterable[Any], findings: Iterable[Any], printed: str
) -> FileFact:
    """Return the fact on a job file that was kept."""
    return FileFact(reads, small, [RunFact(*run) for run in runs], [_finding(said) for said in findings], printed)


def cluster_fact(reads: Reads, contents: Mapping[str, str], findings: Iterable[Any]) -> ClusterFact:
    """Return the fact on a cluster that was kept."""
    return ClusterFact(reads, contents, [_finding(said) for said in findings])


def _text(jobs: Mapping[str, FileFact], clusters: Mapping[str, ClusterFact]) -> bytes:
    traces = {file: fact.reads for file, fact in jobs.items()}
    traces |= {cluster_file(name): fact.reads for name, fact in clusters.items()}
    value = {
        **to_json(traces),
        "jobs": {
            file: (
                fact.small,
                [_values(run) for run in fact.runs],
                [asdict(finding) for finding in fact.findings],
                fact.printed,
            )
            for file, fact in jobs.items()
        },
        "clusters": {
            name: (fact.files, [asdict(finding) for finding in fact.findings]) for name, fact in clusters.items()
        },
    }
    return json.dumps(value, separators=(",", ":")).encode()


def _values(run: RunFact) -> tuple[object, ...]:
    return run.cluster, run.job, run.spec, run.retired, run.number, run.files, run.digest, run.former


def _finding(value: dict[str, Any]) -> Finding:
    places = {name: Location(**value[name]) for name in ("location", "spec") if value[name]}
    ref = {"object": ObjectRef(**value["object"])} if value["object"] else {}
    return Finding(**{**value, **places, **ref, "severity": Severity(value["severity"])})
