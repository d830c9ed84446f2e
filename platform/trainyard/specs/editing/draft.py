"""A job that is about to be written: its text, judged as if it stood in the repository already."""

from __future__ import annotations

import shlex

from trainyard.errors import SpecError
from trainyard.findings import Finding
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.job import Job
from trainyard.specs.reading import document, layout
from trainyard.specs.sources import JobFile
from trainyard.system.repository import job_file

HEADER = "# yaml-language-server: $schema=../../schemas/trainyard/job.json\n"
"""First line of a job file, for editors."""


def gpus_of(cluster: Cluster, pool: str) -> int:
    """Return how many GPUs a node of the pool has; none for a pool that does not exist."""
    found = cluster.pools.get(pool)
    return found.node.gpus.count if found and found.node.gpus else 0


def start(program: str | None, command: str | None) -> dict[str, str | list[str]]:
    """Return what the job starts: a program, or a command in words, quoted as in a shell; raises SpecError."""
    if program is not None and command is not None:
        raise SpecError("--program and --command exclude each other; keep one")
    if command is None:
        return {"program": program or ""}
    try:
        return {"command": shlex.split(command)}
    except ValueError as error:
        raise SpecError(f"--command {command!r} has a quote that is not closed") from error


def read(*, team: str, name: str, text: str) -> tuple[JobFile | None, list[Finding]]:
    """Return the job of that team, name and text, and what is wrong with its fields."""
    path = job_file(team, name)
    if wrong := layout.job_name(path, name):
        return None, [wrong]
    source, findings = document.read(path, text.encode())
    if source is None or findings:
        return None, findings
    job, errors = document.validate(Job, source)
    return (JobFile(team, name, job, source) if job else None), errors
