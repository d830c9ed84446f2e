"""A job that is about to be written: its text, judged as if it stood in the repository already."""

from __future__ import annotations

from trainyard.findings import Finding
from trainyard.specs import layout, reading, references
from trainyard.specs.cluster import Cluster
from trainyard.specs.job import Job
from trainyard.specs.run import JobFile, Specs

HEADER = "# yaml-language-server: $schema=../../schemas/trainyard/job.json\n"
"""First line of a job file, for editors."""


def gpus_of(cluster: Cluster, pool: str) -> int:
    """Return how many GPUs a node of the pool has; none for a pool that does not exist."""
    found = cluster.pools.get(pool)
    return found.node.gpus.count if found and found.node.gpus else 0


def check(specs: Specs, *, team: str, name: str, text: str) -> list[Finding]:
    """Return what would be wrong with a job file of that team, name and text."""
    path = f"{layout.JOBS}/{team}/{name}.yaml"
    if wrong := layout.job_name(path, name):
        return [wrong]
    source, findings = reading.document(path, text.encode())
    if source is None or findings:
        return findings
    job, errors = reading.validate(Job, source)
    if job is None:
        return errors
    return list(references.check_job(specs, JobFile(team, name, job, source)))
