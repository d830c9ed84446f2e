"""The jobs among the files of `jobs/`: which are jobs, which are small files that jobs name, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from trainyard.base.findings import Finding
from trainyard.base.system.repository import EXTRA, JOBS, team_file
from trainyard.specs.models.job import Job
from trainyard.specs.models.team import Team
from trainyard.specs.reading import document, layout
from trainyard.specs.reading.elsewhere import foreign
from trainyard.specs.reading.layout import Place, problem
from trainyard.specs.reading.rules import RULES
from trainyard.specs.sources import JobFile, Source

JOB_WORDS = frozenset({"cluster", "launcher", "image", "queue", "pool"})
"""Fields that every job has; a file with none of them is something else."""

INSTEAD: Mapping[str, Any] = {
    **dict.fromkeys(JOB_WORDS, "unknown"),
    "launcher": "exec",
    "image": f"unknown/unknown@sha256:{64 * '0'}",
}
"""Stands for such a field that is missing or wrong, so that the others are looked at."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A YAML file beside jobs, read but not yet judged."""

    place: Place
    source: Source | None
    findings: list[Finding] = field(default_factory=list)

    @property
    def value(self) -> Mapping[str, Any]:
        """The file's fields; empty where it has none."""
        value = self.source.document.value if self.source and self.source.document else None
        return value if isinstance(value, dict) else {}

    @property
    def small_files(self) -> Iterator[str]:
        """Paths that the file names in `files`, from the raw value, so that a broken job counts too."""
        listed = self.value.get("files")
        for entry in listed if isinstance(listed, list) else ():
            name = entry.get("source") if isinstance(entry, dict) else None
            if isinstance(name, str):
                yield f"{JOBS}/{self.place.folder}/{name}"


def candidate(place: Place, data: bytes) -> Candidate:
    """Read a YAML file that may be a job."""
    if wrong := layout.too_large(place.path, place.size):
        return Candidate(place, None, [wrong])
    return Candidate(place, *document.read(place.path, data))


def named_as_files(candidates: Iterable[Candidate]) -> frozenset[str]:
    """Return the paths of small files that some job names."""
    return frozenset(path for one_candidate in candidates for path in one_candidate.small_files)


def jobs(candidates: Iterable[Candidate], small: frozenset[str]) -> tuple[list[JobFile], list[JobFile], list[Finding]]:
    """Return the jobs, what is left of broken ones, and everything that is wrong with files that look like a job."""
    found: list[JobFile] = []
    rest: list[JobFile] = []
    findings: list[Finding] = []
    for one_candidate in candidates:
        place, words = one_candidate.place, JOB_WORDS & set(one_candidate.value)
        if place.path in small:
            if words == JOB_WORDS:
                message = "file is a job, but another job lists it under files; copy it into a subfolder"
                findings.append(problem("job-as-file", place.path, message))
            continue
        findings += one_candidate.findings
        if one_candidate.value and not words:
            what = "not a job, and no job lists it under files; move it into a subfolder or delete it"
            if kind := foreign(one_candidate.value):
                what = f"a {kind} of Kubernetes, not a job; write a job's fields, or move it to {EXTRA}/<cluster>/"
            findings.append(problem("not-a-job", place.path, f"file is {what}"))
        elif one_candidate.source is not None:
            wrong = layout.job_name(place.path, place.name)
            job, errors = document.validate(Job, one_candidate.source)
            findings += [*([wrong] if wrong else []), *errors]
            left, lost = (None, frozenset()) if job else document.salvage(Job, one_candidate.source, errors, INSTEAD)
            rest += [JobFile(place.folder, place.name, left, one_candidate.source, guessed=lost)] if left else []
            found += [JobFile(place.folder, place.name, job, one_candidate.source)] if job and not wrong else []
    return found, rest, findings


def strays(candidates: Iterable[Candidate]) -> list[Finding]:
    """Return a finding for each job in a subfolder, where it would be overlooked."""
    return [
        problem(
            "folder",
            one_candidate.place.path,
            f"file is a job in a subfolder; move it to {JOBS}/{one_candidate.place.folder}/",
        )
        for one_candidate in candidates
        if set(one_candidate.value) >= JOB_WORDS
    ]


def misnamed(candidates: Iterable[Candidate]) -> list[Finding]:
    """Return a finding for each job whose file does not end as those of jobs do."""
    return [
        problem(
            "file-ending",
            one_candidate.place.path,
            f"file is a job, but does not end in .yaml, so nothing runs; rename it to {as_yaml(one_candidate.place)}",
        )
        for one_candidate in candidates
        if set(one_candidate.value) >= JOB_WORDS
    ]


def as_yaml(place: Place) -> str:
    """Return the name that a job's file should have."""
    stem = PurePosixPath(place.name).stem.removesuffix(".yaml")
    return f"{stem}.yaml"


def programs(
    places: Iterable[Place], teams: Mapping[str, Team], accepted: Mapping[str, bool]
) -> tuple[list[Place], list[Finding]]:
    """Return the programs that may run, and why others may not; those of unknown teams are reported elsewhere.

    `accepted` says of each team whether what allows it programs was accepted, too.
    """
    allowed: list[Place] = []
    findings: list[Finding] = []
    for place in places:
        team = teams.get(place.folder)
        wrong = layout.too_large(place.path, place.size) or layout.job_name(place.path, place.name)
        if wrong is None and team is not None and not team.python:
            file = team_file(place.folder)
            wrong = problem(
                "python-off", place.path, f"team {place.folder!r} has no jobs in Python; set python: true in {file}"
            )
        elif wrong is None and team is not None and not accepted[place.folder]:
            message = f"python: true of {team_file(place.folder)} is not merged yet; merge it, or use --trust-checkout"
            wrong = problem("python-off", place.path, message)
        findings += [wrong] if wrong else []
        allowed += [place] if wrong is None and team is not None else []
    return allowed, findings


def once(jobs: Iterable[JobFile]) -> tuple[list[JobFile], list[Finding]]:
    """Return the jobs without those whose name an earlier file of the team has taken."""
    first: dict[tuple[str, str], JobFile] = {}
    findings: list[Finding] = []
    for job in jobs:
        taken = first.setdefault((job.team, job.name), job)
        if taken is not job:
            other = taken.source.file.rpartition("/")[2]
            message = f"file defines job {job.name!r}, which {other} also defines; delete or rename one"
            findings.append(RULES["duplicate-job"].of(job.source.location(), message))
    return list(first.values()), findings
