"""Warnings on jobs that a change of the platform's files brings: they are told at the changed line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from trainyard.base.findings import Finding, Severity
from trainyard.judge.causes import changed
from trainyard.judge.causes.changed import BREAKS, Touched
from trainyard.judge.causes.trial import Key, Trial, key
from trainyard.specs.load import Loaded

CAUSES = "causes warnings in"
"""What a change does to jobs that stay right."""


def files_of_jobs(loaded: Loaded, findings: Iterable[Finding]) -> frozenset[str]:
    """Return the files of jobs that have a warning which follows from nothing."""
    jobs = {job.source.file for job in loaded.specs.jobs}
    warnings = (item for item in findings if not item.is_error and item.cause is None)
    return frozenset(item.location.file for item in warnings if item.location.file in jobs)


def below_changes(loaded: Loaded, home: Path, findings: list[Finding], touched: Touched) -> list[Finding]:
    """Return findings, with warnings on untouched jobs below the changed fields without which they are not found."""
    files = files_of_jobs(loaded, findings)
    if not files or not (files := files - touched.files.keys()) or not (before := touched.of()):
        return findings
    told = {key(item): item for item in findings if not item.is_error and item.cause is None}
    told = {name: item for name, item in told.items() if item.location.file in files}
    trial = Trial(loaded, home, tuple(job for job in loaded.specs.jobs if job.source.file in files))
    roots = dict(found_below(trial, before, told))
    if not roots:
        return findings
    there = {item.location for item in findings}
    new = {root.location: root for root in roots.values() if root.location not in there}
    below = (replace(item, cause=roots[key(item)].location) if key(item) in roots else item for item in findings)
    return [*below, *new.values()]


def found_below(
    trial: Trial, before: Mapping[str, bytes | None], told: Mapping[Key, Finding]
) -> Iterator[tuple[Key, Finding]]:
    """Yield the warnings that go away where a changed field is put back, each with the finding on that field."""
    left = dict(told)
    for spec, change, edit in changed.fields_to_put_back(trial.loaded, before):
        repaired = edit(trial.loaded) if left else None
        gone = None if repaired is None else trial.of(repaired)
        names = [name for name in gone.findings if name in left] if gone else []
        if names:
            message = changed.write_message(change, [left[name] for name in names], (), does=CAUSES)
            root = BREAKS.at(
                trial.loaded.specs.sources[spec],
                changed.place_of(change),
                message,
                key=True,
                severity=Severity.WARNING,
            )
            yield from ((name, root) for name in names)
            left = {name: item for name, item in left.items() if name not in names}
