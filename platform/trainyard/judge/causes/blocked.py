"""Jobs that nobody can check since a file that they name cannot be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trainyard.base.findings import Finding
from trainyard.judge.causes.trial import file_of, job_name
from trainyard.render.kinds import Resolved
from trainyard.specs.load import Loaded
from trainyard.specs.sources import JobFile


def unchecked(loaded: Loaded, runs: Sequence[Resolved]) -> list[JobFile]:
    """Return the jobs of which no run can be rendered, retired ones left out."""
    done = {(run.run.team_name, run.run.job_name) for run in runs}
    return [job for job in loaded.specs.jobs if not job.job.retired and (job.team, job.name) not in done]


def blocked_by_files(loaded: Loaded, runs: Sequence[Resolved], findings: list[Finding]) -> list[Finding]:
    """Return findings, the first error of every unreadable cluster, and of every team, with the jobs that name it.

    A team without a file counts too: nobody can say which volumes and rights its jobs have.
    """
    jobs, out = unchecked(loaded, runs), list(findings)
    missing = {f"team/{job.team}" for job in jobs if job.team not in loaded.specs.teams}
    for key in sorted(loaded.broken | missing):
        kind, _, name = key.partition("/")
        held = sorted(job_name(job) for job in jobs if name == (job.job.cluster if kind == "cluster" else job.team))
        says = f"team {name!r} has no file" if key in missing - loaded.broken else ""
        errors = [
            at
            for at, finding in enumerate(out)
            if finding.is_error and (says in finding.message if says else finding.location.file == file_of(key))
        ]
        if held and errors:
            first = min(errors, key=lambda at: out[at].order)
            out[first] = replace(out[first], blocks=tuple(held))
    return out
