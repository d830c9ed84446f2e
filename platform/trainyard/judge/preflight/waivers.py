"""What people accept, with a reason, in the file that a finding is about or that an object is rendered from."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from trainyard.base import catalogue
from trainyard.base.findings import Finding, Layer, Severity, did_you_mean
from trainyard.base.limits import GUESSES
from trainyard.base.rules import Rule, may_accept
from trainyard.base.system import files, reads
from trainyard.base.system.data import policy_files
from trainyard.base.system.repository import CLUSTERS, EXTRA, GENERATED, JOBS, SETTINGS, TEAMS
from trainyard.specs.load import Loaded
from trainyard.specs.reading.layout import Place
from trainyard.specs.reading.python_jobs import may_make
from trainyard.specs.reading.rehearsals import copy_name
from trainyard.specs.sources import Source

WAIVE = Rule(
    id="spec/waive",
    title="A waiver names a waivable rule that has a finding here.",
    why="an unused waiver hides the next mistake of its kind",
    fix="remove the waiver, or name the rule of the finding that you accept",
    source="docs/jobs.md",
    may_warn=True,
)

BEFORE: frozenset[Layer] = frozenset({"spec", "run", "pairing", "values", "queueing", "node"})
"""Layers whose rules look at specs, before anything is rendered."""

OTHERS = (f"{JOBS}/", f"{CLUSTERS}/", f"{TEAMS}/", f"{EXTRA}/")
"""Where specs are that waive for themselves; the repository's settings waive for what is left."""

RULE = attrgetter("rule")

Job = tuple[str, str]
"""A job's team and name."""

Key = tuple[str, str, Job | None]
"""What tells one waiver from another: rule, file, and the job, of which a program makes many."""


@dataclass(frozen=True)
class Waiver:
    """One reason not to mend what a rule finds."""

    rule: str
    source: Source
    cluster: str | None = None
    """The cluster on which it counts; None: all."""
    job: Job | None = None
    """Whose waiver it is, if a job's."""
    program: Place | None = None
    """The program that may give it to its jobs, where that was not run."""
    copied: bool = False
    """Whether it is that of a job's copy on a rehearsal, which has what the job needs."""

    @property
    def key(self) -> Key:
        """What tells it from others."""
        return self.rule, self.written, self.job

    @cached_property
    def written(self) -> str:
        """The file in which it is written: of a cluster with a base that may be the base's."""
        if self.job is not None or self.cluster is None:
            return self.source.file
        return self.source.location(("waive", self.rule), key=True).file

    def is_about(self, finding: Finding, job: Job | None) -> bool:
        """Say whether it is written where the finding comes from; `job` is that of a generated object, if it is one's.

        Of a program's many jobs, the message names the one that a finding is about. What is about no other spec, as
        the tree as a whole, is the repository's.
        """
        file = finding.location.file
        rendered = file.startswith(f"{GENERATED}/")
        if self.program is not None:
            return job is not None and may_make(self.program, *job) if rendered else file == self.source.file
        if self.job is not None:
            named = file == self.source.file and finding.message.startswith(self.source.prefix)
            return job == self.job if rendered else named
        origin = finding.spec.file if rendered and finding.spec else file
        own = self.cluster is not None and origin.startswith(f"{EXTRA}/{self.cluster}/")
        loose = self.source.file == SETTINGS and not origin.startswith(OTHERS)
        return job is None and (own or loose or origin in {self.source.file, self.written})

    def waits(self, rule: Rule) -> bool:
        """Say whether it may be for what only a synth finds in the tree at hand."""
        return rule.layer == "run" and self.source.file == SETTINGS

    def at(self, message: str, severity: Severity = Severity.ERROR) -> Finding:
        """Return a finding about the waiver, where it is written."""
        return WAIVE.at(self.source, ("waive", self.rule), message, key=True, severity=severity)


@dataclass
class Waivers:
    """The waivers of a repository, and what came of them."""

    waivers: tuple[Waiver, ...] = ()
    root: Path | None = None
    """The repository whose policies count as rules, beside Trainyard's own."""
    own: Mapping[str, Rule] = field(default_factory=dict)
    """Admission policies among the repository's own objects, by name."""
    used: set[Key] = field(default_factory=set)
    refused: set[Key] = field(default_factory=set)
    """Those that would silence an error."""
    known: dict[str, Rule | None] = field(default_factory=dict)
    """Rules by the ids that were asked about."""
    own_reads: reads.Reads = field(default_factory=dict)
    """What `own` was read from."""

    @classmethod
    def of(cls, loaded: Loaded, closed: Collection[str] = ()) -> Waivers:
        """Return the waivers of all specs that could be read, of broken jobs too, but not those in `closed` files."""
        with reads.apart():  # a waiver counts in its own file, which is read by whoever looks at that
            waivers = tuple(waiver for waiver in list_waivers(loaded) if waiver.source.file not in closed)
        with reads.apart() as seen:
            own = [extra_file.source.document.value for extra_file in loaded.specs.extra if extra_file.source.document]
        rules = {rule.id: rule for rule in map(foreign, own) if rule}
        return cls(waivers, loaded.root, rules, own_reads=seen.everything if seen else {})

    def rule(self, id_: str) -> Rule | None:
        """Return the rule that a waiver names, None where there is none."""
        if id_ not in self.known:
            rule = catalogue.rule_of(id_, self.policies, self.root)
            self.known[id_] = self.own_rule(id_) if rule is None else rule
        return self.known[id_]

    def own_rule(self, id_: str) -> Rule | None:
        """Return the rule that an object of the repository's own is, which the files of its waivers follow from."""
        with reads.about(*(waiver.source.file for waiver in self.by_rule.get(id_, ()))):
            reads.replay(self.own_reads)
        return self.own.get(id_)

    @cached_property
    def policies(self) -> list[Path]:
        """The files of all policies, looked for once."""
        return policy_files(self.root)

    @cached_property
    def ids(self) -> list[str]:
        """The ids of every rule there is; finding all of them takes long, and few waivers are misspelt."""
        return [*self.own, *catalogue.entries(self.root)]

    @cached_property
    def by_rule(self) -> Mapping[str, tuple[Waiver, ...]]:
        """The waivers of each rule."""
        found: dict[str, tuple[Waiver, ...]] = {}
        for rule, some in groupby(sorted(self.waivers, key=RULE), key=RULE):
            found[rule] = tuple(some)
        return found

    def left(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return the findings that no waiver covers."""
        return [finding for finding in findings if not self.covers(finding)]

    def covers(self, finding: Finding, job: Job | None = None) -> bool:
        """Say whether a finding is waived; `job` is that of the generated object that it is about."""
        for waiver in self.by_rule.get(finding.rule, ()):
            if waiver.is_about(finding, job):
                rule = self.rule(finding.rule)
                if may_accept(rule, finding):
                    self.used.add(waiver.key)
                    return True
                self.refused.add(waiver.key)
        return False

    def wrong(self) -> Iterator[Finding]:
        """Yield a finding for every waiver of a rule that does not exist or that cannot be waived."""
        guessed: Counter[str] = Counter()
        for waiver in self.waivers:
            rule = self.rule(waiver.rule)
            if waiver.program is not None:
                continue
            if rule is None:
                guessed[waiver.source.file] += 1
                near = guessed[waiver.source.file] <= GUESSES and did_you_mean(waiver.rule, self.ids)
                yield waiver.at(f"rule {waiver.rule!r} does not exist; {near or 'list them by `trainyard rule`'}")
            elif not rule.waivable:
                yield waiver.at(f"rule {waiver.rule!r} is an error, which cannot be waived; {rule.fix}")

    def unneeded(self, *, before: bool, seen: Callable[[Waiver], bool] = lambda _: True) -> Iterator[Finding]:
        """Yield a finding for every waiver of which nothing came, once all rules were tried that it may be for.

        `before` chooses the rules that look at specs, or else those that look at objects, and `seen` the waivers
        whose objects were looked at. What `synth` says of the tree at hand is not waited for.
        """
        for waiver in sorted(self.waivers, key=lambda waiver: waiver.rule == WAIVE.id):
            rule = self.rule(waiver.rule)
            if rule is None or not rule.waivable or (rule.layer in BEFORE) != before or waiver.waits(rule):
                continue
            if waiver.key in self.used or waiver.program is not None or not seen(waiver):
                continue
            if waiver.copied or waiver.written != waiver.source.file:  # whoever wrote it needs it elsewhere
                continue
            if waiver.key in self.refused:
                yield waiver.at(f"rule {waiver.rule!r} has an error here, which cannot be waived; {rule.fix}")
            else:
                message = f"rule {waiver.rule!r} is waived but has no finding here; remove the waiver"
                found = waiver.at(message, Severity.WARNING)
                yield from [] if self.covers(found, waiver.job) else [found]


def list_waivers(loaded: Loaded) -> Iterator[Waiver]:
    """Yield every waiver; retired jobs are left in peace."""
    specs = loaded.specs
    files_of_jobs = (*specs.jobs, *loaded.rest)
    copies = {(file.team, copy_name(file.name)) for file in files_of_jobs if file.job.rehearse is not None}
    for file in files_of_jobs:
        if not file.job.retired:
            job = file.team, file.name
            copied = job in copies
            yield from (Waiver(rule, file.source, file.job.cluster, job, copied=copied) for rule in file.job.waive)
    for name, cluster in specs.clusters.items():
        yield from (Waiver(rule, specs.sources[f"cluster/{name}"], name) for rule in cluster.waive)
    for name, team in specs.teams.items():
        yield from (Waiver(rule, specs.sources[f"team/{name}"]) for rule in team.waive)
    if "repository" in specs.sources:
        yield from (Waiver(rule, specs.sources["repository"]) for rule in specs.repository.waive)
    yield from written_waivers(loaded)


def written_waivers(loaded: Loaded) -> Iterator[Waiver]:
    """Yield the waivers that the words of programs may mean which were not run: of whatever they name as text."""
    for place in loaded.idle:
        try:
            tree = ast.parse(files.read(loaded.root / place.path) or b"")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        nodes = list(ast.walk(tree))
        words = {node.arg for node in nodes if isinstance(node, ast.keyword)}
        texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
        if "waive" in words | texts:
            yield from (Waiver(text, Source(place.path), program=place) for text in sorted(texts))


def foreign(value: Any) -> Rule | None:
    """Return the rule that an admission policy among one's own objects is, None of anything else."""
    if not isinstance(value, dict) or value.get("kind") != "ValidatingAdmissionPolicy":
        return None
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str):
        return None
    return Rule(name, name, "the policy says so", "mend the object", "the policy", "policy", may_warn=True)
