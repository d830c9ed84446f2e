"""Copies of jobs for a rehearsal cluster: `rehearse` of a job names it, and no file is copied."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.specs.reading.layout import LONGEST_JOB_NAME
from trainyard.specs.sources import JobFile, Source

ENDING = "-sim"
"""End of a copy's name, which must be another than the job's: names are a team's, whatever the cluster."""


def copies(jobs: Iterable[JobFile]) -> Iterator[JobFile]:
    """Yield the copy of each job that is rehearsed.

    Steps have none: a pipeline would start the copy, but nobody has compiled it for that cluster.
    """
    for file in jobs:
        cluster = file.job.rehearse
        if cluster is None or file.job.step:
            continue
        name = copy_name(file.name)
        job = file.job.model_copy(update={"cluster": cluster, "rehearse": None, "renamed_from": None})
        line = file.source.location(("rehearse",)).line or 1
        yield JobFile(file.team, name, job, Source(file.source.file, None, line, name))


def is_copy(file: JobFile, jobs: Iterable[JobFile]) -> bool:
    """Whether a job is the copy of one of these, whose field `rehearse` names its cluster."""
    return file.name.endswith(ENDING) and any(
        job.team == file.team and job.job.rehearse == file.job.cluster and copy_name(job.name) == file.name
        for job in jobs
    )


def copy_name(job: str) -> str:
    """Return the name of the copy of a job."""
    return job[: LONGEST_JOB_NAME - len(ENDING)].rstrip("-") + ENDING
