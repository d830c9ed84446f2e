"""Jobs that Kueue queues: batch Jobs, JobSets, TrainJobs, MPIJobs, Kubeflow's jobs and AppWrappers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trainyard.base.labels import ELASTIC
from trainyard.upstream.apiserver.core.shapes import Object, inner, number
from trainyard.upstream.apiserver.problems import Problem, Rule
from trainyard.upstream.apiserver.webhooks import golang
from trainyard.upstream.apiserver.webhooks.around import Review, annotations_of
from trainyard.upstream.apiserver.webhooks.kueue import gates, labels, podsets, suspend, topology
from trainyard.upstream.kueue.scope import JOBS
from trainyard.upstream.workloads import carrier_of, pods_of_job
from trainyard.upstream.workloads.integration import Integration
from trainyard.upstream.workloads.kubernetes import made_job

BATCH = Rule(
    "webhook/kueue-batch-job",
    "kueue v0.19.2 pkg/controller/jobs/job/job_webhook.go",
    title="The Kueue annotations of a queued Job suit its parallelism and completions.",
    fix="set job-min-parallelism below parallelism; restore fields that may not change while the Job runs",
)

MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"
EQUAL = "kueue.x-k8s.io/job-completions-equal-parallelism"


def check(review: Review) -> Iterator[Problem]:
    """Yield the problems with a job of a kind that Kueue queues by these rules."""
    row = carrier_of(review.value)
    integration = row.queueing if row is not None else None
    if integration is None:
        raise LookupError(f"no row says what Kueue's integration of {review.value.get('kind')} takes")
    if review.old is None or integration.created_again:
        yield from check_create(review, integration)
    if review.old is not None:
        yield from check_update(review, integration)
    yield from topology.check_pod_sets(podsets.of(review.value), review, grouped=integration.grouped)
    if review.value.get("kind") == "Job":
        yield from _check_batch(review)


def reconcile_cron_job(review: Review) -> Iterator[Problem]:
    """Yield why Kueue refuses each Job that a CronJob makes, which then never runs."""
    scope = review.around.scope
    if not scope.integrates(JOBS) or review.around.is_managed(review.namespace) is False:
        return
    own = {"name": review.name, "namespace": review.namespace}
    made = made_job({"metadata": own, "spec": review.value.get("spec")})
    for problem in check(replace(review, value=made, old=None, given=None)):
        message = f"no Job of this CronJob is created: {problem.message}"
        yield replace(problem, path=("spec", "jobTemplate", *problem.path), message=message)


def check_create(review: Review, integration: Integration) -> Iterator[Problem]:
    """Yield labels and annotations that no job may be created with."""
    value = review.value
    yield from labels.check_queue_name(value)
    yield from labels.check_prebuilt(value, supported=integration.prebuilt)
    yield from labels.check_max_time(value)
    yield from labels.check_elastic(value, supported=integration.elastic)
    yield from labels.check_gates(review)


def check_update(review: Review, integration: Integration) -> Iterator[Problem]:
    """Yield changes that are refused, most of them only while the job runs."""
    old = review.old or {}
    was, now = suspend.before(review), suspend.now(review)
    yield from labels.check_queue_kept(review, suspended=now)
    if now or labels.elastic(old):
        if not integration.created_again:
            yield from labels.check_prebuilt(review.value, supported=integration.prebuilt)
    elif labels.prebuilt_of(review.value)[0] != labels.prebuilt_of(old)[0]:
        name, path = labels.prebuilt_of(review.value)
        yield labels.JOB.invalid(path, name, "field is immutable")
    if not (now and was):
        yield from labels.check_label_kept(review, labels.MAX_TIME)
    yield from labels.check_priority_kept(review, suspended=now)
    if labels.elastic(old) != labels.elastic(review.value):
        path = labels.annotation_path(ELASTIC)
        yield labels.JOB.invalid(path, labels.elastic(review.value), "field is immutable")
    yield from labels.check_gates_kept(review)
    if not integration.created_again:
        yield from labels.check_gates(review)


def _check_batch(review: Review) -> Iterator[Problem]:
    """A Job may say how few pods it can do with, and that its completions follow its parallelism."""
    spec, found = review.spec, annotations_of(review.value)
    before = annotations_of(review.old or {})
    if MIN_PARALLELISM in found and (review.old is None or found[MIN_PARALLELISM] != before.get(MIN_PARALLELISM)):
        yield from _check_minimum(review.value, str(found[MIN_PARALLELISM]))
    if EQUAL in found:
        yield from _check_equal(spec, str(found[EQUAL]))
    yield from _check_elastic_topology(review)
    if review.old is None:
        return
    was, now = suspend.before(review), suspend.now(review)
    if MIN_PARALLELISM in before and not was and number(spec, "parallelism") != number(review.old_spec, "parallelism"):
        yield BATCH.forbidden(("spec", "parallelism"), "cannot change while a job with partial admission runs")
    if not was and not now and _equal(found) != _equal(before):
        yield BATCH.forbidden(labels.annotation_path(EQUAL), "field is immutable while the job runs")


def _equal(found: Object) -> bool:
    return golang.boolean(str(found.get(EQUAL) or "")) is True


def _check_minimum(value: Object, written: str) -> Iterator[Problem]:
    path = labels.annotation_path(MIN_PARALLELISM)
    pods = pods_of_job(inner(value, "spec"))
    minimum = golang.integer(written)
    if minimum is None:
        yield BATCH.invalid(path, written, "must be a number")
    elif minimum <= 0 or minimum >= pods:
        yield BATCH.invalid(path, written, f"must be between 1 and {pods - 1}")
    if labels.elastic(value):
        yield BATCH.invalid(path, written, "cannot be set on an elastic job")


def _check_equal(spec: Object, written: str) -> Iterator[Problem]:
    path = labels.annotation_path(EQUAL)
    enabled = golang.boolean(written)
    if enabled is None:
        yield BATCH.invalid(path, written, "must be a boolean value")
    if not enabled:
        return
    if spec.get("completionMode") in (None, "NonIndexed"):
        yield BATCH.invalid(path, written, "must not be enabled for NonIndexed jobs")
    parallelism, completions = number(spec, "parallelism"), number(spec, "completions")
    if (1 if parallelism is None else parallelism) != (1 if completions is None else completions):
        detail = f"must be equal to parallelism when {EQUAL} is true"
        yield BATCH.invalid(("spec", "completions"), spec.get("completions"), detail)


def _check_elastic_topology(review: Review) -> Iterator[Problem]:
    if not (labels.resizes(review) and gates.enabled(review, "TopologyAwareScheduling")):
        return
    for pod_set in podsets.of(review.value):
        for key in (topology.REQUIRED, topology.PREFERRED):
            if key in pod_set.annotations:
                yield BATCH.forbidden((*pod_set.path, "annotations", key), "not supported with elastic jobs")
