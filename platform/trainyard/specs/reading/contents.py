"""The small files that jobs name: read, and refused where they are missing, too large, elsewhere, or no text."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, did_you_mean
from trainyard.base.system import reads
from trainyard.base.system.repository import JOBS
from trainyard.specs.reading.rules import RULES
from trainyard.specs.sources import JobFile

MAX_TOTAL = 2**20
"""Bytes of all files of a job: a ConfigMap holds 1 MiB (kubernetes v1.35 pkg/apis/core/validation/validation.go)."""

KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")
"""Keys of a ConfigMap."""


def fill(
    jobs: Iterable[JobFile], sizes: Mapping[str, int], read: Callable[[str], bytes]
) -> tuple[list[JobFile], list[Finding]]:
    """Return the jobs with the texts of their files; `sizes` has the bytes of other files below `jobs/` than jobs."""
    filled: list[JobFile] = []
    findings: list[Finding] = []
    for job in jobs:
        if not job.job.files:
            filled.append(job)
            continue
        wrong = list(check(job, sizes))
        with reads.about(job.source.file):
            texts, undecoded = ({}, []) if wrong else decode(job, read)
        findings += [*wrong, *undecoded]
        filled.append(dataclasses.replace(job, contents=texts))
    return filled, findings


def check(job: JobFile, sizes: Mapping[str, int]) -> Iterator[Finding]:
    """Yield the problems with a job's files before any is read."""
    folder = f"{JOBS}/{job.team}/"
    total = 0
    for index, file in enumerate(job.job.files):
        place: Path = ("files", index, "source")
        size = sizes.get(folder + file.source)
        name = file.source.rpartition("/")[2]
        if size is None:
            beside = [path.removeprefix(folder) for path in sizes if path.startswith(folder)]
            near = did_you_mean(file.source, beside, limit=4)
            yield RULES["missing-small-file"].at(
                job.source, place, f"file {file.source!r} does not exist next to the job; {near}"
            )
        elif not KEY.fullmatch(name):
            message = f"file name {name!r} must have letters, digits, '-', '_' and '.' only; rename the file"
            yield RULES["file-name"].at(job.source, place, message)
        total += size or 0
    if total > MAX_TOTAL:
        message = f"files have {total} bytes together, but a ConfigMap takes {MAX_TOTAL}; put large data on a volume"
        yield RULES["file-size"].at(job.source, ("files",), message)


def decode(job: JobFile, read: Callable[[str], bytes]) -> tuple[dict[str, str], list[Finding]]:
    """Return the texts of a job's files by their source."""
    texts: dict[str, str] = {}
    findings: list[Finding] = []
    for index, file in enumerate(job.job.files):
        try:
            texts[file.source] = read(f"{JOBS}/{job.team}/{file.source}").decode()
        except UnicodeDecodeError:
            message = f"file {file.source!r} is not UTF-8 text; put binary data on a volume"
            findings.append(RULES["file-encoding"].at(job.source, ("files", index, "source"), message))
    return texts, findings
