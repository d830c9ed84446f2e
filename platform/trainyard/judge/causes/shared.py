"""Findings on several fields that do not go together: each stands at the field that the change touched."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from trainyard.base.findings import Finding
from trainyard.base.system.repository import JOBS


def at_changes(findings: Iterable[Finding], fields: Mapping[str, tuple[str, ...]]) -> list[Finding]:
    """Return findings, those on several fields at a changed one; `fields` are the changed fields of each file.

    A finding that stands at a changed field stays, and what follows from a finding that moves goes with it.
    """
    found = list(findings)
    placed = [at_change(finding, fields.get(finding.location.file, ())) for finding in found]
    moved = {old.location: new.location for old, new in zip(found, placed, strict=True) if old is not new}
    return [replace(item, cause=moved[item.cause]) if item.cause in moved else item for item in placed]


def files_of_jobs(findings: Iterable[Finding]) -> frozenset[str]:
    """Return the YAML files of jobs in which several fields do not go together."""
    found = (finding.location.file for finding in findings if finding.shared)
    return frozenset(file for file in found if file.startswith(f"{JOBS}/") and file.endswith(".yaml"))


def at_change(finding: Finding, changed: Collection[str]) -> Finding:
    """Return a finding at the first of its fields that was changed, or as it is."""
    if is_touched(finding.path or "", changed):
        return finding
    for path, location in finding.shared:
        if is_touched(path, changed):
            return replace(finding, path=path, location=location)
    return finding


def is_touched(path: str, changed: Collection[str]) -> bool:
    """Say whether a field was changed, a part of it, or what holds it."""
    return any(path == other or is_inside(path, other) or is_inside(other, path) for other in changed)


def is_inside(path: str, outer: str) -> bool:
    """Say whether a field is a part of another, of a whole file too."""
    return not outer or path.startswith((f"{outer}.", f"{outer}["))
