"""From a job to its run: which kind carries it, and whether that kind and the launcher go together on this cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trainyard.documents import Path, format_path
from trainyard.findings import Finding, did_you_mean
from trainyard.specs import Cluster, Job
from trainyard.specs.inventory import known
from trainyard.specs.run import Run, digest
from trainyard.specs.sources import JobFile, Specs
from trainyard.workloads import Workload, launchers, workloads
from trainyard.workloads.patches import check as check_patches

LABEL = 63
"""Characters of a DNS label."""

WORKER = "worker"


def resolve(specs: Specs) -> tuple[list[Run], list[Finding]]:
    """Return a run for every job that can be rendered, retired ones included, and what is wrong with the others.

    Jobs whose cluster, team or pool does not exist are left out in silence: loading has reported them. Retired jobs
    are not checked, since nothing of them is rendered.
    """
    runs: list[Run] = []
    findings: list[Finding] = []
    for file in specs.jobs:
        run = run_of(specs, file)
        if run is None:
            continue
        found = [] if run.job.retired else list(check(run))
        findings += found
        if not any(finding.is_error for finding in found):
            runs.append(run)
    return runs, findings


def run_of(specs: Specs, file: JobFile) -> Run | None:
    """Return the run of a job, or None where it names a cluster, team, pool or shape that does not exist."""
    job = file.job
    cluster, team = specs.clusters.get(job.cluster), specs.teams.get(file.team)
    pools = {job.pool, *(role.pool for role in job.roles.values() if role.pool)}
    if cluster is None or team is None or not pools <= {name for name, pool in cluster.pools.items() if known(pool)}:
        return None
    return Run(
        job_name=file.name,
        job=job,
        team_name=file.team,
        team=team,
        cluster_name=job.cluster,
        cluster=cluster,
        kind=job.kind or default_kind(job, cluster),
        digest=digest(job, file.contents),
        source=file.source,
        contents=file.contents,
    )


def default_kind(job: Job, cluster: Cluster) -> str:
    """Return the kind of a job that names none: a JobSet restarts its gang as one, a Job can change its size."""
    return "JobSet" if "jobset" in cluster.operators and job.min_nodes is None else "Job"


def check(run: Run) -> Iterator[Finding]:
    """Yield why the run cannot be rendered."""
    names, known = launchers(), workloads()
    if run.job.launcher not in names:
        message = f"launcher {run.job.launcher!r} does not exist; {did_you_mean(run.job.launcher, names)}"
        yield finding(run, "run/launcher", message, ("launcher",))
    workload = known.get(run.kind)
    if workload is None:
        message = f"kind {run.kind!r} does not exist; {did_you_mean(run.kind, known)}"
        yield finding(run, "run/kind", message, ("kind",))
        return
    yield from check_kind(run, workload)
    if run.job.launcher in names:
        yield from check_pair(run, workload)
    yield from check_names(run, workload)
    yield from check_variables(run, workload)
    yield from check_patches(run, workload)


def check_kind(run: Run, workload: Workload) -> Iterator[Finding]:
    """Yield a kind that the cluster does not run, and what the kind cannot carry."""
    if workload.operator is not None and workload.operator not in run.cluster.operators:
        message = (
            f"kind {run.kind!r} needs operator {workload.operator!r}, which cluster {run.cluster_name!r} does not have"
            f"; kinds there: {listed(run, lambda _: True)}"
        )
        yield finding(run, "run/kind", message, ("kind",))
    if run.job.roles and not workload.several_roles:
        message = (
            f"kind {run.kind!r} has workers alone, but the job has roles {', '.join(run.job.roles)}"
            f"; kinds that can: {listed(run, lambda other: other.several_roles)}"
        )
        yield finding(run, "run/roles", message, ("roles",))
    if run.job.min_nodes is not None and not workload.elastic:
        message = (
            f"minNodes is {run.job.min_nodes}, but kind {run.kind!r} cannot change its size"
            f"; kinds that can: {listed(run, lambda other: other.elastic)}"
        )
        yield finding(run, "run/elastic", message, ("minNodes",))


def check_pair(run: Run, workload: Workload) -> Iterator[Finding]:
    """Yield a launcher that the kind cannot express, with the kinds that can."""
    launcher = run.job.launcher
    if not carries(workload, launcher):
        message = (
            f"launcher {launcher!r} cannot run in kind {run.kind!r}"
            f"; kinds that can: {listed(run, lambda other: carries(other, launcher))}"
        )
        yield finding(run, "run/pair", message, ("kind",) if run.job.kind else ("launcher",))


def check_names(run: Run, workload: Workload) -> Iterator[Finding]:
    """Yield a role whose last pod has a name that is too long to resolve."""
    counts = {WORKER: run.job.nodes, **{name: role.nodes for name, role in run.job.roles.items()}}
    for role, nodes in counts.items():
        length = len(workload.host(run.name, role, nodes - 1)) + workload.suffix
        if length > LABEL:
            message = (
                f"the name of the last pod of role {role!r} has {length} characters"
                f"; {LABEL} fit, shorten the job's or role's name"
            )
            yield finding(run, "rdv-name-len", message, ("roles", role) if role in run.job.roles else ("nodes",))


def check_variables(run: Run, workload: Workload) -> Iterator[Finding]:
    """Yield variables of the job that its operator sets: of two, one is silently ignored."""
    for field, names in (("env", run.job.env), ("secrets", run.job.secrets)):
        for name in sorted(workload.injected & set(names)):
            message = f"{field} has {name}, which kind {run.kind!r} sets itself; remove it"
            yield finding(run, "run/env", message, (field, name))


def carries(workload: Workload, launcher: str) -> bool:
    """Whether the kind can express the launcher."""
    return workload.launchers is None or launcher in workload.launchers


def listed(run: Run, can: Callable[[Workload], bool]) -> str:
    """Name the kinds of the run's cluster that can do something."""
    operators = {None, *run.cluster.operators}
    able = [name for name, each in workloads().items() if each.operator in operators and can(each)]
    return ", ".join(able) or "none on this cluster"


def finding(run: Run, rule: str, message: str, path: Path) -> Finding:
    """Return an error at a field of the job's file."""
    return Finding(rule, "run", message, run.source.location(path), path=format_path(path))
