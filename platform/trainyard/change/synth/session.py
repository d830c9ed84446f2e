"""What the command `synth` does, up to the point of writing: read, decide, render what is new, compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from trainyard.base import memory as remembering
from trainyard.base.errors import ToolError
from trainyard.base.findings import Finding
from trainyard.base.memory import CODE, World
from trainyard.base.system import cache, files, reads
from trainyard.base.system import git as system_git
from trainyard.base.system.git import Git, blob_id
from trainyard.base.system.repository import CLUSTERS, EXTRA, GENERATED, JOBS, SETTINGS, TEAMS
from trainyard.base.system.trust import SCHEMAS
from trainyard.change.synth import assemble, finish, idle, repository
from trainyard.change.synth.facts import Memory
from trainyard.change.synth.incremental import render
from trainyard.change.synth.reading import read
from trainyard.change.synth.render.processes import Show, make_ready
from trainyard.change.synth.write import Tree
from trainyard.judge.frozen import Frozen, in_specs
from trainyard.render.tree import claims
from trainyard.render.tree.base import find_base
from trainyard.render.tree.commit import ASK, base_commit
from trainyard.render.tree.disk import CACHE, Disk
from trainyard.render.tree.origins import at_field
from trainyard.render.tree.programs import as_at_base
from trainyard.specs.reading.rules import RULES
from trainyard.specs.sources import Printed, Specs

DONE = "HEAD was compared with its first parent; revert it, or name an earlier commit with --base REF"
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
    world: World = field(default_factory=World)
    """What everything that may be read was when the synth began."""
    printed: tuple[Printed, ...] = ()
    """What programs that make jobs print; of those that were not run again, what they printed."""

    @property
    def refused(self) -> bool:
        """Whether an error stands, so that nothing may be written."""
        return any(finding.is_error for finding in self.findings)

    @property
    def tree(self) -> Tree | None:
        """What `generated/` should be; None where the specs, or what is at the base, forbid to say so."""
        return None if self.work is None or has_errors(self.work.decision.findings) else self.work.tree

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
    world, specs = world_of(disk), spec_ids(disk)
    memory = Memory.load(store, root, specs, world)
    with reads.recording(world) as record:
        reads.ask(CODE, "")
        reading = read(disk, record, memory)
    memory.jobs = reading.facts()
    terms, jobs, findings = repository.terms(reading.specs, version), reading.jobs(), reading.findings
    if has_errors(findings) and (git is None or not terms.live):
        return Outcome(tuple(findings), memory, disk, printed=reading.printed())
    if automated and terms.live and ref is None:
        raise ToolError(ASK)
    make_ready(reading.weight)
    known = remembering.Memory(store, world)
    revision = reading.specs.repository.revision
    base, notes = find_base(git, disk, known, live=terms.live, ref=ref, revision=revision, writing=not checking)
    if has_errors(findings) and git is not None:
        frozen = Frozen(root, git, base, in_specs(root))
        findings = frozen.sort(findings)
        jobs = frozen.restore_jobs(jobs, findings)
    if has_errors(findings):
        return Outcome(tuple(findings), memory, disk, printed=reading.printed())
    if git is not None and terms.live:
        small, unsteady = reading.small(), [finding.location.file for finding in findings if finding.rule == UNSTEADY]
        jobs = as_at_base(jobs, base, git, specs, small, unsteady)
        jobs = idle.with_ended(jobs, reading.known, base, disk)
    notes += idle.unrun_programs(reading.known, specs, base, git)
    decision = assemble.decide(jobs, base, terms)
    decision.findings = [at_field(root, finding) for finding in decision.findings]
    with reads.resumed(record):
        tree = render(reading, decision, base, terms, disk=disk, memory=memory, show=show)
    notes += claims.check(base, tree.ids, tree.contents, reading.specs.clusters, terms.locate)
    done = finish.finish(disk, tree, decision, notes=notes, checking=checking, git=git)
    found = tuple(reading.waivers.left(done.findings))
    if done.refused and git is not None and base.commit and ref is None and is_done(git, base.commit, revision):
        found = tuple(replace(finding, fix=finding.fix or DONE) for finding in found)
    return Outcome((*findings, *found), memory, disk, done, reading.specs, world, reading.printed())


def is_done(git: Git, base: str, revision: str) -> bool:
    """Say whether what was judged is the last commit of the default branch, which a synth would not look at again."""
    return base != git.head() == base_commit(git, revision=revision, writing=True)


def has_errors(findings: Sequence[Finding]) -> bool:
    """Say whether an error is among the findings."""
    return any(finding.is_error for finding in findings)


def world_of(disk: Disk) -> World:
    """Return the world that tells whether specs are as they were, of whose files the disk knows the contents."""
    folders = {reads.absolute(disk.root / top): top for top in (JOBS, CLUSTERS, TEAMS, EXTRA)}

    def place(path: str) -> tuple[str, str] | None:
        found = next((folder for folder in folders if f"{path}/".startswith(f"{folder}/")), None)
        return (folders[found], path[len(found) + 1 :]) if found else None

    def known_file(path: str) -> str | None:
        there = place(path)
        return None if there is None else disk.scan(there[0]).get(there[1]) or reads.ABSENT

    def known_names(folder: str) -> str | None:
        there = place(folder)
        if there is None:
            return None
        within = f"{there[1]}/" if there[1] else ""
        names = (found.path for found in disk.walk(there[0]))
        return reads.names_digest([name.removeprefix(within) for name in names if name.startswith(within)])

    def known_folder(folder: Path) -> Mapping[str, str | None] | None:
        return disk.scan(SCHEMAS) if folder == (disk.root / SCHEMAS).resolve() else None

    return World(disk.algorithm, known_file, known_names, known_folder)


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
