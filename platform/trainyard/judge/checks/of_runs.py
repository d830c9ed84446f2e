"""Which runs and jobs the files of a generated tree are of, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from trainyard.base.system.repository import GENERATED
from trainyard.render.tree import layout
from trainyard.specs.sources import prefix_of

if TYPE_CHECKING:
    from trainyard.base.findings import Finding
    from trainyard.judge.checks.left_out import NamedJob
    from trainyard.judge.policies.policy import Policy

Said = tuple[str, str, str]
"""A rule, and the team and name of the job that it found something in."""


def run_of(file: str) -> str | None:
    """Return the folder, below `generated/`, of the run that a file there is of; None where it is no run's."""
    return layout.run_of(file.removeprefix(f"{GENERATED}/"))


def compares(policies: Iterable[Policy], inputs: Iterable[tuple[str, bytes]]) -> bool:
    """Whether findings on the objects of one run may depend on objects of another.

    A policy in Python says so; one in CEL may look up any object as its parameter.
    """
    if any("runs" in policy.needs or (policy.document.get("spec") or {}).get("paramKind") for policy in policies):
        return True
    return any(b"paramKind" in data for name, data in inputs if run_of(name) is None)


def job_of(finding: Finding) -> tuple[str, str] | None:
    """Return team and job of the run whose object a finding is about, None where it is no run's."""
    run = run_of(finding.location.file)
    return layout.job_of_run(run) if run else None


def said_of_jobs(findings: Iterable[Finding], jobs: Iterable[NamedJob]) -> frozenset[Said]:
    """Return the rules of what was found in the specs of jobs, each with team and job."""
    keys = {(job.file, job.prefix): job.key for job in jobs}
    found = ((finding.rule, keys.get((finding.location.file, prefix_of(finding.message)))) for finding in findings)
    return frozenset((rule, *job) for rule, job in found if job is not None)
