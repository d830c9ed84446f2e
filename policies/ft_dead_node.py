"""Kueue must be able to delete pods of a dead node.

Why: A pod on a lost node stays Terminating. Its Job waits for it: nothing restarts, and the quota stays in use. Kueue
 deletes only annotated pods, and only with its feature gate on.
Fix: annotate every pod with kueue.x-k8s.io/safe-to-forcefully-delete: "true", and turn on Kueue's feature gate
 FailureRecoveryPolicy.
Source: kubernetes-sigs/kueue v0.19.2 pkg/controller/failurerecovery, pkg/features/kube_features.go
"""

from collections.abc import Iterator

from trainyard.checks import Problem, Queues, Severity, World

GATE = "FailureRecoveryPolicy"
ANNOTATION = "kueue.x-k8s.io/safe-to-forcefully-delete"


def check(world: World) -> Iterator[Problem]:
    """Compare the annotation of queued pods with Kueue's gate, if Kueue's settings are among the objects."""
    on = Queues(world).gate(GATE)
    if on is None:
        return
    for job in world.training_jobs():
        for pods in job.pod_sets() if job.queue_name else ():
            annotated = pods.annotations.get(ANNOTATION) == "true"
            if annotated and not on:
                message = f"{ANNOTATION} has no effect while Kueue's feature gate {GATE} is off; turn it on"
                yield Problem(pods.place("metadata", "annotations", ANNOTATION), message)
            elif on and not annotated and pods.count > 1:
                message = f"Kueue never deletes these pods from a dead node; annotate them with {ANNOTATION}: 'true'"
                yield Problem(pods.place("metadata", "annotations"), message, severity=Severity.WARNING)
