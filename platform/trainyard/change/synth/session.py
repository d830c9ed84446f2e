"""What the command `synth` does, up to the point of writing: read, weigh, decide, render what is new, compare."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from trainyard.base.errors import ToolError
from trainyard.base.findings import Finding
from trainyard.base.memory import World
from trainyard.base.system.git import Git
from trainyard.base.system.unforeseen import judge_safely
from trainyard.change.synth import finish, partial, weigh
from trainyard.change.synth.facts import Facts, FactStore
from trainyard.change.synth.incremental import Synthesis, render
from trainyard.change.synth.partial import Judged
from trainyard.change.synth.reading import Reading, read
from trainyard.change.synth.start import begin
from trainyard.change.synth.weigh import Decided, Request, Weighed, has_errors
from trainyard.change.synth.write import Tree
from trainyard.render.tree import claims
from trainyard.render.tree.commit import base_commit
from trainyard.render.tree.disk import Disk
from trainyard.render.tree.snapshot import Snapshot
from trainyard.specs.sources import Printed, Specs

DONE = "HEAD was compared with its first parent; revert it, or name an earlier commit with --base REF"
"""What helps where a finding is on a commit that the default branch has already."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything there is to say, and the work where it can be done."""

    findings: tuple[Finding, ...]
    store: FactStore
    facts: Facts
    """What is known from now on."""
    disk: Disk
    work: finish.Work | None = None
    specs: Specs | None = None
    """The specs that were read, which lack the jobs about which enough was remembered; None where they are refused."""
    world: World = field(default_factory=World)
    """What everything that may be read was when the synth began."""
    printed: tuple[Printed, ...] = ()
    """What programs that make jobs print; of those that were not run again, what they printed."""
    judged: Judged | None = None
    """What was found in specs, and the tree whose objects can be judged; None where there is no such tree."""

    @property
    def refused(self) -> bool:
        """Whether an error stands, so that nothing may be written."""
        return has_errors(self.findings)

    @property
    def tree(self) -> Tree | None:
        """What `generated/` should be; None where the specs, or what is at the base, forbid to say so."""
        return None if self.work is None or has_errors(self.work.decision.findings) else self.work.tree

    def save(self) -> None:
        """Keep what was found out for the next run; call it when everything is written."""
        self.store.save(self.facts)
        self.disk.save()


def run(
    root: Path,
    version: str,
    *,
    ref: str | None = None,
    checking: bool = False,
    automated: bool = False,
    looking: bool = False,
) -> Outcome:
    """Work out what to write below `root`.

    1. Read the specs, of jobs only those about which nothing is remembered, and check them.
    2. Find the base. Where specs are wrong, see whose fault that is: what a frozen run had there is only a warning.
    3. Decide which runs are new, which are frozen and which have ended.
    4. Render what is new, and what is not on disk as it is remembered; put the tree together.
    5. Compare it with the disk.

    With an error in specs the same is done without what that concerns, so that the rest can be judged.

    `automated` says that nobody watches, as in continuous integration, where a checkout may lack the branches that
    tell the base: then a live repository has to be given one. `looking` says that nobody writes the files,
    so that runs are rendered without Node. Raises ToolError where the base cannot be told.
    """
    request = Request(version, ref, checking, automated, looking)
    start = begin(root)
    reading = read(start)
    based = weigh.against_base(reading, request)
    weighed = weigh.weigh(based, ref)
    base = weighed.based.base
    if base is None or weighed.without.everything:
        return refusal(weighed)
    made = attempt(weighed, base, request) if weighed.refused else make(weighed, base, request)
    if made is None and weighed.without.own:
        weighed = weigh.widened(weighed)
        made = attempt(weighed, base, request)
    return refusal(weighed) if made is None else compared(*made, request)


def make(weighed: Weighed, base: Snapshot, request: Request) -> tuple[Decided, Synthesis]:
    """Decide what becomes of every run, and render."""
    decided = weigh.decide(weighed, base)
    return decided, render(decided, looking=request.looking)


def attempt(weighed: Weighed, base: Snapshot, request: Request) -> tuple[Decided, Synthesis] | None:
    """Do the same for specs with errors, which are what has to be said; None where the rest cannot be rendered here."""
    with suppress(ToolError):
        return judge_safely(lambda: make(weighed, base, request), lambda _: None)
    return None


def refusal(weighed: Weighed) -> Outcome:
    """Return the outcome for specs of which nothing can be rendered: findings alone."""
    reading = weighed.based.reading
    store = reading.start.facts
    facts = Facts(reading.facts(), store.facts.clusters)
    return Outcome(weighed.findings, store, facts, reading.start.disk, printed=reading.printed())


def compared(decided: Decided, made: Synthesis, request: Request) -> Outcome:
    """Return the outcome for a rendered tree: findings, and how the files on disk differ."""
    reading, tree, start = decided.reading, made.tree, decided.reading.start
    judged = partial.judged(decided, made)
    ids = {path: oid for path, oid in tree.ids.items() if path not in judged.context}
    taken = claims.check(decided.base, ids, tree.contents, reading.specs.clusters, decided.terms.locate)
    notes = [*decided.notes, *taken]
    work = finish.finish(start.disk, tree, made.decision, notes=notes, checking=request.checking, git=start.git)
    found = partial.without_consequences(decided, made, unwaived(reading, work, request))
    return Outcome(
        (*decided.findings, *found),
        start.facts,
        made.facts,
        start.disk,
        None if decided.refused else work,
        reading.specs,
        start.world,
        reading.printed(),
        judged,
    )


def unwaived(reading: Reading, work: finish.Work, request: Request) -> list[Finding]:
    """Return the findings on a tree that nobody waives; on a commit that is merged already they say what helps."""
    found = reading.checked.waivers.left(work.findings)
    git, base, revision = reading.start.git, work.tree.base.commit, reading.specs.repository.revision
    if work.refused and git is not None and base and request.ref is None and is_done(git, base, revision):
        return [replace(finding, fix=finding.fix or DONE) for finding in found]
    return found


def is_done(git: Git, base: str, revision: str) -> bool:
    """Say whether what was judged is the last commit of the default branch, which a synth would not look at again."""
    return base != git.head() == base_commit(git, revision=revision, writing=True)
