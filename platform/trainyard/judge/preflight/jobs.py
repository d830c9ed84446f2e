"""What is wrong with one job, and its run with everything that follows from it where the job can be rendered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from trainyard.base.findings import Finding
from trainyard.base.manifests import identity_of
from trainyard.judge.preflight.declared import Look
from trainyard.judge.preflight.job import several_pools, size
from trainyard.judge.preflight.subjects import JOB, NAMED, PLACED, RESOLVED, RUN, OneJob, Planned
from trainyard.render.clusters import of_team
from trainyard.render.kinds import Resolved, default_kind, kinds, resolve
from trainyard.render.launchers import launchers
from trainyard.specs import Team
from trainyard.specs.run import Run, digest, pools_of
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import JobFile, Specs
from trainyard.upstream.workloads.runtimes import may_name

NOBODY = Team(group="unknown", pod_security="privileged")
"""Stands for a team whose file is missing or broken, so that sizes are looked at all the same; nothing is forbidden."""


def check(
    specs: Specs,
    file: JobFile,
    *,
    broken: frozenset[str] = frozenset(),
    accepted: Callable[[Finding], bool] = lambda _: False,
) -> tuple[Resolved | None, list[Finding]]:
    """Return the run of a job, None where it cannot be rendered, and everything that is wrong with the job.

    `broken` are the keys of specs that are there but could not be read: nothing is said of what they lack; `accepted`
    says which errors somebody waives, which keep nothing from being rendered. A retired job is left in peace, since
    nothing of it is rendered.
    """
    job = OneJob(specs, file, run_of(specs, file), broken)
    run = job.run
    if file.job.retired:
        return (resolve(run) if run and is_known(run) and not list(size.check_counts(Planned.of(run))) else None), []
    look = Look()
    look.ask(NAMED, job)
    look.ask(JOB, job)
    if job.team is not None and job.cluster is not None:
        look.ask(PLACED, job, job.team, job.cluster)
    if run is None or not look.reaches(RUN):
        return None, look.findings
    resolved, more = check_run(run)
    findings = [*look.findings, *more]
    errors = any(finding.is_error and not accepted(finding) for finding in findings)
    return (None if errors or job.team is None else resolved), findings


def run_of(specs: Specs, file: JobFile) -> Run | None:
    """Return the run of a job, or None where it names a cluster, pool or shape that does not exist."""
    job, cluster = file.job, specs.clusters.get(file.job.cluster)
    if cluster is None or not (own := pools_of(job, cluster)):
        return None
    pools = {*own, *(role.pool for role in job.roles.values() if role.pool)}
    if not pools <= {name for name, pool in cluster.pools.items() if is_known_shape(pool.shape)}:
        return None
    run = Run(
        job_name=file.name,
        job=job,
        team_name=file.team,
        team=specs.teams.get(file.team, NOBODY),
        cluster_name=job.cluster,
        cluster=cluster,
        kind=job.kind or "",
        digest=digest(job, file.contents),
        source=file.source,
        contents=file.contents,
        runtimes=runtimes(specs, file) if job.runtime else {},
    )
    return run if job.kind else replace(run, kind=default_kind(run))


def runtimes(specs: Specs, file: JobFile) -> dict[str, Mapping[str, Any]]:
    """Return by name the runtimes of a job's cluster and its team; the team's own go before."""
    there = [(identity_of(runtime), runtime) for runtime in of_team(specs, file.job.cluster, file.team)]
    place = specs.clusters[file.job.cluster].namespace_of(file.team)
    return {identity.name: runtime for identity, runtime in there if may_name(identity, place)}


def is_known(run: Run) -> bool:
    """Whether the kind and the launcher of a run exist."""
    return run.kind in kinds() and run.job.launcher in launchers()


def check_run(run: Run) -> tuple[Resolved | None, list[Finding]]:
    """Return a run resolved, and what is wrong with it on any of its pools; kind and launcher exist."""
    found = [check_on_pool(on_pool) for on_pool in run.on_each_pool()]
    resolved = [run_there for run_there, _ in found if run_there is not None]
    findings = several_pools.merge(run, [findings for _, findings in found])
    return (resolved[0] if len(resolved) == len(found) else None), findings


def check_on_pool(run: Run) -> tuple[Resolved | None, list[Finding]]:
    """Return a run resolved as on one of its pools, and what is wrong with it there."""
    look = Look()
    look.ask(RUN, Planned.of(run))
    if not look.reaches(RESOLVED):
        return None, look.findings
    resolved = resolve(run)
    look.ask(RESOLVED, resolved)
    return resolved, look.findings
