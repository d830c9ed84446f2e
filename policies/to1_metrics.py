"""An elastic job in a queue is not scaled by metrics.

Why: The training operator makes a HorizontalPodAutoscaler of metrics, which changes the number of workers. Kueue then
 stops the job, since its pods are not those that it admitted, and queues it again.
Fix: remove metrics; with minReplicas and maxReplicas the job still survives the loss of workers.
Source: training-operator v1.9.4 pkg/controller.v1/pytorch/hpa.go; kueue v0.19.2
 pkg/controller/jobframework/reconciler.go EquivalentToWorkload
"""

from collections.abc import Iterator

from trainyard.checks import Manifest, Place, Problem, Severity, World

SEVERITY = Severity.WARNING

KINDS = ("PyTorchJob", "PaddleJob")


def check(world: World) -> Iterator[Problem]:
    """Look for metrics of elastic jobs in a queue, and for autoscalers that name such a job."""
    jobs = {(job.namespace, job.manifest.kind, job.name): job for job in world.training_jobs() if job.queue_name}
    for (_, kind, name), job in jobs.items():
        if kind in KINDS and job.manifest.get("spec", "elasticPolicy", "metrics"):
            message = f"metrics change the workers of {kind} {name!r}, and Kueue then stops and queues it again"
            place = Place(job.manifest, ("spec", "elasticPolicy", "metrics"), key=True)
            yield Problem(place, f"{message}; remove metrics")
    for scaler in world.of("HorizontalPodAutoscaler", group="autoscaling"):
        kind, name = target(scaler)
        if (scaler.namespace or "default", kind, name) in jobs:
            message = f"it changes the pods of {kind} {name!r}, and Kueue then stops and queues it again; remove it"
            yield Problem(Place(scaler, ("spec", "scaleTargetRef"), key=True), message)


def target(scaler: Manifest) -> tuple[str, str]:
    """Return kind and name of the object that an autoscaler changes."""
    return scaler.text("spec", "scaleTargetRef", "kind"), scaler.text("spec", "scaleTargetRef", "name")
