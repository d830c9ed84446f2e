"""Findings on frozen runs: an error only where this change causes it, and then reported where the change is."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from trainyard.documents import load
from trainyard.findings import Finding, Location, Severity
from trainyard.specs.reading import layout
from trainyard.synth import ledger
from trainyard.synth.runs import Wanted, folder_of
from trainyard.synth.snapshot import Snapshot
from trainyard.system import files
from trainyard.system.git import Git, blob_id

SPECS = (layout.JOBS, layout.CLUSTERS, layout.TEAMS, layout.EXTRA, layout.REPOSITORY)
"""What people write: everything that can cause a finding on a job."""

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Standing:
    """The specs at the base beside those at hand."""

    root: Path
    git: Git
    base: Snapshot
    check: Callable[[Path], Iterable[Finding]]
    """What is found in a repository at a folder."""

    @cached_property
    def before(self) -> Mapping[str, str]:
        """Every spec file at the base, with its content id."""
        commit = self.base.commit or ""
        found: dict[str, str] = {}
        for top in SPECS:
            oid = self.git.object_id(commit, top)
            if oid is not None:
                below = {} if top == layout.REPOSITORY else self.git.listing(oid)
                found |= {f"{top}/{path}": each for path, each in below.items()} or {top: oid}
        return found

    @cached_property
    def changed(self) -> frozenset[str]:
        """Spec files that are not as at the base."""
        now: dict[str, str] = {}
        for top in SPECS:
            listed = (
                [top] if top == layout.REPOSITORY else [f"{top}/{each.path}" for each in files.walk(self.root / top)]
            )
            read = ((path, files.read(self.root / path)) for path in listed)
            now |= {path: blob_id(data, self.base.algorithm) for path, data in read if data is not None}
        return frozenset(path for path in {*now, *self.before} if now.get(path) != self.before.get(path))

    @cached_property
    def known(self) -> frozenset[Key]:
        """What the same checks find in the specs of the base."""
        with tempfile.TemporaryDirectory(prefix="trainyard-") as folder:
            root = Path(folder)
            for path, data in zip(self.before, self.git.read(self.before.values()), strict=True):
                files.write(root / path, data)
            (root / layout.CLUSTERS).mkdir(parents=True, exist_ok=True)
            return frozenset(map(key, self.check(root)))

    def sort(self, findings: Sequence[Finding]) -> list[Finding]:
        """Return the findings with those on frozen runs in their place.

        What stood at the base too is a warning. What did not is said of the run, at the file that changed.
        """
        frozen = self.frozen_jobs()
        return [
            self.place(each, frozen[each.location.file]) if each.location.file in frozen else each for each in findings
        ]

    def place(self, finding: Finding, runs: Sequence[str]) -> Finding:
        """Return a finding on the file of a frozen run as it weighs in this change."""
        if not finding.is_error:
            return finding
        causes = sorted(path for path in self.changed if not path.startswith(f"{layout.JOBS}/"))
        if not causes or key(finding) in self.known:
            return replace(finding, severity=Severity.WARNING, frozen=True)
        message = f"this change breaks {' and '.join(runs)}: {finding.message}"
        fix = "retire the run first, or take the change back"
        return replace(finding, message=message, location=Location(causes[0], 1, 1), spec=finding.location, fix=fix)

    def frozen_jobs(self) -> Mapping[str, tuple[str, ...]]:
        """Return the job files that are as at the base and have runs there, with the names of those runs."""
        found: dict[str, tuple[str, ...]] = {}
        for each in self.standing:
            found[each.location.file] = (*found.get(each.location.file, ()), each.run)
        return found

    def held(self, jobs: Sequence[Wanted], findings: Iterable[Finding]) -> list[Wanted]:
        """Return the jobs, those with frozen findings as they are at the base, since they may not be readable now."""
        files = {each.location.file for each in findings if each.frozen}
        held = [each for each in self.standing if each.location.file in files]
        names = {(each.team, each.job) for each in held}
        return [*(each for each in jobs if (each.team, each.job) not in names), *held]

    @cached_property
    def standing(self) -> list[Wanted]:
        """The runs of the base whose job files, small ones too, are unchanged, whatever is found in them now."""
        found: list[Wanted] = []
        for (cluster, team, job), past in self.base.ledgers.items():
            for entry in past:
                if entry.state != "active":
                    continue
                file = self.file_of(cluster, team, job, entry)
                if file in self.before and not self.changed & {file, *self.small_files(file)}:
                    found.append(Wanted(cluster, team, job, entry.spec, False, 1, Location(file, 1, 1)))
        return found

    def file_of(self, cluster: str, team: str, job: str, entry: ledger.Entry) -> str:
        """Return the file that a run came from at the base."""
        file = f"{layout.JOBS}/{team}/{job}.yaml"
        if file in self.before:
            return file
        entries = self.base.index(cluster, folder_of(team, entry.name)).values()
        return next((each.spec for each in entries if each.spec.endswith(".py")), file)

    def small_files(self, file: str) -> Iterator[str]:
        """Yield the small files that a job's file may name: of a program all that its team has beside jobs."""
        team = file.rpartition("/")[0]
        if file.endswith(".py"):
            yield from (path for path in self.changed if path.startswith(f"{team}/") and not path.endswith(".yaml"))
            return
        documents, _ = load(files.read(self.root / file) or b"", file=file)
        value = documents[0].value if documents else None
        named = value.get("files") if isinstance(value, dict) else None
        sources = [each.get("source") for each in named if isinstance(each, dict)] if isinstance(named, list) else []
        yield from (f"{team}/{source}" for source in sources if isinstance(source, str))


def key(finding: Finding) -> Key:
    """Return what makes two findings the same, wherever they stand."""
    return finding.rule, finding.location.file, finding.message
