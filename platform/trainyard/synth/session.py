"""What the command `synth` does, up to the point of writing: read, decide, render what is new, compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trainyard.errors import ToolError
from trainyard.findings import Finding
from trainyard.specs.reading.rules import RULES
from trainyard.specs.sources import Printed, Specs
from trainyard.synth import assemble, finish, idle, repository
from trainyard.synth.facts import Keys, Memory, code_key
from trainyard.synth.incremental import render
from trainyard.synth.reading import read
from trainyard.synth.render.processes import Show, make_ready
from trainyard.synth.write import Tree
from trainyard.system import cache, files
from trainyard.system import git as system_git
from trainyard.system.data import schemas_dir
from trainyard.system.git import Git, blob_id
from trainyard.system.repository import CLUSTERS, EXTRA, GENERATED, JOBS, SETTINGS, TEAMS
from trainyard.system.trust import SCHEMAS
from trainyard.tree import claims
from trainyard.tree.base import find_base
from trainyard.tree.commit import ASK, base_commit
from trainyard.tree.disk import CACHE, Disk
from trainyard.tree.frozen import Frozen, in_specs
from trainyard.tree.origins import at_field
from trainyard.tree.programs import as_at_base

DONE = "HEAD is judged against its first parent; revert it, or if it came with others say what was before: --base REF"
"""What helps where a finding is on a commit that the default branch has already."""

UNSTEADY = RULES["python-same"].id


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything there is to say, and the work where it can be done."""

    findings: tuple[Finding, ...]
    memory: Memory
    disk: Disk
    work: finish.Work | None = None
    specs: Specs | None = None
    """The specs that were read, which lack the jobs about which enough was remembered; None where they are refused."""
    code: str = ""
    """A key of the code that rendered and checked."""
    printed: tuple[Printed, ...] = ()
    """What programs that make jobs print; of those that were not run again, what they printed."""

    @property
    def refused(self) -> bool:
        """Whether an error stands, so that nothing may be written."""
        return any(finding.is_error for finding in self.findings)

    @property
    def tree(self) -> Tree | None:
        """What `generated/` should be; None where the specs, or what is at the base, forbid to say so."""
        return None if self.work is None or refused(self.work.decision.findings) else self.work.tree

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

    1. Read the specs, of jobs only those about which nothing is remembered, and check them.
    2. Find the base. Where specs are wrong, see whose fault that is: what a frozen run had there is only a warning.
    3. Decide which runs are new, which are frozen and which have ended.
    4. Render what is new, and what is not on disk as it is remembered; put the tree together.
    5. Compare it with the disk.

    `automated` says that nobody watches, as in continuous integration, where a checkout may lack the branches that
    tell the base: then a live repository has to be given one. Raises ToolError where the base cannot be told.
    """
    git = system_git.find(root)
    store = cache.private(CACHE, outside=root)
    disk = Disk(root, store, git.algorithm if git else "sha1")
    disk.begin(GENERATED)
    keys = Keys(code_key(root, version, api_types(disk)), spec_ids(disk))
    memory = Memory.load(store, root, keys.specs)
    reading = read(disk, keys, memory)
    memory.jobs = reading.facts()
    terms, jobs, findings = repository.terms(reading.specs, version), reading.jobs(), reading.findings
    if refused(findings) and (git is None or not terms.live):
        return Outcome(tuple(findings), memory, disk, printed=reading.printed())
    if automated and terms.live and ref is None:
        raise ToolError(ASK)
    make_ready(reading.weight)
    revision = reading.specs.repository.revision
    base, notes = find_base(git, disk, store, live=terms.live, ref=ref, revision=revision, writing=not checking)
    if refused(findings) and git is not None:
        frozen = Frozen(root, git, base, in_specs(root))
        findings = frozen.sort(findings)
        jobs = frozen.held(jobs, findings)
    if refused(findings):
        return Outcome(tuple(findings), memory, disk, printed=reading.printed())
    if git is not None and terms.live:
        small, unsteady = reading.small(), [each.location.file for each in findings if each.rule == UNSTEADY]
        jobs = as_at_base(jobs, base, git, keys.specs, small, unsteady)
        jobs = idle.with_ended(jobs, reading.known, base, disk)
    notes += idle.told(reading.known, keys.specs, base, git)
    decision = assemble.decide(jobs, base, terms)
    decision.findings = [at_field(root, finding) for finding in decision.findings]
    tree = render(reading, decision, base, terms, disk=disk, memory=memory, show=show)
    notes += claims.check(base, tree.ids, tree.contents, reading.specs.clusters, terms.locate)
    done = finish.finish(disk, tree, decision, notes=notes, checking=checking, git=git)
    found = tuple(reading.waivers.left(done.findings))
    if done.refused and git is not None and base.commit and ref is None and is_done(git, base.commit, revision):
        found = tuple(replace(each, fix=each.fix or DONE) for each in found)
    return Outcome((*findings, *found), memory, disk, done, reading.specs, keys.code, reading.printed())


def is_done(git: Git, base: str, revision: str) -> bool:
    """Say whether what was judged is the last commit of the default branch, which a synth would not look at again."""
    return base != git.head() == base_commit(git, revision=revision, writing=True)


def refused(findings: Sequence[Finding]) -> bool:
    """Say whether an error is among the findings."""
    return any(finding.is_error for finding in findings)


def api_types(disk: Disk) -> list[str]:
    """Return path and content id of each of the repository's own API types, whether its lock was edited or not."""
    if schemas_dir(disk.root) != (disk.root / SCHEMAS).resolve():
        return []
    return [part for path, oid in sorted(disk.scan(SCHEMAS).items()) for part in (path, oid or "")]


def spec_ids(disk: Disk) -> dict[str, str]:
    """Return the content id of every spec file, and of the small files beside jobs."""
    found = {
        f"{top}/{path}": oid
        for top in (JOBS, CLUSTERS, TEAMS, EXTRA)
        for path, oid in disk.scan(top).items()
        if oid is not None
    }
    settings = files.read(disk.root / SETTINGS)
    return found | ({SETTINGS: blob_id(settings)} if settings is not None else {})
