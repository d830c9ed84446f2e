"""What is wrong with one job, and its run with everything that follows from it where the job can be rendered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from trainyard.carriers.runtimes import may_name
from trainyard.clusters import of_team
from trainyard.findings import Finding
from trainyard.kinds import Resolved, all_roles, default_kind, kinds, resolve
from trainyard.launchers import launchers
from trainyard.manifests import identity_of
from trainyard.preflight import (
    amounts,
    arrays,
    attached,
    ceiling,
    checkpoints,
    claims,
    containers,
    disks,
    elastic,
    kind,
    limits,
    names,
    nvlink,
    patched,
    patches,
    rails,
    recovery,
    size,
    starts,
    users,
    variables,
    volumes,
    words,
)
from trainyard.sizing.roles import at_once
from trainyard.specs import Team
from trainyard.specs.reading import document
from trainyard.specs.run import Run, digest
from trainyard.specs.shapes import known
from trainyard.specs.sources import JobFile, Specs

NOBODY = Team(group="unknown")
"""Stands for a team whose file is missing or broken, so that sizes are looked at all the same."""


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
    run = run_of(specs, file)
    if file.job.retired:
        return (resolve(run) if run and is_known(run) and not list(size.check_counts(run)) else None), []
    by_kind = volumes.of_kind(run) if run and is_known(run) else {}
    findings = [
        *names.check_job(specs, file, broken=broken),
        *volumes.check_mounts(file, by_kind),
        *volumes.check_inside(file),
        *volumes.check_files(file),
    ]
    team, cluster = specs.teams.get(file.team), specs.clusters.get(file.job.cluster)
    if team is not None and cluster is not None:
        findings += users.check(file, team, specs.sources.get(f"team/{file.team}", file.source))
        findings += volumes.check_sources(file, team)
        findings += claims.check(specs, file, team, cluster)
        findings += volumes.check(file, team, cluster, pods=pods_that_train(run, file))
    if run is None:
        return None, findings
    found = list(kind.check_names(run))
    resolved, more = (None, []) if found else check_run(run)
    findings += [*found, *more]
    errors = any(finding.is_error and not accepted(finding) for finding in findings)
    return (None if errors or team is None else resolved), findings


def check_names(specs: Specs, jobs: Iterable[JobFile], *, broken: frozenset[str]) -> Iterator[Finding]:
    """Yield what broken jobs name that does not exist; what they ask for is unknown until they are mended."""
    missing = {rule.id for rule in names.MISSING}
    for job in jobs:
        if not job.job.retired:
            run = run_of(specs, job)
            found = [each for each in names.check_job(specs, job, broken=broken) if each.rule in missing]
            found += kind.check_names(run) if run is not None else ()
            yield from (each for each in found if document.field(each.path or "") not in job.guessed)


def run_of(specs: Specs, file: JobFile) -> Run | None:
    """Return the run of a job, or None where it names a cluster, pool or shape that does not exist."""
    job, cluster = file.job, specs.clusters.get(file.job.cluster)
    pools = {job.pool, *(role.pool for role in job.roles.values() if role.pool)}
    if cluster is None or not pools <= {name for name, pool in cluster.pools.items() if known(pool.shape)}:
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
    there = [(identity_of(each), each) for each in of_team(specs, file.job.cluster, file.team)]
    return {identity.name: each for identity, each in there if may_name(identity, file.team)}


def pods_that_train(run: Run | None, file: JobFile) -> int:
    """Return how many pods mount a job's volumes: the launcher knows which of them train, a wrong job's all count."""
    if run is None or not is_known(run):
        return file.job.nodes * at_once(file.job) + sum(role.nodes for role in file.job.roles.values())
    return sum(role.pods for role in launchers()[run.job.launcher].roles(run) if role.trains)


def is_known(run: Run) -> bool:
    """Whether the kind and the launcher of a run exist."""
    return run.kind in kinds() and run.job.launcher in launchers()


def check_run(run: Run) -> tuple[Resolved | None, list[Finding]]:
    """Return a run resolved, and what is wrong with it; kind and launcher exist."""
    carrier, launcher = kinds()[run.kind], launchers()[run.job.launcher]
    roles = all_roles(run)
    findings = [
        *kind.check_pair(run, carrier, launcher, launcher.starts(launcher.roles(run))),
        *kind.check_lengths(run, carrier, roles),
        *launcher.check(run),
    ]
    part = run.job.gpu is not None
    findings += (finding for role in roles for finding in size.check_role(role, run.source, part=part))
    if beyond := list(size.check_counts(run)):
        return None, [*findings, *beyond]
    resolved = resolve(run)
    if misshapen := list(patches.check_shapes(resolved)):
        return None, [*findings, *misshapen]
    findings += launcher.check_sized(run, resolved.sizing)
    findings += kind.check_variables(resolved)
    findings += kind.check_topology(resolved)
    findings += kind.check_runtime(resolved)
    findings += patches.check(resolved, buildable=not any(finding.is_error for finding in findings))
    findings += limits.check(resolved)
    findings += containers.check(resolved)
    findings += amounts.check(resolved)
    findings += disks.check(resolved)
    findings += rails.check(resolved)
    findings += checkpoints.check(resolved)
    findings += attached.check_job(resolved)
    findings += nvlink.check_job(resolved)
    findings += recovery.check_job(resolved)
    findings += elastic.check(resolved)
    findings += variables.check(resolved)
    findings += words.check(resolved)
    findings += arrays.check(resolved)
    findings += size.check_pods(resolved)
    findings += (finding for role in roles for finding in limits.check_numa(resolved, role))
    findings += carrier.check(resolved)
    beyond = list(ceiling.check(resolved))
    if run.job.patches and not any(finding.is_error for finding in findings):
        beyond = list(patched.check(resolved, beyond))
    findings += beyond
    if not any(finding.is_error for finding in findings):
        findings += starts.check(resolved)
    return resolved, findings
