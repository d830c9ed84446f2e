"""Whether the trackers that a job names are there, take its key, and are not switched off by its own variables."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.base.system.repository import team_file
from trainyard.judge.preflight.job.secrets import SECRET
from trainyard.judge.preflight.subjects import PLACED, OneJob
from trainyard.render.launchers.own_roles import named_variables
from trainyard.render.parts.tracking import WANDB, keys
from trainyard.specs import Cluster, Job, Team

UNKNOWN = Rule(
    id="spec/unknown-tracker",
    title="The trackers of a job are those of its cluster.",
    why="the program gets no address, and writes its metrics into the pod, where they end with it",
    fix="set tracking in the cluster's file, or remove the name from the job",
    source="docs/tracking.md; mlflow v3.17 mlflow/tracking/_tracking_service/utils.py",
)
OFFLINE = Rule(
    id="run/tracking-off",
    title="A job that names a tracker does not switch it off.",
    why="the metrics stay in the pod, whose disk is deleted with it, or nothing is recorded at all",
    fix="remove the variable, or remove the tracker from the job",
    source="wandb v0.31 wandb/sdk/wandb_settings.py mode; docs/tracking.md",
    layer="run",
    severity=Severity.WARNING,
)

OFF = {
    "WANDB_MODE": ("offline", "disabled", "dryrun"),
    "WANDB_DISABLED": ("true", "1", "on", "yes"),
}
"""Values by which Weights & Biases sends nothing (wandb v0.31 wandb_settings.py; WANDB_DISABLED is of transformers)."""


@PLACED.check()
def check(job: OneJob, team: Team, cluster: Cluster) -> Iterator[Finding]:
    """Yield trackers that the cluster lacks, keys that the team does not list, and variables that switch them off."""
    there = cluster.tracking.names if cluster.tracking else ()
    named = job.file.job.tracking
    for index, name in enumerate(named):
        if name not in there:
            hint = did_you_mean(name, there) if there else "remove it"
            message = f"cluster {job.file.job.cluster!r} has no tracker {name!r}; {hint}"
            yield UNKNOWN.at(job.file.source, ("tracking", index), message)
            continue
        for secret in secrets_of(cluster, name, job.file.job):
            if secret not in team.secrets:
                hint = did_you_mean(secret, team.secrets)
                message = f"tracker {name!r} needs secret {secret!r}, which is not listed in {team_file(job.file.team)}"
                yield SECRET.at(job.file.source, ("tracking", index), f"{message}; {hint}")
    if WANDB in named and WANDB in there:
        yield from switched_off(job)


def secrets_of(cluster: Cluster, tracker: str, job: Job) -> Iterator[str]:
    """Yield each Secret with a tracker's keys once, unless the job names another for them."""
    found = (reference for name, (reference, _) in keys(cluster, tracker).items() if name not in job.secrets)
    yield from dict.fromkeys(reference.partition("/")[0] for reference in found)


def switched_off(job: OneJob) -> Iterator[Finding]:
    """Yield variables of the job and its roles with which nothing is sent."""
    said = job.file.job
    for path, names in named_variables(said):
        values = said.env if path == ("env",) else said.roles[path[1]].env if path[0] == "roles" else {}
        for name in names:
            value = values.get(name, "")
            if value.strip().lower() in OFF.get(name, ()):
                message = f"{name} is {value!r}, but tracking names 'wandb'; remove one of them"
                yield OFFLINE.at(job.file.source, (*path, name), message)
