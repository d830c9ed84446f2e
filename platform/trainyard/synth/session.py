"""What the command `synth` does, up to the point of writing: read, decide, render what is new, compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trainyard import preflight
from trainyard.errors import ToolError
from trainyard.findings import Finding
from trainyard.specs.reading import layout
from trainyard.synth import repository, target, work
from trainyard.synth.base import ASK, base_commit
from trainyard.synth.disk import Disk
from trainyard.synth.incremental import render
from trainyard.synth.memory import Keys, Memory, code_key
from trainyard.synth.origins import at_field
from trainyard.synth.reading import read
from trainyard.synth.rendering import Show, make_ready
from trainyard.synth.snapshot import GENERATED
from trainyard.synth.standing import Standing
from trainyard.system import cache, files
from trainyard.system import git as system_git
from trainyard.system.git import Git, blob_id

CACHE = "synth"
"""Sort of the entries that say what is on disk, what was rendered, and what commits hold."""

DONE = "HEAD is judged against its first parent; revert it, or if it came with others say what was before: --base REF"
"""What helps where a finding is on a commit that the default branch has already."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything there is to say, and the work where it can be done."""

    findings: tuple[Finding, ...]
    memory: Memory
    disk: Disk
    work: work.Work | None = None

    @property
    def refused(self) -> bool:
        """Whether an error stands, so that nothing may be written."""
        return any(finding.is_error for finding in self.findings)

    def save(self) -> None:
        """Keep what was found out for the next run; call it when everything is written."""
        self.memory.save()
        self.disk.save()


def run(
    root: Path,
    version: str,
    *,
    ref: str | None = None,
    checking: bool = False,
    automated: bool = False,
    show: Show = lambda _: None,
) -> Outcome:
    """Work out what to write below `root`; `show` is told the share that is rendered.

    `automated` says that nobody watches, as in continuous integration, where a checkout may lack the branches that
    tell the base: then a live repository has to be given one. Raises ToolError where the base cannot be told.
    """
    git = system_git.find(root)
    store = cache.private(CACHE, outside=root)
    disk = Disk(root, store, git.algorithm if git else "sha1")
    disk.begin(GENERATED)
    keys = Keys(code_key(root, version), spec_ids(disk))
    memory = Memory.load(store, root, keys.specs)
    reading = read(disk, keys, memory)
    memory.jobs = reading.facts()
    terms, jobs, findings = repository.terms(reading.specs, version), reading.jobs(), reading.findings
    if refused(findings) and (git is None or not terms.live):
        return Outcome(tuple(findings), memory, disk)
    if automated and terms.live and ref is None:
        raise ToolError(ASK)
    make_ready(reading.weight)
    revision = reading.specs.repository.revision
    base, notes = work.find_base(git, disk, store, live=terms.live, ref=ref, revision=revision, writing=not checking)
    if refused(findings) and git is not None:
        standing = Standing(root, git, base, check)
        findings = standing.sort(findings)
        jobs = standing.held(jobs, findings)
    if refused(findings):
        return Outcome(tuple(findings), memory, disk)
    decision = target.decide(jobs, base, terms)
    decision.findings = [at_field(root, finding) for finding in decision.findings]
    tree = render(reading, decision, base, terms, disk=disk, memory=memory, show=show)
    done = work.finish(disk, tree, decision, notes=notes, checking=checking)
    found = done.findings
    if done.refused and git is not None and base.commit and ref is None and is_done(git, base.commit, revision):
        found = tuple(replace(each, fix=each.fix or DONE) for each in found)
    return Outcome((*findings, *found), memory, disk, done)


def is_done(git: Git, base: str, revision: str) -> bool:
    """Say whether what was judged is the last commit of the default branch, which a synth would not look at again."""
    return base != git.head() == base_commit(git, revision=revision, writing=True)


def refused(findings: Sequence[Finding]) -> bool:
    """Say whether an error is among the findings."""
    return any(finding.is_error for finding in findings)


def check(root: Path) -> list[Finding]:
    """Return everything that is found in the specs of a repository."""
    return preflight.check_repository(root).findings


def spec_ids(disk: Disk) -> dict[str, str]:
    """Return the content id of every spec file, and of the small files beside jobs."""
    found = {
        f"{top}/{path}": oid
        for top in (layout.JOBS, layout.CLUSTERS, layout.TEAMS, layout.EXTRA)
        for path, oid in disk.scan(top).items()
        if oid is not None
    }
    settings = files.read(disk.root / layout.REPOSITORY)
    return found | ({layout.REPOSITORY: blob_id(settings)} if settings is not None else {})
