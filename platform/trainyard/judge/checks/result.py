"""What checking comes to: a verdict for every object, findings, and what was skipped and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from trainyard.base.credentials import hide, hides
from trainyard.base.findings import Finding, Location, ObjectRef, Skipped, arrange
from trainyard.base.system.repository import GENERATED

if TYPE_CHECKING:
    from trainyard.judge.preflight.waivers import Key

Verdict = Literal["valid", "invalid", "unknown"]
Update = Literal["in place", "replace", "refused"]
ChangeWord = Literal["in place", "replace", "refused", "added", "removed"]
Way = Literal["comment", "settings", "option", "baseline"]
"""How somebody ignores a finding."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One object and what the API server would say of it; `update` is set where the object before is known."""

    file: str
    document: int
    object: ObjectRef
    verdict: Verdict
    update: Update | None = None
    line: int | None = field(default=None, compare=False)
    """Where the document begins in its file."""


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one object, compared with the one before; a removed one is named as it was."""

    word: ChangeWord
    file: str
    document: int
    object: ObjectRef
    fields: tuple[str, ...] = ()
    """Fields that change, `spec.parallelism: 2 -> 1`; the first few."""
    more: int = 0
    """How many other fields change."""
    why: str | None = None
    """Why it is not simply taken in place, or what goes with it."""
    before: str | None = None
    """Name of the object that a replacement of another name follows."""

    @property
    def update(self) -> Update | None:
        """The word where the object is the update of another, None where it is new or gone."""
        return None if self.word == "added" or self.word == "removed" else self.word

    @property
    def changed(self) -> bool:
        """Whether anything differs at all."""
        return self.word != "in place" or bool(self.fields)


@dataclass(frozen=True, slots=True)
class Ignored:
    """A finding that somebody ignores: how, in which place, and for what reason."""

    finding: Finding
    way: Way
    where: Location | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Unrendered:
    """A folder from which a program makes objects: they are judged once it has."""

    tool: Literal["helm", "kustomize"]
    folder: str

    @property
    def command(self) -> str:
        """How they are made and judged."""
        verb = "template" if self.tool == "helm" else "build"
        return f"{self.tool} {verb} {self.folder} | trainyard validate -"


@dataclass(frozen=True, slots=True)
class Other:
    """A file, or a part of one, that is no manifest, and what it was taken for."""

    file: str
    what: str


@dataclass(slots=True)
class Outcome:
    """What admission policies found, and what that makes of the verdicts on objects."""

    findings: list[Finding] = field(default_factory=list)
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    """By the identity (`id`) of the manifest, where a policy refuses the object or cannot be decided."""


@dataclass(slots=True)
class Result:
    """Everything that one run of the checks found."""

    objects: list[Judged] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Sentences for the reader, such as the releases that were assumed."""
    changes: list[Change] | None = None
    """What becomes of each object, where those before are known."""
    waived: set[Key] = field(default_factory=set)
    """The waivers that something came of."""
    refused: set[Key] = field(default_factory=set)
    """The waivers that would silence an error."""
    values: set[str] = field(default_factory=set, repr=False)
    """Credentials in the objects, which nothing that was found may show."""
    passed: Counter[str] = field(default_factory=Counter)
    """What was left out because it is no object, or nobody means it: so many of `patch of a kustomization`."""
    unrendered: list[Unrendered] = field(default_factory=list)
    """Charts and kustomizations."""
    ignored: list[Ignored] = field(default_factory=list)
    """Findings that fail nothing, since somebody ignores them."""
    read: set[str] = field(default_factory=set)
    """Files that were named, or found in folders, whatever they hold."""
    others: list[Other] = field(default_factory=list)
    """Files that are no manifests, each once for everything that it was taken for."""
    hindering: frozenset[str] = frozenset()
    """Files whose errors keep what was named from being rendered."""

    def extend(self, other: Result) -> None:
        """Take over what another part of the run found."""
        self.objects += other.objects
        self.findings += other.findings
        self.skipped += [skipped_check for skipped_check in other.skipped if skipped_check not in self.skipped]
        self.notes += [note for note in other.notes if note not in self.notes]
        self.waived |= other.waived
        self.refused |= other.refused
        self.values |= other.values
        self.passed += other.passed
        self.ignored += other.ignored
        self.read |= other.read
        self.hindering |= other.hindering
        self.others += other.others
        self.unrendered += [item for item in other.unrendered if item not in self.unrendered]
        if other.changes is not None:
            self.changes = [*(self.changes or ()), *other.changes]

    def add(self, findings: Iterable[Finding]) -> None:
        """Take findings."""
        self.findings += findings

    def hide(self) -> None:
        """Take the credentials out of everything that was found: those of objects, and of texts that are none."""
        self.findings = [self.hidden(finding) for finding in self.findings]
        self.objects = [replace(item, object=nameless(item.object)) for item in self.objects]
        if self.changes is not None:
            self.changes = [self.hide_in_change(change) for change in self.changes]

    def hide_in_change(self, change: Change) -> Change:
        """Return a change that shows no credential, neither of those before nor of those now."""
        fields = tuple(hide(one_field, self.values) for one_field in change.fields)
        why, before = (text and hides(hide(text, self.values)) for text in (change.why, change.before))
        return replace(change, object=nameless(change.object), fields=fields, why=why, before=before)

    def hidden(self, finding: Finding) -> Finding:
        """Return a finding that shows no credential."""
        if finding.layer == "decode":
            finding = replace(finding, message=hides(finding.message))
        if finding.object is not None:
            finding = replace(finding, object=nameless(finding.object))
        if not self.values:
            return finding
        fix, path = (text and hide(text, self.values) for text in (finding.fix, finding.path))
        return replace(finding, message=hide(finding.message, self.values), fix=fix, path=path)

    def say_once(self) -> None:
        """Drop what two layers say alike of one line."""
        self.findings = list(
            {(finding.location, finding.rule, finding.message): finding for finding in self.findings}.values()
        )

    @property
    def errors(self) -> int:
        """How many findings are errors that follow from no other finding."""
        return sum(finding.is_error for finding, _ in arrange(self.findings))

    @property
    def warnings(self) -> int:
        """How many findings are warnings that follow from no other finding."""
        return len(arrange(self.findings)) - self.errors

    @property
    def following(self) -> int:
        """How many findings follow from another one."""
        return len(self.findings) - len(arrange(self.findings))

    def summary(self) -> dict[str, int]:
        """Return the counts that open every report."""
        counts = dict.fromkeys(("valid", "invalid", "unknown"), 0)
        for judged in self.objects:
            counts[judged.verdict] += 1
        return {
            "objects": len(self.objects),
            **counts,
            "errors": self.errors,
            "warnings": self.warnings,
            "following": self.following,
        }

    def exit_code(self, *, strict: bool = False) -> int:
        """Return 1 where something has to be mended, else 0."""
        return int(self.errors > 0 or (strict and self.warnings > 0))


def place(finding: Finding) -> Location:
    """Return the place that a person edits: of what is generated, the line of the spec."""
    return finding.spec if finding.spec and GENERATED in finding.location.file.split("/") else finding.location


def nameless(ref: ObjectRef) -> ObjectRef:
    """Return which object is meant, without a key where its name has one."""
    name, namespace = hides(ref.name), ref.namespace and hides(ref.namespace)
    return ref if (name, namespace) == (ref.name, ref.namespace) else replace(ref, name=name, namespace=namespace)
