"""What an array of independent indices cannot have: anything that ties its pods together."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.documents import Path
from trainyard.findings import Finding, Severity
from trainyard.kinds import Resolved
from trainyard.operators.kueue import Kueue, short_of_pods
from trainyard.quantities import duration_text
from trainyard.rules import Rule
from trainyard.sizing.roles import at_once
from trainyard.specs import Array, Job

ALONE = Rule(
    id="run/array",
    title="Indices of an array are pods that need nothing of each other.",
    why="each index begins, fails and is tried again by itself, so that no gang ever meets",
    fix="remove array, or what needs a gang; gangs for each of many settings are a sweep in Python",
    source="kubernetes v1.35 staging/src/k8s.io/api/batch/v1/types.go backoffLimitPerIndex; docs/jobs.md",
    layer="run",
)
MANY = Rule(
    id="run/array-size",
    title="An array has at most as many indices as one Job may have with retries of their own.",
    why="the API server refuses a Job of more, unless it fails as a whole after some of them and runs few at a time",
    fix="write several jobs, each for a part of the indices",
    source="kubernetes v1.35 pkg/apis/batch/validation/validation.go completionsSoftLimit",
    layer="run",
)
SHORT = Rule(
    id="kq-recovery-array",
    title="An array whose last indices run is not taken for a gang that is short of pods.",
    why="Kueue counts pods that run or have succeeded; indices that have failed are neither, and it stops the rest",
    fix="set recoveryMinutes: 0 in the cluster's file, or lower parallel",
    source="kueue v0.19.2 pkg/controller/jobs/job/job_controller.go PodsReady, pkg/controller/core",
    layer="queueing",
    severity=Severity.WARNING,
)

MOST = 100_000
"""Indices above which a Job has to say maxFailedIndexes (kubernetes v1.35 pkg/apis/batch/validation/validation.go)."""


def check(run: Resolved) -> Iterator[Finding]:
    """Yield what does not go with an array, and one that Kueue stops when some of its indices have failed."""
    job, source = run.run.job, run.run.source
    if job.array is None:
        return
    if job.array.of > MOST:
        message = f"array has {job.array.of} indices, but one Job has at most {MOST}; write several jobs"
        yield MANY.at(source, ("array", "of"), message)
        return
    if job.array.parallel is not None and job.array.parallel > job.array.of:
        message = f"array runs {job.array.parallel} indices at once, but has {job.array.of}; lower parallel"
        yield ALONE.at(source, ("array", "parallel"), message)
    for path, said in gang(job):
        yield ALONE.at(source, path, f"{said}, but indices of an array are pods by themselves; remove one")
    yield from check_recovery(run, job.array)


def gang(job: Job) -> Iterator[tuple[Path, str]]:
    """Yield the fields of a job that speak of several pods together, each with what it says."""
    if job.nodes > 1:
        yield ("nodes",), f"nodes is {job.nodes}"
    if job.roles:
        yield ("roles",), f"roles has {', '.join(job.roles)}"
    if job.min_nodes is not None:
        yield ("minNodes",), f"minNodes is {job.min_nodes}"
    if job.topology is not None:
        yield ("topology",), f"topology asks for one {job.topology.level}"


def check_recovery(run: Resolved, array: Array) -> Iterator[Finding]:
    """Yield an array of which a few failed indices leave fewer pods than Kueue expects for as long as it runs."""
    cluster, parallel = run.run.cluster, at_once(run.run.job)
    spare = array.of - parallel
    left = short_of_pods(cluster) if Kueue.name in cluster.operators else 0
    if left and parallel > 1 and 0 <= spare < parallel:
        failed = "one index has" if spare == 0 else f"{spare + 1} indices have"
        message = (
            f"once {failed} failed for good, Kueue stops the others after {duration_text(left)}"
            f"; write parallel: {max(1, array.of // 2)} or less"
        )
        yield SHORT.at(run.run.source, ("array",), message)
