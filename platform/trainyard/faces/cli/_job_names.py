"""Which jobs somebody asks about, by the names that were typed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainyard.judge.preflight import Checked


def jobs(checked: Checked, names: Iterable[str], clusters: Collection[str], root: Path) -> tuple[list[str], list[str]]:
    """Return jobs as `<team>/<job>`, and what to say of those that have no verdict.

    Raises SpecError for a job that does not exist, or is on none of these clusters where they are any.
    """
    from trainyard.base.errors import SpecError
    from trainyard.specs.editing.named import job_of, unknown_job

    there = {f"{job_file.team}/{job_file.name}": job_file.job for job_file in checked.specs.jobs}
    asked = [job_of(name, root) for name in names]
    said = []
    for name in asked:
        job = there.get(name)
        if job is None and not has_errors(checked, name):
            raise unknown_job(name, there, checked.idle)
        if job is None or job.cluster not in checked.specs.clusters:
            said.append(f"job {name!r} cannot run; run `trainyard check` for the reason")
        elif clusters and job.cluster not in clusters:
            wanted = ", ".join(clusters)
            raise SpecError(f"job {name!r} is on cluster {job.cluster!r}, but --cluster is {wanted}; remove it")
        elif job.retired:
            said.append(f"job {name!r} is retired and requests nothing")
    return asked, said


def has_errors(checked: Checked, job: str) -> bool:
    """Say whether an error stands in the file of a job: then it may be none of the jobs that were read."""
    from trainyard.base.system.repository import JOBS

    return any(finding.is_error and finding.location.file.startswith(f"{JOBS}/{job}.") for finding in checked.findings)
