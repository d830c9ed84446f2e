"""Who is hit by a mistake, in words: what reports write below its finding."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from trainyard.base.findings import Finding, count_of
from trainyard.base.system.repository import JOBS
from trainyard.specs.sources import prefix_of

SHOWN = 3
"""So many names stand in a sentence; the others are counted."""


def job_of(finding: Finding) -> str | None:
    """Return the job that a finding is about, as `team/job`; None where it is about something else."""
    *folders, file = finding.location.file.split("/")
    if len(folders) < 2 or folders[-2] != JOBS:
        return None
    prefix = prefix_of(finding.message)
    name = prefix.split("'")[1] if prefix else file.rpartition(".")[0]
    return f"{folders[-1]}/{name}"


def jobs_of(findings: Iterable[Finding]) -> list[str]:
    """Return the jobs that findings are about, sorted."""
    return sorted({job for finding in findings if (job := job_of(finding))})


def users(findings: Sequence[Finding], runs: Collection[str] = ()) -> str:
    """Return how many jobs, or else places, use a name, with the verb: `19 jobs use`."""
    count = hit(findings, runs)
    return f"{count} {'uses' if count.startswith('1 ') else 'use'}"


def hit(findings: Sequence[Finding], runs: Collection[str] = ()) -> str:
    """Return how many jobs, or else places, findings are about; `runs` are jobs that cannot be checked."""
    jobs = len({*jobs_of(findings), *runs})
    return count_of(jobs, "job") if jobs else count_of(len(findings), "place")


def few(names: Sequence[str]) -> str:
    """Return the first names of a list and how many more there are: `a, b, c and 16 more`."""
    shown = ", ".join(names[:SHOWN])
    return f"{shown} and {len(names) - SHOWN} more" if len(names) > SHOWN else shown


def lines_below(finding: Finding, followers: Sequence[Finding]) -> Iterator[str]:
    """Yield the lines below a finding: the jobs that follow from it, the other places, and one of the sentences."""
    jobs = sorted({*finding.blocks, *jobs_of(followers)})
    if jobs:
        verb = "has" if len(jobs) == 1 else "have"
        happens = "cannot be checked" if finding.is_error else f"{verb} warnings"
        yield f"{count_of(len(jobs), 'job')} {happens} for this reason: {few(jobs)}"
    others = [item for item in followers if job_of(item) is None]
    if others:
        verb = "follows" if len(others) == 1 else "follow"
        places = list(dict.fromkeys(f"{item.location} [{item.rule}]" for item in others))
        yield f"{count_of(len(others), 'other finding')} {verb} from it: {few(places)}"
    if jobs and (first := example(finding, followers)):
        yield f"for example, {first.location}: {first.message} [{first.rule}]"


def example(finding: Finding, followers: Sequence[Finding]) -> Finding | None:
    """Return the finding below another that explains it best: the first of a job, else one in the same file.

    What machines make of a pod explains nothing where the cause is no machine.
    """
    of_jobs = [item for item in followers if job_of(item) and item.layer != "node"]
    beside = [item for item in followers if item.location.file == finding.location.file and item.is_error]
    return next(iter([*of_jobs, *beside]), None)
