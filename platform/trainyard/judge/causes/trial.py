"""Specs judged once more with one of them repaired: what is found no longer follows from what was repaired."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from trainyard.base.documents import Document
from trainyard.base.errors import TrainyardError
from trainyard.base.findings import PLATFORM, Finding, rank
from trainyard.base.system.data import schemas_dir
from trainyard.base.system.repository import SETTINGS, cluster_file, team_file
from trainyard.judge import preflight
from trainyard.judge.preflight import Waivers
from trainyard.specs import namespaces
from trainyard.specs.load import Loaded
from trainyard.specs.models.base import Spec
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.repository import Repository
from trainyard.specs.models.team import Team
from trainyard.specs.reading import document
from trainyard.specs.sources import JobFile, Source, prefix_of

Key = tuple[str, str, str | None, str]

MODELS: dict[str, type[Spec]] = {"cluster": Cluster, "team": Team, "repository": Repository}


def file_of(key: str) -> str:
    """Return the file of a spec by its key."""
    kind, _, name = key.partition("/")
    return {"repository": SETTINGS, "cluster": cluster_file(name), "team": team_file(name)}[kind]


def key(finding: Finding) -> Key:
    """Return the key by which a finding is the same whatever its sentence counts or proposes."""
    return finding.rule, finding.location.file, finding.path, prefix_of(finding.message)


def is_of_platform(finding: Finding) -> bool:
    """Say whether a finding is about settings, a cluster or a team."""
    return rank(finding.location.file) <= PLATFORM


def job_name(file: JobFile) -> str:
    """Return a job as people name it: `team/job`."""
    return f"{file.team}/{file.name}"


def with_value(loaded: Loaded, key: str, value: Any) -> Loaded | None:
    """Return specs in which one, by its key, has another value; None where no spec can have that."""
    kind, _, name = key.partition("/")
    spec, _ = document.validate(MODELS[kind], Source(key, Document(key, 0, value)))
    return None if spec is None else with_spec(loaded, kind, name, spec)


def with_spec(loaded: Loaded, kind: str, name: str, spec: Any, *, former: str = "") -> Loaded:
    """Return specs with another cluster, team or settings; `former` is the name that it no longer has."""
    specs = loaded.specs
    loaded = replace(loaded, broken=loaded.broken - {f"{kind}/{name}", kind})
    if kind == "repository":
        return replace(loaded, specs=replace(specs, repository=spec))
    sources = dict(specs.sources)
    if f"{kind}/{name}" not in sources:
        sources[f"{kind}/{name}"] = sources.get(f"{kind}/{former}", Source(file_of(f"{kind}/{name}")))
    if kind == "cluster":
        spec = namespaces.know_teams(name, spec, specs.teams)
        clusters = {key: item for key, item in specs.clusters.items() if key != former} | {name: spec}
        return replace(loaded, specs=replace(specs, clusters=clusters, sources=sources))
    teams = {key: item for key, item in specs.teams.items() if key != former} | {name: spec}
    return replace(loaded, specs=namespaces.know_all_teams(replace(specs, teams=teams, sources=sources)))


@dataclass(frozen=True)
class Judged:
    """What is said of specs, by key, and which jobs can be checked to the end."""

    findings: dict[Key, Finding]
    runs: frozenset[str]


@dataclass(frozen=True)
class Trial:
    """The specs at hand, and of their jobs those in which an error was found or that could not be checked."""

    loaded: Loaded
    home: Path
    jobs: tuple[JobFile, ...]

    @cached_property
    def now(self) -> Judged:
        """What is said of the specs as they are."""
        return self.judge(self.loaded)

    def judge(self, loaded: Loaded) -> Judged:
        """Return the findings on specs and the jobs that can be checked."""
        specs = loaded.specs
        some = replace(loaded, specs=replace(specs, jobs=self.jobs))
        runs, findings = preflight.check_jobs(some, home=self.home)
        schemas = schemas_dir(self.home)
        for name in specs.clusters:
            findings += preflight.check_cluster(loaded, name, schemas)
        findings += preflight.check_between(loaded)
        waivers = Waivers.of(loaded)
        seen = preflight.was_judged(loaded, runs)
        left = [*waivers.left(findings), *waivers.unneeded(before=True, seen=seen)]
        return Judged(by_key(left), frozenset(f"{run.run.team_name}/{run.run.job_name}" for run in runs))

    def of(self, repaired: Loaded) -> Gone | None:
        """Return the findings that repaired specs take away; None where other errors come of the repair."""
        try:
            after = self.judge(repaired)
        except (TrainyardError, LookupError, ValueError, TypeError):
            return None
        gone = {name: finding for name, finding in self.now.findings.items() if name not in after.findings}
        healed = {finding.location.file for finding in gone.values()} | {file_of(key) for key in self.loaded.broken}
        for name, finding in after.findings.items():
            new = finding.is_error and name not in self.now.findings
            if new and finding.location.file not in (healed & self.opened | self.unchecked):
                return None
        return Gone(gone, after.runs - self.now.runs)

    @cached_property
    def opened(self) -> frozenset[str]:
        """The files that a repair may open to checks that could not be made before."""
        return frozenset(file.source.file for file in self.jobs) | {file_of(key) for key in self.loaded.broken}

    @cached_property
    def unchecked(self) -> frozenset[str]:
        """The files of jobs that could not be checked to the end."""
        return frozenset(file.source.file for file in self.jobs if job_name(file) not in self.now.runs)


@dataclass(frozen=True)
class Gone:
    """What a repair takes away, and the jobs that can be checked with it."""

    findings: dict[Key, Finding]
    runs: frozenset[str]

    @property
    def errors(self) -> list[Finding]:
        """The errors that it takes away."""
        return [finding for finding in self.findings.values() if finding.is_error]


def by_key(findings: Iterable[Finding]) -> dict[Key, Finding]:
    """Return findings by their keys."""
    return {key(finding): finding for finding in findings}
