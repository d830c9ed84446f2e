"""Whether pods may run as the user that they are to be."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import PLACED, OneJob
from trainyard.specs import Cluster, Team

ROOT = Rule(
    id="spec/root",
    title="A job runs as root only if its team's podSecurity allows this.",
    why="the level restricted refuses user 0, so no pod is created",
    fix="use another user, or give the team the level baseline on that cluster",
    source="kubernetes/pod-security-admission v0.35 policy/check_runAsUser.go",
)


@PLACED.check()
def check(job: OneJob, team: Team, _: Cluster) -> Iterator[Finding]:
    """Yield root where the team's namespace refuses it, at whoever says it."""
    file, source = job.file, job.specs.sources.get(f"team/{job.file.team}", job.file.source)
    user, level = file.job.run_as_user, team.level_on(file.job.cluster)
    said = user if user is not None else team.run_as_user
    if said == 0 and level == "restricted":
        message = (
            f"runAsUser is 0, but podSecurity of team {file.team!r} is {level} on cluster {file.job.cluster!r}; use "
            "another user"
        )
        yield ROOT.at(source if user is None else file.source, ("runAsUser",), message)
