"""What an array of independent indices cannot have: anything that ties its pods together."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.quantities import duration_text
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved
from trainyard.render.operators.kueue import Kueue, short_of_pods
from trainyard.render.sizing.roles import at_once
from trainyard.specs import Job

ALONE = Rule(
    id="run/array",
    title="The pods of an array are independent of each other.",
    why="every index starts, fails and retries alone, so its pods can never form a gang",
    fix="remove array, or the field that needs a gang; for a sweep over multi-node jobs write a job file in Python",
    source="kubernetes v1.35 staging/src/k8s.io/api/batch/v1/types.go backoffLimitPerIndex; docs/jobs.md",
    layer="run",
)
MANY = Rule(
    id="run/array-size",
    title="An array has at most as many indices as one Kubernetes Job may have.",
    why=(
        "the API server refuses a larger Job, unless the whole Job fails after some failed indices and runs few at "
        "a time"
    ),
    fix="split the array into several jobs",
    source="kubernetes v1.35 pkg/apis/batch/validation/validation.go completionsSoftLimit",
    layer="run",
)
SHORT = Rule(
    id="kq-recovery-array",
    title="Kueue does not stop the last indices of an array because others have failed.",
    why="Kueue counts running and succeeded pods; failed indices are neither, so it stops the rest as not ready",
    fix="set recoveryMinutes: 0 in the cluster's file, or lower parallel",
    source="kueue v0.19.2 pkg/controller/jobs/job/job_controller.go PodsReady, pkg/controller/core",
    layer="queueing",
    severity=Severity.WARNING,
)

MOST = 100_000
"""Indices above which a Job has to say maxFailedIndexes (kubernetes v1.35 pkg/apis/batch/validation/validation.go)."""


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield the findings on fields that do not go with an array."""
    job, source = run.run.job, run.run.source
    if job.array is None:
        return
    if job.array.of > MOST:
        message = (
            f"array.of is {job.array.of}, but a Kubernetes Job has at most {MOST} indices; split it into several jobs"
        )
        yield MANY.at(source, ("array", "of"), message)
        return
    if job.array.parallel is not None and job.array.parallel > job.array.of:
        message = f"array.parallel is {job.array.parallel}, but array.of is {job.array.of}; lower parallel"
        yield ALONE.at(source, ("array", "parallel"), message)
    for path, said in gang(job):
        yield ALONE.at(source, path, f"{said}, but the pods of an array are independent; remove it or array")


def gang(job: Job) -> Iterator[tuple[Path, str]]:
    """Yield the fields of a job that speak of several pods together, each with what it says."""
    if job.nodes > 1:
        yield ("nodes",), f"nodes is {job.nodes}"
    if job.roles:
        yield ("roles",), f"roles has {', '.join(job.roles)}"
    if job.min_nodes is not None:
        yield ("minNodes",), f"minNodes is {job.min_nodes}"
    if job.topology is not None:
        yield ("topology",), f"topology requires one {job.topology.level}"


@RESOLVED.check(after=("size.check_pods",))
def check_recovery(run: Resolved) -> Iterator[Finding]:
    """Yield an array of which a few failed indices leave fewer pods than Kueue expects for as long as it runs.

    Where its pool cannot hold as many pods at once, that says what to set.
    """
    array, cluster, parallel = run.run.job.array, run.run.cluster, at_once(run.run.job)
    if array is None or array.of > MOST:
        return
    spare = array.of - parallel
    left = short_of_pods(cluster) if Kueue.name in cluster.operators else 0
    if left and parallel > 1 and 0 <= spare < parallel:
        failed = "one index has" if spare == 0 else f"{spare + 1} indices have"
        message = (
            f"once {failed} failed for good, Kueue stops the others after {duration_text(left)}"
            f"; set parallel to {max(1, array.of // 2)} or less"
        )
        yield SHORT.at(run.run.source, ("array",), message)
