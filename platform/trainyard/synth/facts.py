"""What earlier runs of this program found out: facts, each under a key of everything that it follows from."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from trainyard.findings import Finding, Location, ObjectRef, Severity
from trainyard.system import cache, files
from trainyard.system.data import PACKAGE, own, policy_files, schemas_dir
from trainyard.system.registry import GROUPS, added
from trainyard.system.repository import EXTRA, JOBS, SETTINGS, TEAMS, cluster_file, team_file

FORMAT = "3"
"""Raise it when the facts are written in another way."""

PLUGINS = (*GROUPS, "trainyard.releases")


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

    key: str
    small: Sequence[str]
    """Small files that its jobs name."""
    runs: Sequence[RunFact]
    findings: Sequence[Finding] = ()
    printed: str = ""
    """What the file prints, where it is a program."""

    @property
    def clusters(self) -> list[str]:
        """The clusters of its runs."""
        return sorted({run.cluster for run in self.runs})


@dataclass(frozen=True, slots=True)
class ClusterFact:
    """What a cluster without errors is rendered to, and the warnings of its operators."""

    key: str
    files: Mapping[str, str]
    """Content ids of all its folders' files and indexes but those of runs, by path below `generated/`."""
    findings: Sequence[Finding] = ()


@dataclass
class Memory:
    """Facts about one repository; each is good for as long as its key is the present one.

    They are kept by team and cluster, so that little is written for a small change.
    """

    store: cache.Cache | None
    root: Path
    jobs: dict[str, FileFact] = field(default_factory=dict)
    clusters: dict[str, ClusterFact] = field(default_factory=dict)
    _before: dict[str, object] = field(default_factory=dict)

    @classmethod
    def load(cls, store: cache.Cache | None, root: Path, specs: Iterable[str]) -> Memory:
        """Return what is remembered of the repository at a folder, of those teams and clusters that have specs."""
        memory = cls(store, root)
        for name in sorted({part_of(path) for path in specs}):
            data = store.get(memory._key(name)) if store else None
            value = json.loads(data) if data else {}
            jobs = {
                file: FileFact(key, small, [RunFact(*run) for run in runs], [_finding(each) for each in findings], said)
                for file, (key, small, runs, findings, said) in value.get("jobs", {}).items()
            }
            clusters = {
                cluster: ClusterFact(key, contents, [_finding(each) for each in findings])
                for cluster, (key, contents, findings) in value.get("clusters", {}).items()
            }
            memory.jobs |= jobs
            memory.clusters |= clusters
            memory._before[name] = (jobs, clusters)
        return memory

    def save(self) -> None:
        """Keep the facts for the next process."""
        if self.store is None:
            return
        parts: dict[str, tuple[dict[str, FileFact], dict[str, ClusterFact]]] = {name: ({}, {}) for name in self._before}
        for file, fact in self.jobs.items():
            parts.setdefault(part_of(file), ({}, {}))[0][file] = fact
        for cluster, each in self.clusters.items():
            parts.setdefault(part_of(cluster_file(cluster)), ({}, {}))[1][cluster] = each
        for name, (jobs, clusters) in parts.items():
            if (jobs, clusters) != self._before.get(name, ({}, {})):
                self.store.put(self._key(name), _text(jobs, clusters))

    def _key(self, name: str) -> str:
        return cache.key("memory", FORMAT, str(self.root.resolve()), name)


def part_of(path: str) -> str:
    """Return under which name the facts of a spec file are kept: its team or its cluster."""
    return "/".join(path.split("/")[:2]) if path.startswith(f"{JOBS}/") else path


def _text(jobs: Mapping[str, FileFact], clusters: Mapping[str, ClusterFact]) -> bytes:
    value = {
        "jobs": {
            file: (
                fact.key,
                fact.small,
                [_values(run) for run in fact.runs],
                [asdict(each) for each in fact.findings],
                fact.printed,
            )
            for file, fact in jobs.items()
        },
        "clusters": {
            name: (fact.key, fact.files, [asdict(each) for each in fact.findings]) for name, fact in clusters.items()
        },
    }
    return json.dumps(value, separators=(",", ":")).encode()


def _values(run: RunFact) -> tuple[object, ...]:
    return run.cluster, run.job, run.spec, run.retired, run.number, run.files, run.digest, run.former


def _finding(value: dict[str, Any]) -> Finding:
    places = {name: Location(**value[name]) for name in ("location", "spec") if value[name]}
    ref = {"object": ObjectRef(**value["object"])} if value["object"] else {}
    return Finding(**{**value, **places, **ref, "severity": Severity(value["severity"])})


@dataclass
class Keys:
    """Everything that facts follow from, by content."""

    code: str
    specs: Mapping[str, str]
    """Content ids of spec files by path in the repository."""
    _shared: dict[tuple[str, ...], str] = field(default_factory=dict)

    @cached_property
    def extra(self) -> tuple[str, ...]:
        """Files of objects that the repository adds to clusters."""
        return tuple(path for path in self.specs if path.startswith(f"{EXTRA}/"))

    def of_file(self, file: str, small: Sequence[str], clusters: Sequence[str]) -> str:
        """Return the key of a job file that names these small files and clusters, with the objects added to them."""
        team = file.split("/", 2)[1]
        around = (team, *clusters)
        if around not in self._shared:
            paths = [cluster_file(name) for name in clusters]
            tops = tuple(f"{EXTRA}/{name}/{part}/" for name in clusters for part in ("platform", f"teams/{team}"))
            own = sorted(path for path in self.extra if path.startswith(tops))
            self._shared[around] = self._of([*paths, *own, team_file(team), SETTINGS])
        beside = "".join(f"\0{path}\0{self.specs.get(path)}" for path in small)
        return cache.key(f"{file}\0{self.specs.get(file)}{beside}\0{self._shared[around]}")

    def of_cluster(self, name: str) -> str:
        """Return the key of a cluster: of its file, all teams, its plain objects and the repository's settings."""
        tops = (cluster_file(name), f"{TEAMS}/", f"{EXTRA}/{name}/", SETTINGS)
        return self._of(sorted(path for path in self.specs if path.startswith(tops)))

    def _of(self, paths: Iterable[str]) -> str:
        return cache.key(self.code, *(part for path in paths for part in (path, self.specs.get(path, ""))))


def stamps(folder: Path) -> Iterator[str]:
    """Yield name, size and time of each source file of a package, which change with its code."""
    for each in files.walk(folder):
        if each.path.endswith((".py", ".yaml")):
            yield f"{each.path} {each.stat.st_size} {each.stat.st_mtime_ns}"


def code_key(root: Path, version: str, types: Iterable[str] = ()) -> str:
    """Return a key of the code that renders and checks: this package as installed, plugins, policies and schemas.

    `types` are what tells the repository's own schemas from others.
    Of schemas two count: the repository's, which judge, and those that come along, by which operators are rendered.
    """
    parts = [version, sys.version, *types]
    parts += (part for part in stamps(PACKAGE) if not part.startswith("data/"))
    plugins = [entry for group in PLUGINS for entry in added(group)]
    parts += [f"{entry.value} {entry.dist.version if entry.dist else ''}" for entry in plugins]
    for name in sorted({entry.module.partition(".")[0] for entry in plugins} - {PACKAGE.name}):
        spec = find_spec(name)
        for place in (spec.submodule_search_locations or [spec.origin or ""]) if spec else ():
            parts += stamps(Path(place)) if Path(place).is_dir() else [str(Path(place).stat().st_mtime_ns)]
    locks = [folder / "lock.yaml" for folder in (schemas_dir(root), own("schemas"))]
    return cache.key(*parts, *(files.read_installed(path) or b"" for path in (*policy_files(root), *locks)))
