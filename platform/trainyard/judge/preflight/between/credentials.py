"""Credentials in specs, and in what jobs bring along: an error at each, whatever else is wrong with the file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from trainyard.base.credentials import PLAIN, Leak, Sure, hide, in_text, leaks, may_hold, remedy, shapes_in, variable
from trainyard.base.documents import Path
from trainyard.base.exposed import exposed_credentials
from trainyard.base.findings import Finding, Location, format_path
from trainyard.base.manifests import Manifest
from trainyard.base.system import files, reads
from trainyard.base.system.repository import JOBS
from trainyard.specs.load import Loaded
from trainyard.specs.reading.layout import MAX_BYTES
from trainyard.specs.run import written_fields
from trainyard.specs.sources import JobFile, Source

KUBERNETES = frozenset({"containers", "initContainers", "volumes", "patches"})
"""Fields of a job in Kubernetes' own words."""

STARTS = frozenset({"args", "command"})
"""Fields in which Kubernetes puts a variable's value for `$(NAME)`."""


@dataclass(frozen=True)
class Found:
    """What was found in specs, and the values, which nothing else that is said may have."""

    findings: tuple[Finding, ...]
    values: frozenset[str]
    blind: bool = False
    """Whether specs could not be looked through, so that only the shape of a value tells that it is a credential."""

    def hidden(self, finding: Finding) -> Finding:
        """Return a finding that shows none of the values."""
        said = (finding.message, finding.fix, finding.path)
        values = {match.value for text in said if text for match in shapes_in(text)} if self.blind else self.values
        if not values:
            return finding
        message, fix, path = (item and hide(item, values) for item in said)
        return replace(finding, message=message or "", fix=fix, path=path)


def check(loaded: Loaded) -> Found:
    """Look through all specs that were read, and the texts of those that could not be."""
    in_objects = list(in_added_objects(loaded))
    found = list(in_specs(loaded))
    known = {value for _, value in found} | {value for _, values in in_objects for value in values}
    stray = list(stray_credentials(loaded, known))
    findings = (finding for part in (found, in_objects, stray) for finding, _ in part)
    return Found(tuple(findings), frozenset(known | {value for _, value in stray}))


def in_specs(loaded: Loaded) -> Iterator[tuple[Finding, str]]:
    """Yield the credentials in fields, each with its value."""
    specs = loaded.specs
    for job in (*specs.jobs, *loaded.rest):
        if not job.job.retired:
            with reads.about(job.source.file):
                team = specs.teams.get(job.team)
                leaks_of_job = list(in_job(job, loaded, team.secrets if team else ()))
            yield from leaks_of_job
    with reads.apart():  # what is found in a file is looked for each time
        sources = list(specs.sources.values())
    for source in sources:
        value = source.document.value if source.document and may_hold(source.document.text or b"") else None
        for leak in leaks(value):
            message = f"{format_path(leak.path)} holds {leak.what}; use a Secret instead"
            yield PLAIN.at(at_leak(source, leak), leak.path, message), leak.value


def in_added_objects(loaded: Loaded) -> Iterator[tuple[Finding, tuple[str, ...]]]:
    """Yield the findings on credentials in objects of platform/extra, each with its values."""
    with reads.apart():  # what is found in a file is looked for each time
        added = list(loaded.specs.extra)
    for extra in added:
        document = extra.source.document
        if document is not None and isinstance(document.value, dict):
            yield from exposed_credentials(Manifest(document, document.value))


def in_job(job: JobFile, loaded: Loaded, secrets: Collection[str]) -> Iterator[tuple[Finding, str]]:
    """Yield the credentials in a job's fields and in the small files that it names."""
    document = job.source.document
    if document is None:
        value: Any = written_fields(job.job)
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
                    f"file {file.source!r} holds {spotted.what} in line {line}; move it to a Secret, and mount that"
                )
                yield PLAIN.at(job.source, ("files", index, "source"), message), spotted.value


def in_words(leak: Leak, secrets: Collection[str]) -> str:
    """Return the message on a credential in a job, with the field to use instead."""
    name = variable(leak)
    where = f"{format_path(leak.path)} holds {leak.what}"
    if leak.path[0] in KUBERNETES:
        return f"{where}; use valueFrom.secretKeyRef"
    if leak.path[0] in STARTS or leak.path[-2:-1] == ("args",):
        return f"{where}; use {remedy(name, secrets)}, and $({name}) here"
    return f"{where}; use {remedy(name, secrets)} instead"


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


def is_known(value: str, known: Iterable[str]) -> bool:
    """Whether a value of a file is one of a field, whose blanks at the begin of lines YAML takes away."""
    plain = "".join(value.split())
    return any(plain in other or other in plain for other in ("".join(secret.split()) for secret in known) if other)


def stray_credentials(loaded: Loaded, known: Collection[str]) -> Iterator[tuple[Finding, str]]:
    """Yield the tokens and keys that stand in a file and in no field: in comments, and where it could not be read."""
    owners: dict[str, str] = {}
    for job in (*loaded.specs.jobs, *loaded.rest):
        owners.setdefault(job.source.file, job.source.prefix)
    with reads.apart():
        opened = {*owners, *(source.file for source in loaded.specs.sources.values())}
        opened |= {extra_file.source.file for extra_file in loaded.specs.extra} | {
            program.file for program in loaded.specs.programs
        }
    opened |= {finding.location.file for finding in loaded.findings}
    for file in sorted(opened):
        with reads.about(file):
            data = files.read_plain(loaded.root / file, most=MAX_BYTES)
        text = data.decode("utf-8", "replace") if may_hold(data) else ""
        for match in shapes_in(text):
            if is_known(match.value, known):
                with reads.about(file):
                    reads.forget()  # another file may be the one that has it in a field
            else:
                message = f"{owners.get(file, '')}{match.what} is in this file; remove it, and create a new one"
                yield PLAIN.of(place_at(file, text, match.start), message), match.value
