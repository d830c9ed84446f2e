"""Findings on jobs that name an object of the repository's own: they follow from the errors of that object."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from trainyard.base.findings import Finding
from trainyard.base.system.repository import EXTRA, JOBS

FIELD = "runtime"
"""The field of a job that names an object below `platform/extra`."""


def below_objects(findings: Iterable[Finding], files: Collection[tuple[str, str]]) -> list[Finding]:
    """Return findings, those on a job's runtime with the place of the first error in that object as their cause.

    `files` are the files of jobs, each with the cluster that a job in it runs on.
    """
    found = list(findings)
    errors = [item for item in sorted(found, key=lambda item: item.order) if item.is_error and cluster_of(item)]
    return [follow(finding, errors, files) for finding in found] if errors else found


def cluster_of(finding: Finding) -> str:
    """Return the cluster of an object of the repository's own in which something was found; empty for others."""
    file = finding.spec.file if finding.spec and finding.object and finding.cause is None else ""
    return file.split("/")[2] if file.startswith(f"{EXTRA}/") else ""


def follow(finding: Finding, errors: Iterable[Finding], files: Collection[tuple[str, str]]) -> Finding:
    """Return a finding on the runtime of a job below the error in that, any other one as it is."""
    file = finding.location.file
    if finding.cause is not None or finding.path != FIELD or not file.startswith(f"{JOBS}/"):
        return finding
    for error in errors:
        name = error.object.name if error.object else ""
        if f"runtime {name!r}" in finding.message and (file, cluster_of(error)) in files:
            return replace(finding, cause=error.location)
    return finding
