"""The order of jobs: which of them are steps of a pipeline, and which each of them comes after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainyard.specs.models.job import Job

JobName = tuple[str, str]
"""Team and job."""


def after_of(team: str, job: Job) -> tuple[JobName, ...]:
    """Return the jobs that a job of a team comes after, each once."""
    named = (each.rpartition("/") for each in job.after)
    return tuple(dict.fromkeys((other or team, name) for other, _, name in named))


def circle(job: JobName, before: Mapping[JobName, Iterable[JobName]]) -> bool:
    """Whether a job comes after itself."""
    seen: set[JobName] = set()
    left = list(before.get(job, ()))
    while left:
        each = left.pop()
        if each == job:
            return True
        if each not in seen:
            seen.add(each)
            left += before.get(each, ())
    return False


def ordered(jobs: Iterable[JobName], before: Mapping[JobName, Iterable[JobName]]) -> list[JobName]:
    """Return jobs and all that they come after, each behind those; there is no circle among them."""
    found: dict[JobName, None] = {}

    def add(job: JobName) -> None:
        for each in before.get(job, ()):
            if each not in found:
                add(each)
        found.setdefault(job)

    for job in jobs:
        add(job)
    return list(found)
