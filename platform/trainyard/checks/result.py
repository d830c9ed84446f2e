"""What checking comes to: a verdict for every object, findings, and what was skipped and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from trainyard.findings import Finding, ObjectRef

Verdict = Literal["valid", "invalid", "unknown"]


@dataclass(frozen=True, slots=True)
class Judged:
    """One object and what the API server would say of it; `update` is set where the object before is known."""

    file: str
    document: int
    object: ObjectRef
    verdict: Verdict
    update: Literal["in place", "replace", "refused"] | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A rule that could not run, and what it lacked."""

    rule: str
    why: str


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

    def extend(self, other: Result) -> None:
        """Take over what another part of the run found."""
        self.objects += other.objects
        self.findings += other.findings
        self.skipped += [each for each in other.skipped if each not in self.skipped]
        self.notes += [each for each in other.notes if each not in self.notes]

    def add(self, findings: Iterable[Finding]) -> None:
        """Take findings."""
        self.findings += findings

    def say_once(self) -> None:
        """Drop what two layers say alike of one line."""
        self.findings = list({(each.location, each.rule, each.message): each for each in self.findings}.values())

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(finding.is_error for finding in self.findings)

    @property
    def warnings(self) -> int:
        """How many findings are warnings."""
        return len(self.findings) - self.errors

    def summary(self) -> dict[str, int]:
        """Return the counts that open every report."""
        counts = dict.fromkeys(("valid", "invalid", "unknown"), 0)
        for judged in self.objects:
            counts[judged.verdict] += 1
        return {"objects": len(self.objects), **counts, "errors": self.errors, "warnings": self.warnings}

    def exit_code(self, *, strict: bool = False) -> int:
        """Return 1 where something has to be mended, else 0."""
        return int(self.errors > 0 or (strict and self.warnings > 0))
