"""RayClusters, RayJobs and RayServices that Kueue queues."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from trainyard.base.labels import ELASTIC, QUEUE
from trainyard.upstream.apiserver.core.shapes import Object, below, child, count, each, flag, inner, text
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.webhooks.around import Review, annotations_of, labels_of
from trainyard.upstream.apiserver.webhooks.kueue import gates, jobs, labels, podsets, topology
from trainyard.upstream.workloads import carrier
from trainyard.upstream.workloads.integration import OF_RAY

CLUSTER = Rule(
    "webhook/kueue-ray-cluster",
    "kueue v0.19.2 pkg/controller/jobs/raycluster/raycluster_webhook.go",
    title="A RayCluster in a queue has a form that Kueue can manage.",
    fix="rename the worker group that is called head; remove autoscaling, or make the cluster elastic",
)
JOB = Rule(
    "webhook/kueue-ray-job",
    "kueue v0.19.2 pkg/controller/jobs/rayjob/rayjob_webhook.go",
    title="A queued RayJob brings its own cluster and deletes it at the end.",
    fix="remove clusterSelector, and set shutdownAfterJobFinishes: true",
)
SERVICE = Rule(
    "webhook/kueue-ray-service",
    "kueue v0.19.2 pkg/controller/jobs/rayservice/rayservice_webhook.go",
    title="A RayService in a queue has a form that Kueue can manage.",
    fix="rename the worker group that is called head; remove autoscaling, or make the cluster elastic",
)

_GATE = "kueue.x-k8s.io/elastic-job"
_RULES = {"RayCluster": CLUSTER, "RayJob": JOB, "RayService": SERVICE}
_ROWS = [row for kind in _RULES if (row := carrier("ray.io", kind)) is not None]
_CLUSTERS = {row.kind: head.holder[:-1] for row in _ROWS if (head := row.template("head")) is not None}
"""By kind: where the specification of the cluster stands, which is what holds the head's group."""


def check(review: Review) -> Iterator[Problem]:
    """Yield the problems with a Ray object; an update is judged only if one of the two is queued."""
    kind = str(review.value.get("kind"))
    created = review.old is None and labels.queue_of(review.value, review.around)
    managed = created or labels_of(review.value).get(QUEUE) or labels.holds_unqueued(review.value, review.around)
    if review.old is not None:
        managed_before = gates.enabled(review, "ValidateRayAndSparkJobUpdates") and labels_of(review.old).get(QUEUE)
        if not managed and not managed_before:
            return
        yield from jobs.check_update(review, OF_RAY)
    if kind == "RayJob" and managed and not _judged(review.spec):
        if review.old is not None:
            yield from labels.check_prebuilt(review.value, supported=True)
        yield from _check_source(review.spec)
        return
    if managed:
        yield from _check_queued(review, kind)
    yield from _check_containers(review, kind)
    yield from jobs.check_create(review, OF_RAY)
    yield from topology.check_pod_sets(_pod_sets(review.value, kind), review, grouped=True)


def _judged(spec: Object) -> bool:
    """Whether a RayJob makes its own cluster, and nothing else: only then the rest is looked at."""
    return child(spec, "rayClusterSpec") is not None and not inner(spec, "clusterSelector")


def _check_source(spec: Object) -> Iterator[Problem]:
    if inner(spec, "clusterSelector"):
        if child(spec, "rayClusterSpec") is not None:
            detail = "a job managed by Kueue must not use an existing cluster"
            yield JOB.invalid(("spec", "clusterSelector"), spec["clusterSelector"], detail)
        return
    yield JOB.required(("spec", "rayClusterSpec"), "for a queued RayJob without a clusterSelector")


def _check_containers(review: Review, kind: str) -> Iterator[Problem]:
    """The webhook counts on the head's first container, and fails without one where it reads it."""
    path: Path = (*_CLUSTERS[kind], "headGroupSpec", "template", "spec", "containers")
    cluster = below(review.value, _CLUSTERS[kind])
    if (kind == "RayJob" and not cluster) or count(below(review.value, path[:-1]), "containers"):
        return
    marked = str(annotations_of(review.value).get("ray.io/ft-enabled") or "").lower() == "true"
    submits = kind == "RayJob" and text(review.spec, "submissionMode") == "K8sJobMode"
    if marked or child(cluster, "gcsFaultToleranceOptions") is not None:
        yield CLUSTER.required(path, "fault tolerance needs the Ray container")
    elif submits and child(review.spec, "submitterPodTemplate") is None:
        yield JOB.required(path, "the submitter pod uses the image of the head container")


def _check_queued(review: Review, kind: str) -> Iterator[Problem]:
    path = _CLUSTERS[kind]
    spec = below(review.value, path)
    rule = _RULES[kind]
    if kind == "RayJob" and not flag(review.spec, "shutdownAfterJobFinishes"):
        detail = "a job managed by Kueue must delete its cluster after finishing"
        yield rule.invalid(("spec", "shutdownAfterJobFinishes"), False, detail)  # the value shown
    if flag(spec, "enableInTreeAutoscaling"):
        if not labels.resizes(review):
            detail = f"a queued cluster may scale itself only with {ELASTIC}: 'true'"
            yield rule.invalid((*path, "enableInTreeAutoscaling"), True, detail)  # the value shown
        elif kind == "RayCluster" and text(spec, "managedBy") == "kueue.x-k8s.io/multikueue":
            yield rule.forbidden((*path, "enableInTreeAutoscaling"), "MultiKueue does not support autoscaling")
    if kind == "RayCluster" and review.old is not None and labels.resizes(review):
        yield from _check_elastic(spec)
    groups = each(spec, "workerGroupSpecs")
    most = podsets.most(review)
    if len(groups) + 1 > most:
        yield rule.too_many((*path, "workerGroupSpecs"), len(groups) + 1, most)
    for index, group in groups:
        if text(group, "groupName") == "head":
            yield rule.forbidden(
                (*path, "workerGroupSpecs", index, "groupName"),
                "'head' is the name of the head group; use another name",
            )


def _check_elastic(spec: Object) -> Iterator[Problem]:
    """The webhook gates an elastic cluster's pods on create alone; an apply takes the gates out of the list again."""
    for index, group in each(spec, "workerGroupSpecs"):
        pod = inner(group, "template", "spec")
        if _GATE not in {text(gate, "name") for _, gate in each(pod, "schedulingGates")}:
            path: Path = ("spec", "workerGroupSpecs", index, "template", "spec", "schedulingGates")
            yield CLUSTER.required(path, f"an elastic cluster must keep the gate {_GATE!r}")


def _pod_sets(value: Object, kind: str) -> Sequence[topology.PodSet]:
    """The pod sets of the cluster; of RayJobs and RayServices the first of a name is counted for all of that name."""
    path = _CLUSTERS[kind]
    found = [pod_set for pod_set in podsets.of(value) if pod_set.path[: len(path)] == path]
    if kind == "RayCluster":
        return found
    counts = {pod_set.name: pod_set.count for pod_set in reversed(found)}
    return [replace(pod_set, count=counts[pod_set.name]) for pod_set in found]
