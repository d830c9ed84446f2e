"""The order of jobs: which of them are steps of a pipeline, and which each of them comes after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainyard.specs.models.job import Job

JobName = tuple[str, str]
"""Team and job."""


def after_of(team: str, job: Job) -> tuple[JobName, ...]:
    """Return the jobs that a job of a team comes after, each once."""
    named = (job_name.rpartition("/") for job_name in job.after)
    return tuple(dict.fromkeys((other or team, name) for other, _, name in named))


def circle(job: JobName, before: Mapping[JobName, Iterable[JobName]]) -> bool:
    """Whether a job comes after itself."""
    seen: set[JobName] = set()
    left = list(before.get(job, ()))
    while left:
        current = left.pop()
        if current == job:
            return True
        if current not in seen:
            seen.add(current)
            left += before.get(current, ())
    return False


def order_jobs(jobs: Iterable[JobName], before: Mapping[JobName, Iterable[JobName]]) -> list[JobName]:
    """Return jobs and all that they come after, each behind those; there is no circle among them."""
    found: dict[JobName, None] = {}

    def add(job: JobName) -> None:
        for before_it in before.get(job, ()):
            if before_it not in found:
                add(before_it)
        found.setdefault(job)

    for job in jobs:
        add(job)
    return list(found)
