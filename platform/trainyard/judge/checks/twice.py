"""Objects that one file or folder says twice, and findings that one object has in several files."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from trainyard.base.findings import Finding, Location, Severity, without_indexes
from trainyard.base.manifests import group_of
from trainyard.base.rules import Rule
from trainyard.judge.checks.result import Judged, Result

RULE = Rule(
    id="decode/twice",
    title="A file or a folder contains each object once.",
    why="all copies are applied, so the last one wins and the others are lost",
    fix="remove one of them, or rename it",
    source="kubernetes/kubectl v0.35.4 pkg/cmd/apply/apply.go",
    layer="decode",
    severity=Severity.WARNING,
)

TWO = 2
"""So often a finding is said in full."""
MISSING = re.compile(r" is required\b| lacks a required value: ")
"""How a finding says that a field is not there."""


def check(objects: Iterable[Judged]) -> Iterator[Finding]:
    """Yield objects whose kind, namespace and name another has in the same file, and once for a folder those of others.

    Examples that are applied one at a time often lie in one folder: one sentence a folder tells of all of them.
    """
    seen: dict[tuple[str, ...], Judged] = {}
    shared: dict[str, list[tuple[Judged, Judged]]] = defaultdict(list)
    for item in objects:
        ref = item.object
        if not ref.name:
            continue
        folder = str(PurePosixPath(item.file).parent)
        key = (folder, group_of(ref.api_version), ref.kind, ref.namespace or "", ref.name)
        first = seen.setdefault(key, item)
        if first is item or is_linked(first.file, item.file):
            continue
        if first.file != item.file:
            shared[folder].append((first, item))
            continue
        at = f", first on line {first.line}" if first.line else ""
        yield repeated_finding(item, f"{ref.kind} {ref.name!r} is in this file twice{at}; the last one applied wins")
    for folder, pairs in shared.items():
        first, second = pairs[0]
        more = f", and so are {len(pairs) - 1} more objects of {folder}" if len(pairs) > 1 else ""
        name = f"{second.object.kind} {second.object.name!r}"
        yield repeated_finding(
            second, f"{name} is in {PurePosixPath(first.file).name}, too{more}; the last one applied wins"
        )


def repeated_finding(judged: Judged, message: str) -> Finding:
    """Return the finding on an object that is there a second time."""
    return replace(RULE.of(Location(judged.file, judged.line, None, judged.document), message), object=judged.object)


def is_linked(file: str, other: str) -> bool:
    """Whether two names are of one file."""
    return file != other and Path(file).resolve() == Path(other).resolve()


def weigh(result: Result, resources: frozenset[str]) -> None:
    """Take fields that a kustomization may add, to objects of which it is made, for unknown: their build is judged."""
    if not resources:
        return
    weighed = [lighter(finding) if is_incomplete(finding, resources) else finding for finding in result.findings]
    left = {(finding.location.file, finding.location.document) for finding in weighed if finding.is_error}
    softened = {
        (finding.location.file, finding.location.document)
        for finding in result.findings
        if is_incomplete(finding, resources)
    }
    result.findings = weighed
    result.objects = [
        replace(item, verdict="unknown")
        if item.verdict == "invalid" and (item.file, item.document) in softened - left
        else item
        for item in result.objects
    ]


def is_incomplete(finding: Finding, resources: frozenset[str]) -> bool:
    """Say whether a finding is that something is missing which a kustomization may add."""
    return finding.is_error and finding.location.file in resources and bool(MISSING.search(finding.message))


def lighter(finding: Finding) -> Finding:
    """Return the finding as a warning."""
    return replace(finding, severity=Severity.WARNING, message=f"{finding.message}; its kustomization may add it")


def group_findings(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Return findings that say the same, of three places or more, together, in the order of the first of each."""
    alike: dict[tuple[object, ...], list[Finding]] = defaultdict(list)
    for finding in sorted(findings, key=lambda one_finding: one_finding.order):
        alike[finding.rule, finding.severity, without_indexes(finding.message), finding.fix, finding.frozen].append(
            finding
        )
    parts = [
        part for some in alike.values() for part in ([some] if len(some) > TWO else [[finding] for finding in some])
    ]
    return sorted(parts, key=lambda part: part[0].order)
