"""Jobs that nobody can check since a file that they name cannot be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trainyard.base.findings import Finding
from trainyard.judge.causes.trial import file_of, job_name
from trainyard.render.kinds import Resolved
from trainyard.specs.load import Loaded
from trainyard.specs.reading.layout import meant_name
from trainyard.specs.sources import JobFile


def unchecked(loaded: Loaded, runs: Sequence[Resolved]) -> list[JobFile]:
    """Return the jobs of which no run can be rendered, retired ones left out."""
    done = {(run.run.team_name, run.run.job_name) for run in runs}
    return [job for job in loaded.specs.jobs if not job.job.retired and (job.team, job.name) not in done]


def blocked_by_files(
    loaded: Loaded, runs: Sequence[Resolved], findings: list[Finding], unopened: Mapping[str, str]
) -> list[Finding]:
    """Return findings, the first error of every unreadable cluster, and of every team, with the jobs that name it.

    A team without a file counts too: nobody can say which volumes and rights its jobs have. `unopened` are the jobs
    whose files were not opened, each with its cluster.
    """
    jobs, out = unchecked(loaded, runs), list(findings)
    clusters = {**unopened, **{job_name(job): job.job.cluster for job in jobs}}
    missing = {f"team/{job.team}" for job in jobs if job.team not in loaded.specs.teams}
    for key in sorted(loaded.broken | missing):
        kind, _, name = key.partition("/")
        held = sorted(job for job, on in clusters.items() if name == (on if kind == "cluster" else job.split("/")[0]))
        says = f"team {name!r} has no file" if key in missing - loaded.broken else ""
        errors = [
            at
            for at, finding in enumerate(out)
            if finding.is_error and (says in finding.message if says else stands_for(finding.location.file, key))
        ]
        if held and errors:
            first = min(errors, key=lambda at: out[at].order)
            out[first] = replace(out[first], blocks=tuple(held))
    return out


def stands_for(file: str, key: str) -> bool:
    """Say whether a spec would be in a file, were its name or its place right."""
    right = file_of(key)
    folder, _, _ = right.rpartition("/")
    return file == right or (file.startswith(f"{folder}/") and key == f"{key.partition('/')[0]}/{meant_name(file)}")
