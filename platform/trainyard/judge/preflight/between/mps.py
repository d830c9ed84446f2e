"""Whether jobs that share GPUs by MPS run as one user."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.base.system import reads
from trainyard.judge.preflight.subjects import BETWEEN
from trainyard.render.parts.security import USER
from trainyard.specs import Team
from trainyard.specs.load import Loaded
from trainyard.specs.sources import JobFile, Specs

USERS = Rule(
    id="gpu-mps-users",
    title="Jobs on a pool that shares GPUs by MPS run as one user.",
    why="a node's MPS daemon serves one user at a time, so programs of another wait until all others have ended",
    fix="set one runAsUser for all of them, or give each user a pool of its own",
    source="NVIDIA nvidia-cuda-mps-control(1); NVIDIA/k8s-device-plugin v0.20.0 cmd/mps-control-daemon",
    layer="run",
    severity=Severity.WARNING,
)


@BETWEEN.check()
def check(loaded: Loaded) -> Iterator[Finding]:
    """Yield jobs on pools with MPS that run as another user than the first one there."""
    specs = loaded.specs
    first: dict[tuple[str, str], tuple[str, int]] = {}
    for file in sorted(specs.jobs, key=lambda file: (file.team, file.name)):
        if file.job.retired or not mps_pools(specs, file):
            continue
        with reads.about(file.source.file):
            reads.forget()  # what is said of it follows from the files of other jobs
        user = user_of(file, specs.teams.get(file.team))
        for pool in mps_pools(specs, file):
            name, other = first.setdefault((file.job.cluster, pool), (f"{file.team}/{file.name}", user))
            if user != other:
                message = (
                    f"the job runs as user {user}, but {name} shares pool {pool!r} by MPS as user {other}; use one user"
                )
                yield USERS.at(file.source, ("runAsUser",), message)
                break


def mps_pools(specs: Specs, file: JobFile) -> list[str]:
    """Return the pools on which a job asks for a part of a GPU that MPS serves."""
    cluster = specs.clusters.get(file.job.cluster)
    if cluster is None or file.job.gpu is None or not file.job.gpu.shared:
        return []
    there = ((name, cluster.pools.get(name)) for name in file.job.named_pools)
    return [name for name, pool in there if pool and pool.sharing and pool.sharing.by == "mps"]


def user_of(file: JobFile, team: Team | None) -> int:
    """Return the user that a job's program is, by the job, its team or Trainyard's default."""
    if file.job.run_as_user is not None:
        return file.job.run_as_user
    return team.run_as_user if team is not None and team.run_as_user is not None else USER
