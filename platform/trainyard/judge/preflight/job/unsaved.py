"""Whether a run that takes many GPU-hours saves what it computes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.job.commands import texts
from trainyard.judge.preflight.jobs import is_known
from trainyard.judge.preflight.subjects import JOB, OneJob
from trainyard.render.launchers import launchers
from trainyard.render.parts import ceph_buckets
from trainyard.render.parts.buckets import used
from trainyard.render.sizing.restarts import MONTH
from trainyard.specs import Job
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.run import Run

UNSAVED = Rule(
    id="ckp-none",
    title="A run of many GPU-hours saves checkpoints.",
    why="whatever stops its pods, a lost node or the deadline, loses all of its work",
    fix="add checkpoint, and maxHours; waive this if the program saves elsewhere, or must not be resumed",
    source="docs/jobs.md; docs/failures.md; kueue v0.19.2 pkg/scheduler/preemption/preemption.go",
    layer="run",
    severity=Severity.WARNING,
)

SERVING = frozenset({"LeaderWorkerSet", "RayCluster"})
"""Kinds that never complete: what they run serves, or is worked with, and has nothing to resume."""

ELSEWHERE = re.compile(
    r"\b(?:s3a?|gs|gcs|r2|oci|abfss?|wasbs?|azureml|hdfs|dbfs|hf|oss|cos|ceph|swift|tos)://|push[-_]to[-_]hub|\.blob\.core\.",
    re.IGNORECASE,
)
"""A store that no volume is: its address, or the option by which Hugging Face's trainer uploads what it saves."""

STORES = re.compile(
    r"AWS_|S3_|MINIO|GOOGLE_APPLICATION|GCS_|AZURE_|RCLONE|WANDB_LOG_MODEL|CLEARML|MLFLOW|COMET_|NEPTUNE_"
)
"""Variables that give access to such a store, or tell a tracker to keep what is saved."""

VOLATILE = frozenset({"emptyDir", "configMap", "secret", "downwardAPI", "projected"})
"""Volumes that are gone with their pod, or cannot be written."""


@JOB.check()
def check(one: OneJob) -> Iterator[Finding]:
    """Yield a run without a checkpoint that takes more GPU-hours than the repository allows for that."""
    run = one.run
    if run is None or not is_known(run) or run.kind in SERVING or run.job.gpu is not None:
        return
    if saves(run.job) or writes_bucket(run):
        return
    roles = [role for role in launchers()[run.job.launcher].roles(run) if role.trains]
    if "repository" in one.broken or any(role.nodes > role.pool.nodes for role in roles):
        return  # the bound, or the size, is wrong: that is said elsewhere
    gpus = sum(role.nodes * role.gpus for role in roles)
    hours = run.job.max_hours
    if gpus and (spent := gpus * (hours or MONTH)) > (bound := one.specs.repository.unsaved_gpu_hours) / 2:
        why = stopped_by(run, run.cluster, {role.pool_name for role in roles})
        if spent <= bound and not why:
            return
        count = "1 GPU" if gpus == 1 else f"{gpus} GPUs"
        takes = f"{count} for {hours:g} hour{'' if hours == 1 else 's'}" if hours else f"{count} without a deadline"
        cause = f", and {why}" if why else ""
        field = "maxHours" if hours else "gpusPerNode"
        add = "add checkpoint" if hours else "add checkpoint and maxHours"
        yield UNSAVED.at(run.source, (field,), f"the job takes {takes} and saves nothing{cause}; {add}")


def saves(job: Job) -> bool:
    """Say whether a job may save somewhere: at its checkpoint, in a volume that it writes, or in a store elsewhere."""
    written = any(not data.read_only for data in job.data)
    own = any(VOLATILE.isdisjoint(volume) and not ephemeral(volume) for volume in job.volumes)
    patched = any("volumes" in str(patch.merge) for patch in job.patches)
    keys = job.env_from or any(STORES.match(name) for name in (*job.env, *job.secrets))
    access = job.service_account or keys
    named = any(ELSEWHERE.search(text) for _, text in texts(job))
    beside = any(ELSEWHERE.search(str(container)) for container in (*job.containers, *job.init_containers))
    return bool(job.checkpoint or job.runtime or written or own or patched or access or named or beside)


def writes_bucket(run: Run) -> bool:
    """Say whether a run uses a bucket that its team may write to; those of Ceph it always may."""
    return ceph_buckets.opened(run) is not None or any(
        bucket.teams.get(run.team_name) == "write" for _, bucket in used(run)
    )


def ephemeral(volume: Mapping[str, Any]) -> bool:
    """Say whether a volume is a claim that is gone with its pod."""
    return "ephemeral" in volume


def stopped_by(run: Run, cluster: Cluster, pools: set[str]) -> str:
    """Return who may stop a run while it trains, in words; empty where nobody may."""
    for pool in sorted(pools):
        if cluster.pools[pool].spot:
            return f"nodes of pool {pool!r} are spot"
    queue = cluster.queues.get(run.job.queue)
    if queue is None or queue.scheduler != "kueue":
        return ""
    mine = cluster.priorities.get(run.job.priority or "", 0)
    above = any(value > mine for value in cluster.priorities.values())
    within = queue.preemption.within_cluster_queue
    if within == "LowerOrNewerEqualPriority" or (within == "LowerPriority" and above):
        return f"queue {run.job.queue!r} preempts jobs of lower priority"
    if queue.cohort is None:
        return ""
    for name, other in cluster.queues.items():
        reclaims = other.preemption.reclaim_within_cohort
        near = name != run.job.queue and other.cohort == queue.cohort and not pools.isdisjoint(other.nominal_quota)
        if near and (reclaims == "Any" or (reclaims == "LowerPriority" and above)):
            return f"queue {name!r} may take back the quota that it lends"
    return ""
