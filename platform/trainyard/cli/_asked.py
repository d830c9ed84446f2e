"""Which jobs somebody asks about, by the names that were typed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainyard.preflight import Checked


def jobs(checked: Checked, names: Iterable[str], clusters: Collection[str], root: Path) -> tuple[list[str], list[str]]:
    """Return jobs as `<team>/<job>`, and what to say of those that have no verdict.

    Raises SpecError for a job that does not exist, or is on none of these clusters where they are any.
    """
    from trainyard.errors import SpecError
    from trainyard.specs.editing.named import job_of, unknown

    there = {f"{each.team}/{each.name}": each.job for each in checked.specs.jobs}
    asked = [job_of(name, root) for name in names]
    said = []
    for name in asked:
        job = there.get(name)
        if job is None and not refused(checked, name):
            raise unknown(name, there, checked.idle)
        if job is None or job.cluster not in checked.specs.clusters:
            said.append(f"job {name!r} cannot run; its findings say why")
        elif clusters and job.cluster not in clusters:
            wanted = ", ".join(clusters)
            raise SpecError(f"job {name!r} is on cluster {job.cluster!r}, but --cluster is {wanted}; leave it out")
        elif job.retired:
            said.append(f"job {name!r} is retired, and asks for nothing")
    return asked, said


def refused(checked: Checked, job: str) -> bool:
    """Say whether an error stands in the file of a job: then it may be none of the jobs that were read."""
    from trainyard.system.repository import JOBS

    return any(each.is_error and each.location.file.startswith(f"{JOBS}/{job}.") for each in checked.findings)
