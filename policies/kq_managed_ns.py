"""Kueue looks at the namespace of every object that names a queue.

Why: In a namespace that managedJobsNamespaceSelector does not select the label does nothing. A job starts at once,
 outside of every quota, and no webhook of Kueue checks it.
Fix: give the namespace the labels that the selector needs, or select it in Kueue's configuration.
Source: kubernetes-sigs/kueue v0.19.2 pkg/controller/jobframework/reconciler.go, charts/kueue/templates/webhook
"""

from collections.abc import Iterator

from trainyard.checks import QUEUE_LABEL, Place, Problem, Queues, Severity, World, all_workloads

SEVERITY = Severity.ERROR
LABELS = ("metadata", "labels", QUEUE_LABEL)


def check(world: World) -> Iterator[Problem]:
    """Look at namespaces whose labels are known, as far as Kueue's configuration is."""
    queues = Queues(world)
    if queues.scope.namespaces is None:
        return
    seen: set[int] = set()
    for job in (*all_workloads(world), *world.queued()):
        name = job.manifest.get(*LABELS)
        if id(job.manifest) in seen or job.carrier.framework is None or not isinstance(name, str):
            continue
        seen.add(id(job.manifest))
        if job.manifest.holder is None and not queues.is_selected(job.namespace):
            message = f"queue {name!r} has no effect: Kueue does not select namespace {job.namespace!r}; label it"
            severity = SEVERITY if job.carrier.trains else Severity.WARNING
            yield Problem(Place(job.manifest, LABELS), message, severity=severity)
