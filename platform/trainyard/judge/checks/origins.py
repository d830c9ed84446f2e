"""The field of a job, a cluster or a team that a field of a generated object follows from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path as Folder
from typing import Any

from trainyard.base.findings import Finding, Location, Path, parse_path
from trainyard.base.manifests import Identity, group_of
from trainyard.base.system import files
from trainyard.base.system.repository import GENERATED, JOBS, cluster_file, team_file
from trainyard.judge.preflight.job.rendered import Objects
from trainyard.judge.preflight.jobs import run_of
from trainyard.judge.preflight.traced import Origin, SpecText, in_words, trace
from trainyard.render import clusters
from trainyard.render.kinds import resolve
from trainyard.render.tree import layout
from trainyard.render.tree.index import Entry
from trainyard.specs import Cluster, Team, namespaces
from trainyard.specs.load import read_repository
from trainyard.specs.sources import JobFile, Specs

FIRST = 50
"""Findings of one rule on one cluster whose fields are looked for, each of which renders its objects anew."""


@dataclass
class Origins:
    """Where fields of generated objects come from, in the specs of one repository."""

    specs: Specs
    entry_of: Callable[[str], Entry | None] = lambda _: None
    """Finds the entry of a generated file in an index."""
    root: Folder | None = None
    """Folder of the repository, whose job files are opened where the specs leave them out."""

    def trace_all(self, findings: Sequence[Finding]) -> list[Finding]:
        """Return findings on generated objects at the fields of specs: of each rule the first ones."""
        first: set[int] = set()
        counts = Counter[str]()
        for finding in sorted(findings, key=lambda item: item.order):
            counts[finding.rule] += 1
            first |= {id(finding)} if counts[finding.rule] <= FIRST else set()
        return [self.place(finding) if id(finding) in first else finding for finding in findings]

    def place(self, finding: Finding) -> Finding:
        """Return a finding on a generated object at the field of the spec and in its words, as it is without one."""
        entry = self.entry_of(finding.location.file)
        path = parse_path(finding.path or "")
        source = self.source(entry.spec) if entry else None
        if entry is None or source is None or not path:
            return finding
        origin = self.trace(finding.location.file, entry, path)
        if origin is None:
            return finding
        where: Location = source.location(origin.path)
        return replace(finding, spec=where, message=in_words(finding.message, finding.path or "", origin))

    def trace(self, file: str, entry: Entry, path: Path) -> Origin | None:
        """Return the field that a field of the object in a file follows from."""
        spec = self.spec(file, entry)
        identity = Identity(group_of(entry.api_version), entry.kind, entry.namespace or "", entry.name)
        return None if spec is None else trace(spec, identity, path, tuple(entry.field))

    def spec(self, file: str, entry: Entry) -> SpecText | None:
        """Return the spec that a file is rendered from, None where it is none that can be varied."""
        cluster, _, rest = file.removeprefix(f"{GENERATED}/").partition("/")
        folder = rest.rpartition("/")[0]
        if (job := self.job(entry.spec)) is not None:
            return self.of_job(job, layout.run_of(f"{cluster}/{rest}") or "")
        if entry.spec == cluster_file(cluster):
            return self.of_cluster(cluster, folder)
        team = folder.rpartition("/")[2]
        return self.of_team(cluster, folder, team) if entry.spec == team_file(team) else None

    def of_job(self, file: JobFile, folder: str) -> SpecText | None:
        """Return a job, if it is still the one whose run is in a folder."""
        run = run_of(self.specs, file)
        return Objects(resolve(run)).spec if run is not None and folder.endswith(f"/{run.name}") else None

    def of_cluster(self, name: str, folder: str) -> SpecText | None:
        """Return a cluster, whose objects in a folder are rendered."""

        def render(cluster: Cluster) -> Mapping[Identity, Mapping[str, Any]]:
            known = namespaces.know_teams(name, cluster, self.specs.teams)
            return self.folder(replace(self.specs, clusters={**self.specs.clusters, name: known}), name, folder)

        return self.varied(self.spec_value(f"cluster/{name}"), Cluster, render)

    def of_team(self, cluster: str, folder: str, name: str) -> SpecText | None:
        """Return a team, whose objects in a folder are rendered."""

        def render(team: Team) -> Mapping[Identity, Mapping[str, Any]]:
            varied = replace(self.specs, teams={**self.specs.teams, name: team})
            return self.folder(namespaces.know_all_teams(varied), cluster, folder)

        return self.varied(self.spec_value(f"team/{name}"), Team, render)

    def varied(self, value: Any, model: type[Any], render: Any) -> SpecText | None:
        """Return a spec whose document is a map."""
        return SpecText(value, model, render) if isinstance(value, Mapping) else None

    def folder(self, specs: Specs, cluster: str, folder: str) -> Mapping[Identity, Mapping[str, Any]]:
        """Return the objects of one folder of a cluster."""
        resources = next((found for path, found in clusters.parts(specs, cluster, ()) if path == folder), ())
        return {resource.identity: resource.value() for resource in resources}

    def spec_value(self, key: str) -> Any:
        """Return a spec as it is written."""
        source = self.specs.sources.get(key)
        return value_of(source.document if source else None)

    @cached_property
    def jobs(self) -> dict[str, JobFile]:
        """The jobs by their files, those of programs left out."""
        return {job.source.file: job for job in self.specs.jobs if job.source.document is not None}

    def job(self, file: str) -> JobFile | None:
        """Return the job in a file, also where the specs leave it out since nothing in it changed."""
        if file not in self.jobs and self.root is not None and file.startswith(f"{JOBS}/"):
            found = files.walk(self.root / JOBS)
            others = frozenset(f"{JOBS}/{item.path}" for item in found) - {file}
            read = read_repository(self.root, skip=others).specs.jobs
            self.jobs.update({job.source.file: job for job in read if job.source.document is not None})
        return self.jobs.get(file)

    def source(self, file: str) -> Any:
        """Return the source of the spec in a file, None of a file that is no spec."""
        if file in self.sources:
            return self.sources[file]
        job = self.job(file)
        return job.source if job is not None else None

    @cached_property
    def sources(self) -> Mapping[str, Any]:
        """What knows the places of fields in files of the platform, by file."""
        return {source.file: source for source in self.specs.sources.values()}


def value_of(document: Any) -> Any:
    """Return the value of a document, None of none."""
    return document.value if document else None
