"""Findings on frozen runs: an error only where this change causes it, and then reported where the change is.

Of a frozen run neither the job's file nor the generated files have changed since the base. What the rules at hand find
there at the base too is a warning, or else a rule that grew stricter would keep the main branch red for ever. An object
that crosses its team's lines is an error whatever the base is, unless its job asks for it and was merged: somebody has
edited it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from trainyard.base.documents import load
from trainyard.base.errors import ToolError
from trainyard.base.findings import Finding, Location, Severity
from trainyard.base.system import files
from trainyard.base.system import git as system_git
from trainyard.base.system.git import Git, blob_id
from trainyard.base.system.repository import GENERATED, JOBS, SETTINGS, SPECS, job_file
from trainyard.judge import causes, preflight
from trainyard.judge.preflight import Checked
from trainyard.render.tenancy import RULES as TENANCY
from trainyard.render.tree import layout, ledger
from trainyard.render.tree.base import unproven_warning
from trainyard.render.tree.changed import Change, blamed_location, changes
from trainyard.render.tree.commit import BRANCHES, base_of, contents, default_branch
from trainyard.render.tree.snapshot import Snapshot, from_git
from trainyard.render.tree.spec_files import laid_out, spec_files
from trainyard.render.tree.wanted import Wanted
from trainyard.specs import Repository
from trainyard.specs.sources import Source, prefix_of

Find = Callable[[Path, Sequence[str]], Iterable[Finding]]
"""What the rules at hand find in the repository in a folder: in its specs, and in the trees of these clusters."""

Key = tuple[str, str, str | None, str]

LINES = frozenset(rule.id for rule in TENANCY.values())
"""Rules of what the runs of a team may be."""


def check_specs(root: Path, *, home: Path | None = None, ref: str | None = None, jobs: Collection[str] = ()) -> Checked:
    """Read the specs below a root, and say everything that is wrong with them, as it weighs in this change.

    With `jobs`, as <team>/<job>, only what concerns the clusters of these is looked at and said. `home` is the
    repository whose schemas and policies count, by default the same; `ref` leads to the base.
    Raises SpecError where the folder is no repository, and ToolError where `ref` is no commit.
    """
    home = home or root
    found = preflight.check_repository(root, home=home, jobs=jobs)
    told = causes.explain(found, home, ref=ref)
    return replace(found, findings=weigh_findings(root, told, found.specs.repository, in_specs(home), ref=ref))


def in_specs(home: Path) -> Find:
    """Return the finder of problems in specs, by the schemas and policies of the repository `home`."""
    return lambda root, _clusters: preflight.check_repository(root, home=home).findings


def weigh_findings(
    root: Path, findings: list[Finding], settings: Repository, find: Find, *, ref: str | None = None
) -> list[Finding]:
    """Return findings with the errors on frozen runs in their place; as they are where nothing is frozen.

    Where the base cannot be told, a warning says so. Raises ToolError where `ref` is no commit.
    """
    git = system_git.find(root)
    if git is None or not settings.live or not any(finding.is_error for finding in findings):
        return findings
    try:
        base = base_of(git, ref, revision=settings.revision)
    except ToolError as error:
        if ref is not None:
            raise
        return [*findings, unproven_warning(f"cannot tell whether this change caused the errors: {error}")]
    return Frozen(root, git, from_git(git, base), find).sort(findings)


@dataclass(frozen=True)
class Frozen:
    """The runs of the base that this change leaves alone."""

    root: Path
    git: Git
    base: Snapshot
    find: Find
    asked_for: dict[str, frozenset[tuple[str, str]]] = field(default_factory=dict)
    """What the jobs of a file ask for across the lines of their team, of files that were asked about."""

    def sort(self, findings: Sequence[Finding]) -> list[Finding]:
        """Return the findings with the errors on frozen runs in their place.

        What stood at the base too is a warning. What did not is said of the run, at the file that changed.
        """
        about = [(finding, self.runs(finding) if finding.is_error else ()) for finding in findings]
        doubtful = [finding for finding, runs in about if runs and not self.stands(finding)]
        known = self.before(doubtful) if doubtful else frozenset()
        return [self.placed(finding, runs, known) if runs else finding for finding, runs in about]

    def runs(self, finding: Finding) -> Sequence[str]:
        """Return the names of the frozen runs that a finding is about: of a program's jobs, the one that it names."""
        file = finding.location.file
        if file in self.by_file:
            jobs = self.by_file[file]
            named = [job for job in jobs if finding.message.startswith(Source(file, job=job.job).prefix)]
            return [job.run for job in named or jobs]
        path = file.removeprefix(f"{GENERATED}/")
        folder = layout.run_of(path)
        if folder is None or path not in self.base.files:
            return ()
        data = files.read(self.root / file)
        same = data is not None and blob_id(data, self.base.algorithm) == self.base.files[path]
        return (folder.rpartition("/")[2],) if same else ()

    def stands(self, finding: Finding) -> bool:
        """Say whether a finding must have stood at the base.

        What is found of a job follows from its file, from the platform's, and from other files of its team.
        """
        team, _, _ = finding.location.file.rpartition("/")
        near = (is_shared(path) or path.startswith(f"{team}/") for path in self.changed_files)
        return finding.location.file.startswith(f"{JOBS}/") and not any(near)

    def placed(self, finding: Finding, runs: Sequence[str], known: Collection[Key]) -> Finding:
        """Return an error on frozen runs as it weighs in this change, given what is found at the base."""
        if self.was_edited(finding):
            return replace(finding, fix="run `trainyard synth` to restore the run, or retire the job")
        if self.stands(finding) or key(finding) in known:
            return replace(finding, severity=Severity.WARNING, frozen=True)
        if finding.cause is not None:
            return finding
        team, _, _ = finding.location.file.rpartition("/")
        causes = sorted(
            self.changed_files, key=lambda path: (not is_shared(path), not path.startswith(f"{team}/"), path)
        )
        if not causes:
            return finding
        what, _, _ = finding.message.partition("; ")  # what follows tells how to change the job, which is another way
        message = f"this change breaks {' and '.join(runs)}: {what}"
        fix = "retire the run first, or revert the change"
        place = finding.spec or finding.location
        cause = blamed_location((line for path in causes for line in self.lines(path)), what) or Location(
            causes[0], 1, 1
        )
        return replace(finding, message=message, location=cause, spec=place, fix=fix)

    def was_edited(self, finding: Finding) -> bool:
        """Say whether an object of a run crosses its team's lines, and no reviewed job would be rendered so."""
        path = finding.location.file.removeprefix(f"{GENERATED}/")
        folder = layout.run_of(path)
        if folder is None or path == finding.location.file or finding.rule not in LINES:
            return False
        cluster, name = folder.partition("/")[0], folder.rpartition("/")[2]
        team = layout.job_of_run(folder)[0]
        owners = (
            self.file_of(cluster, team, key[2], entry)
            for key, entry in self.base.active.items()
            if key[:2] == (cluster, team) and entry.name == name
        )
        is_asked_for = any((finding.rule, finding.message) in self.across_lines(file) for file in owners)
        return not (is_asked_for and self.is_reviewed)

    @cached_property
    def is_reviewed(self) -> bool:
        """Whether the base is on the default branch, so that somebody has seen what its jobs ask for."""
        try:
            _, tip = default_branch(self.git, BRANCHES[0])
        except ToolError:
            return False
        return self.git.is_ancestor(self.base.commit or "", tip)

    def across_lines(self, file: str) -> frozenset[tuple[str, str]]:
        """Return the findings on a file's jobs that cross the lines of their team, by rule and sentence."""
        if file not in self.asked_for:
            self.asked_for[file] = preflight.across_lines(self.root, file)
        return self.asked_for[file]

    def lines(self, path: str) -> Iterator[Change]:
        """Yield where a spec differs from the base."""
        before = next(iter(self.git.read([self.specs[path]])), None) if path in self.specs else None
        return changes(path, before, files.read(self.root / path))

    def before(self, findings: Iterable[Finding]) -> frozenset[Key]:
        """Return the keys of findings at the base, in the specs and in the trees of the clusters of the findings."""
        parts = (finding.location.file.split("/") for finding in findings)
        clusters = sorted({part[1] for part in parts if part[0] == GENERATED})
        commit = self.base.commit or ""
        with laid_out(self.git, self.specs) as root:
            for cluster in clusters:
                for path, data in contents(self.git, commit, f"{GENERATED}/{cluster}"):
                    files.write(root / path, data)
            return frozenset(map(key, self.find(root, clusters)))

    @cached_property
    def specs(self) -> Mapping[str, str]:
        """Every spec file at the base, with its content id."""
        return spec_files(self.git, self.base.commit or "")

    @cached_property
    def changed_files(self) -> frozenset[str]:
        """Spec files that are not as at the base."""
        now: dict[str, str] = {}
        for top in SPECS:
            listed = [top] if top == SETTINGS else [f"{top}/{file.path}" for file in files.walk(self.root / top)]
            read = ((path, files.read(self.root / path)) for path in listed)
            now |= {path: blob_id(data, self.base.algorithm) for path, data in read if data is not None}
        return frozenset(path for path in {*now, *self.specs} if now.get(path) != self.specs.get(path))

    @cached_property
    def by_file(self) -> Mapping[str, tuple[Wanted, ...]]:
        """The job files that are as at the base and have runs there, with those runs."""
        found: dict[str, tuple[Wanted, ...]] = {}
        for entry in self.standing:
            found[entry.location.file] = (*found.get(entry.location.file, ()), entry)
        return found

    def restore_jobs(self, jobs: Sequence[Wanted], findings: Iterable[Finding]) -> list[Wanted]:
        """Return the jobs, those with frozen findings as they are at the base, since they may not be readable now."""
        files = {finding.location.file for finding in findings if finding.frozen}
        held = [entry for entry in self.standing if entry.location.file in files]
        names = {(entry.team, entry.job) for entry in held}
        return [*(job for job in jobs if (job.team, job.job) not in names), *held]

    @cached_property
    def standing(self) -> list[Wanted]:
        """The runs of the base whose job files, small ones too, are unchanged, whatever is found in them now."""
        found: list[Wanted] = []
        for (cluster, team, job), past in self.base.ledgers.items():
            for entry in past:
                if entry.state != "active":
                    continue
                file = self.file_of(cluster, team, job, entry)
                if file in self.specs and not self.changed_files & {file, *self.small_files(file)}:
                    found.append(Wanted(cluster, team, job, entry.spec, False, 1, Location(file, 1, 1)))
        return found

    def file_of(self, cluster: str, team: str, job: str, entry: ledger.Entry) -> str:
        """Return the file that a run came from at the base."""
        file = job_file(team, job)
        if file in self.specs:
            return file
        entries = self.base.index(cluster, layout.run_folder(team, entry.name)).values()
        return next((one_entry.spec for one_entry in entries if one_entry.spec.endswith(".py")), file)

    def small_files(self, file: str) -> Iterator[str]:
        """Yield the small files that a job's file may name: of a program all that its team has beside jobs."""
        team = file.rpartition("/")[0]
        if file.endswith(".py"):
            beside = (path for path in self.changed_files if path.startswith(f"{team}/") and not path.endswith(".yaml"))
            yield from (path for path in beside if path == file or not self.is_program(path))
            return
        documents, _ = load(files.read(self.root / file) or b"", file=file)
        value = documents[0].value if documents else None
        named = value.get("files") if isinstance(value, dict) else None
        sources = (
            [one_file.get("source") for one_file in named if isinstance(one_file, dict)]
            if isinstance(named, list)
            else []
        )
        yield from (f"{team}/{source}" for source in sources if isinstance(source, str))

    def is_program(self, path: str) -> bool:
        """Whether a file at hand makes jobs itself, and is no other job's small file."""
        return path.endswith(".py") and b"def jobs(" in (files.read(self.root / path) or b"")


def is_shared(path: str) -> bool:
    """Say whether a spec file is no job's, so that it may change what is found of any job."""
    return not path.startswith(f"{JOBS}/")


def key(finding: Finding) -> Key:
    """Return the key by which two findings are the same, in whatever line they stand.

    At one field a rule says one thing, whatever other names or amounts its sentence has by now; of a program's jobs
    the sentence tells which one it is about.
    """
    said = finding.message if finding.path is None else prefix_of(finding.message)
    return finding.rule, finding.location.file, finding.path, said
