"""Credentials in specs, and in what jobs bring along: an error at each, whatever else is wrong with the file."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from trainyard.credentials import PLAIN, Leak, Sure, hide, in_text, leaks, may_hold, remedy, shapes_in, variable
from trainyard.documents import Path
from trainyard.exposed import exposed
from trainyard.findings import Finding, Location, format_path
from trainyard.manifests import Manifest
from trainyard.specs.load import Loaded
from trainyard.specs.reading.layout import MAX_BYTES
from trainyard.specs.run import written
from trainyard.specs.sources import JobFile, Source
from trainyard.system import files
from trainyard.system.repository import JOBS

KUBERNETES = frozenset({"containers", "initContainers", "volumes", "patches"})
"""Fields of a job in Kubernetes' own words."""

STARTS = frozenset({"args", "command"})
"""Fields in which Kubernetes puts a variable's value for `$(NAME)`."""


@dataclass(frozen=True)
class Found:
    """What was found in specs, and the values, which nothing else that is said may have."""

    findings: tuple[Finding, ...]
    values: frozenset[str]

    def hidden(self, finding: Finding) -> Finding:
        """Return a finding that shows none of the values."""
        if not self.values:
            return finding
        message, fix, path = (each and hide(each, self.values) for each in (finding.message, finding.fix, finding.path))
        return replace(finding, message=message or "", fix=fix, path=path)


def check(loaded: Loaded) -> Found:
    """Look through all specs that were read, and the texts of those that could not be."""
    found = list(in_specs(loaded))
    known = {value for _, value in found}
    found += beside(loaded, known)
    return Found(tuple(finding for finding, _ in found), frozenset(value for _, value in found))


def in_specs(loaded: Loaded) -> Iterator[tuple[Finding, str]]:
    """Yield the credentials in fields, each with its value."""
    specs = loaded.specs
    for job in (*specs.jobs, *loaded.rest):
        if not job.job.retired:
            team = specs.teams.get(job.team)
            yield from in_job(job, loaded, team.secrets if team else ())
    for source in specs.sources.values():
        value = source.document.value if source.document and may_hold(source.document.text or b"") else None
        for leak in leaks(value):
            message = f"{format_path(leak.path)} holds {leak.what}; name a Secret in its place"
            yield PLAIN.at(at_leak(source, leak), leak.path, message), leak.value
    for extra in specs.extra:
        document = extra.source.document
        if document is not None and isinstance(document.value, dict):
            yield from exposed(Manifest(document, document.value))


def in_job(job: JobFile, loaded: Loaded, secrets: Collection[str]) -> Iterator[tuple[Finding, str]]:
    """Yield the credentials in a job's fields and in the small files that it names."""
    document = job.source.document
    if document is None:
        value: Any = written(job.job)
    else:
        value = document.value if may_hold(document.text or b"") else {}
    for leak in leaks({name: item for name, item in value.items() if name not in {"secrets", "waive"}}):
        yield PLAIN.at(at_leak(job.source, leak, loaded), leak.path, in_words(leak, secrets)), leak.value
    for index, file in enumerate(job.job.files):
        text = job.contents.get(file.source) or small(loaded, f"{JOBS}/{job.team}/{file.source}")
        for spotted in in_text(text):
            if spotted.sure is not Sure.EXAMPLE:
                line = text.count("\n", 0, spotted.start) + 1
                message = (
                    f"file {file.source!r} holds {spotted.what} in line {line}; put it into a Secret, and mount that"
                )
                yield PLAIN.at(job.source, ("files", index, "source"), message), spotted.value


def in_words(leak: Leak, secrets: Collection[str]) -> str:
    """Return what is said of a credential in a job, with what to write instead."""
    name = variable(leak)
    where = f"{format_path(leak.path)} holds {leak.what}"
    if leak.path[0] in KUBERNETES:
        return f"{where}; use valueFrom.secretKeyRef"
    if leak.path[0] in STARTS or leak.path[-2:-1] == ("args",):
        return f"{where}; write {remedy(name, secrets)}, and $({name}) here"
    return f"{where}; write {remedy(name, secrets)} instead"


@dataclass(frozen=True)
class Exact:
    """A place in a spec that is known to the letter."""

    place: Location
    prefix: str

    def location(self, path: Path = (), *, key: bool = False) -> Location:  # noqa: ARG002  # as any place is asked
        """Return the place, whatever the field."""
        return self.place


def at_leak(source: Source, leak: Leak, loaded: Loaded | None = None) -> Source | Exact:
    """Return where a credential is written: a part of a text at its first letter, of a program where it spells it."""
    if source.document is not None:
        return Exact(source.document.within(leak.path, leak.value), source.prefix) if leak.text else source
    text = small(loaded, source.file) if loaded else ""
    start = text.find(leak.value)
    return source if start < 0 else Exact(place_at(source.file, text, start), source.prefix)


def small(loaded: Loaded, file: str) -> str:
    """Return the text of a file that is no spec itself: a program that makes jobs, or what a job brings along."""
    return files.read_plain(loaded.root / file, most=MAX_BYTES).decode("utf-8", "replace")


def place_at(file: str, text: str, start: int) -> Location:
    """Return the place of a character of a file."""
    return Location(file, text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start))


def beside(loaded: Loaded, known: Collection[str]) -> Iterator[tuple[Finding, str]]:
    """Yield the tokens and keys that stand in a file and in no field: in comments, and where it could not be read."""
    owners: dict[str, str] = {}
    for job in (*loaded.specs.jobs, *loaded.rest):
        owners.setdefault(job.source.file, job.source.prefix)
    opened = {*owners, *(each.file for each in loaded.specs.sources.values())}
    opened |= {each.source.file for each in loaded.specs.extra} | {each.file for each in loaded.specs.programs}
    opened |= {each.location.file for each in loaded.findings}
    for file in sorted(opened):
        data = files.read_plain(loaded.root / file, most=MAX_BYTES)
        text = data.decode("utf-8", "replace") if may_hold(data) else ""
        for match in shapes_in(text):
            if not any(match.value in each or each in match.value for each in known):
                message = f"{owners.get(file, '')}{match.what} stands here; take it out, and make a new one"
                yield PLAIN.of(place_at(file, text, match.start), message), match.value
