"""Which pod sets Kueue makes of a job: the templates, and how many pods of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trainyard.apiserver.core.shapes import Object, child, each, inner, number, text
from trainyard.apiserver.problems import Path
from trainyard.apiserver.webhooks.kueue.topology import PodSet

MAX = 18
"""Pod sets of one Workload (kueue v0.19.2 pkg/controller/jobframework/constants.go)."""

PodSets = Callable[[Object], Sequence[PodSet]]


def of_job(value: Object) -> Sequence[PodSet]:
    """The one pod set of a Job."""
    spec = inner(value, "spec")
    template = inner(spec, "template")
    return (PodSet("main", inner(template, "metadata"), ("spec", "template", "metadata"), pods_of_job(spec)),)


def pods_of_job(spec: Object) -> int:
    """How many pods of a Job run at once."""
    parallelism = number(spec, "parallelism")
    pods = 1 if parallelism is None else parallelism
    completions = number(spec, "completions")
    return pods if completions is None else min(pods, completions)


def of_job_set(value: Object) -> Sequence[PodSet]:
    """One pod set for each replicated job of a JobSet."""
    found = []
    for index, job in each(inner(value, "spec"), "replicatedJobs"):
        spec = inner(job, "template", "spec")
        replicas = number(job, "replicas")
        path: Path = ("spec", "replicatedJobs", index, "template", "spec", "template", "metadata")
        pods = (1 if replicas is None else replicas) * pods_of_job(spec)
        found.append(PodSet(text(job, "name"), inner(spec, "template", "metadata"), path, pods))
    return found


def of_replicas(field: str, order: tuple[str, ...]) -> PodSets:
    """A reader of jobs that keep replicas by role in a map: one pod set for each role that Kueue knows."""

    def pod_sets(value: Object) -> Sequence[PodSet]:
        specs = inner(value, "spec", field)
        found = []
        for role in order:
            if (spec := child(specs, role)) is None:
                continue
            replicas = number(spec, "replicas")
            path: Path = ("spec", field, role, "template", "metadata")
            count = 1 if replicas is None else replicas
            found.append(PodSet(role.lower(), inner(spec, "template", "metadata"), path, count))
        return found

    return pod_sets


def of_ray_cluster(spec: Object, path: Path) -> Sequence[PodSet]:
    """The head and the worker groups of a RayCluster's specification."""
    head = inner(spec, "headGroupSpec", "template", "metadata")
    found = [PodSet("head", head, (*path, "headGroupSpec", "template", "metadata"), 1)]
    for index, group in each(spec, "workerGroupSpecs"):
        replicas, hosts = number(group, "replicas"), number(group, "numOfHosts") or 1
        pods = (1 if replicas is None else replicas) * max(hosts, 1)
        at: Path = (*path, "workerGroupSpecs", index, "template", "metadata")
        found.append(PodSet(text(group, "groupName").lower(), inner(group, "template", "metadata"), at, pods))
    return found


def of_lws(value: Object) -> Sequence[PodSet]:
    """The leader and the workers of one group of a LeaderWorkerSet."""
    template = inner(value, "spec", "leaderWorkerTemplate")
    size = number(template, "size")
    pods = 1 if size is None else size
    at: Path = ("spec", "leaderWorkerTemplate")
    leader = child(template, "leaderTemplate")
    workers = inner(template, "workerTemplate", "metadata")
    if leader is None:
        return (PodSet("main", workers, (*at, "workerTemplate", "metadata"), pods),)
    return (
        PodSet("leader", inner(leader, "metadata"), (*at, "leaderTemplate", "metadata"), 1),
        PodSet("worker", workers, (*at, "workerTemplate", "metadata"), pods - 1),
    )


def nothing(_: Object) -> Sequence[PodSet]:
    """No pod sets: the kind's templates are not looked at."""
    return ()
