"""TrainJobs that Kueue queues: their pod sets come from their runtime."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.manifests import value_at
from trainyard.upstream.apiserver.core.shapes import Object, child, inner, text
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.webhooks.around import Review
from trainyard.upstream.apiserver.webhooks.kueue import jobs, podsets, topology
from trainyard.upstream.apiserver.webhooks.runtimes import ANCESTOR
from trainyard.upstream.apiserver.webhooks.trainer import GROUP, jobs_of, patched_jobs, runtime_of
from trainyard.upstream.workloads import carrier_of, written_object

RULE = Rule(
    "webhook/kueue-trainjob",
    "kueue v0.19.2 pkg/controller/jobs/trainjob/trainjob_webhook.go",
    title="A queued TrainJob has the jobs that its runtime's policy needs.",
    fix="label a job of the runtime as the message says, or set spec.trainer",
)

_REF: Path = ("spec", "runtimeRef")


def default(review: Review) -> bool:
    """Say that a new job always changes: the webhook adds a patch of its own, which nothing here needs to know."""
    if review.spec.get("runtimePatches", []) is None:
        review.spec["runtimePatches"] = []
    return True


def check(review: Review) -> Iterator[Problem]:
    """Yield the problems with a TrainJob; topology only where its runtime is known."""
    yield from jobs.check(review)
    runtime = runtime_of(review)
    if runtime is None:
        return
    yield from _check_panics(review.spec, runtime)
    yield from topology.check_pod_sets([*_pod_sets(review.value, runtime)], review, grouped=False)


def check_count(review: Review) -> Iterator[Problem]:
    """Yield a job with more pod sets than a Workload takes, where its runtime is known."""
    runtime = runtime_of(review)
    if runtime is not None:
        yield from podsets.check_few(review, len([*_pod_sets(review.value, runtime)]))


def _check_panics(spec: Object, runtime: Object) -> Iterator[Problem]:
    """Two runtimes make the webhook fail, which refuses the job (v0.19.2, seen on a running server)."""
    policy, name = inner(runtime, "mlPolicy"), inner(spec, "runtimeRef").get("name")
    steps = [_step(job) for job in jobs_of(runtime)]
    if child(policy, "jax") is not None and "trainer" not in steps:
        yield RULE.invalid(_REF, name, f"a JAX runtime needs a job labelled {ANCESTOR}: trainer")
    if child(policy, "flux") is not None and child(spec, "trainer") is None:
        yield RULE.required(("spec", "trainer"), "for a Flux runtime")


def _step(job: Object) -> str:
    return text(inner(job, "template", "metadata", "labels"), ANCESTOR)


def _pod_sets(value: Object, runtime: Object) -> Iterator[topology.PodSet]:
    """The pod sets that Kueue counts, each at the patch that says something of its annotations, or at the runtime."""
    there = {"apiVersion": f"{GROUP}/v1alpha1", "kind": "TrainingRuntime", "spec": runtime}
    holder = written_object(value, lambda _: there) or there
    row = carrier_of(there)
    for pods in row.pod_sets(holder) if row is not None else ():
        path = _REF
        for where, patch in patched_jobs(inner(value, "spec")):
            if text(patch, "name") == pods.name and inner(
                patch, "template", "spec", "template", "metadata", "annotations"
            ):
                path = (*where, "template", "spec", "template", "metadata")
        annotations = inner(value_at(holder, pods.template), "metadata", "annotations")
        yield topology.PodSet(pods.name, {"annotations": dict(annotations)}, path, pods.count)
