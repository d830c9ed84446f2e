"""Objects that one file or folder says twice, and findings that one object has in several files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from trainyard.checks.result import Judged, Result
from trainyard.findings import Finding, Location, Severity
from trainyard.manifests import group_of
from trainyard.rules import Rule

RULE = Rule(
    id="decode/twice",
    title="A file or a folder says an object once.",
    why="all of it is applied, so the last one wins and the others are lost",
    fix="remove one of them, or give it another name",
    source="kubernetes/kubectl v0.35.4 pkg/cmd/apply/apply.go",
    layer="decode",
    severity=Severity.WARNING,
)

TWO = 2
"""So often a finding is said in full."""
MISSING = "required value"
"""How a finding begins that a field is not there."""


def check(objects: Iterable[Judged]) -> Iterator[Finding]:
    """Yield objects whose kind, namespace and name another has in the same file, and once for a folder those of others.

    Examples that are applied one at a time often lie in one folder: one sentence a folder tells of all of them.
    """
    seen: dict[tuple[str, ...], Judged] = {}
    shared: dict[str, list[tuple[Judged, Judged]]] = defaultdict(list)
    for each in objects:
        ref = each.object
        if not ref.name:
            continue
        folder = str(PurePosixPath(each.file).parent)
        key = (folder, group_of(ref.api_version), ref.kind, ref.namespace or "", ref.name)
        first = seen.setdefault(key, each)
        if first is each or is_linked(first.file, each.file):
            continue
        if first.file != each.file:
            shared[folder].append((first, each))
            continue
        at = f" on line {first.line}" if first.line else ""
        yield found(each, f"{ref.kind} {ref.name!r} is in this file{at}, too; the one applied last wins")
    for folder, pairs in shared.items():
        first, second = pairs[0]
        more = f", and so are {len(pairs) - 1} more objects of {folder}" if len(pairs) > 1 else ""
        name = f"{second.object.kind} {second.object.name!r}"
        yield found(second, f"{name} is in {PurePosixPath(first.file).name}, too{more}; the one applied last wins")


def found(each: Judged, message: str) -> Finding:
    """Return what is said of an object that is there a second time."""
    return replace(RULE.of(Location(each.file, each.line, None, each.document), message), object=each.object)


def is_linked(file: str, other: str) -> bool:
    """Whether two names are of one file."""
    return file != other and Path(file).resolve() == Path(other).resolve()


def weigh(result: Result, resources: frozenset[str]) -> None:
    """Take fields that a kustomization may add, to objects of which it is made, for unknown: their build is judged."""
    if not resources:
        return
    weighed = [lighter(each) if is_incomplete(each, resources) else each for each in result.findings]
    left = {(each.location.file, each.location.document) for each in weighed if each.is_error}
    softened = {
        (each.location.file, each.location.document) for each in result.findings if is_incomplete(each, resources)
    }
    result.findings = weighed
    result.objects = [
        replace(each, verdict="unknown")
        if each.verdict == "invalid" and (each.file, each.document) in softened - left
        else each
        for each in result.objects
    ]


def is_incomplete(finding: Finding, resources: frozenset[str]) -> bool:
    """Say whether a finding is that something is missing which a kustomization may add."""
    return finding.is_error and finding.location.file in resources and finding.message.startswith(MISSING)


def lighter(finding: Finding) -> Finding:
    """Return the finding as a warning."""
    return replace(finding, severity=Severity.WARNING, message=f"{finding.message}; its kustomization may add it")


def grouped(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Return findings that say the same, of three places or more, together, in the order of the first of each."""
    alike: dict[tuple[object, ...], list[Finding]] = defaultdict(list)
    for each in sorted(findings, key=lambda each: each.order):
        alike[each.rule, each.severity, each.message, each.fix, each.frozen].append(each)
    parts = [part for some in alike.values() for part in ([some] if len(some) > TWO else [[each] for each in some])]
    return sorted(parts, key=lambda part: part[0].order)
