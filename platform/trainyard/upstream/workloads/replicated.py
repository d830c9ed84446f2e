"""Replicated jobs: those of a JobSet's specification, and of what embeds one (jobset v0.12.0)."""

from __future__ import annotations

from trainyard.base.findings import Path
from trainyard.base.manifests import ANY
from trainyard.upstream.workloads.base import Object, Template, by_field, inner, pods_of_job, replicas

LISTS = {"replicatedJobs": ("name",)}


def of_replicated_job(job: Object) -> int:
    """Return the pods of all replicas of a JobSet's replicated job."""
    return replicas(job) * pods_of_job(inner(job, "template", "spec"))


def jobs_at(*path: str) -> Template:
    """Return where a JobSet's specification, or what embeds one, has its pods."""
    inside: Path = ("template", "spec", "template")
    return Template((*path, "replicatedJobs", ANY), inside, by_field("name"), of_replicated_job)
