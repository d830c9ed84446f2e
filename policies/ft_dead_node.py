"""Pods that may be deleted by force when their node is dead say so, and Kueue looks for them.

Why: a pod on a node that is gone stays Terminating; its Job waits for it, nothing restarts, and the quota stays held.
Fix: annotate every pod with kueue.x-k8s.io/safe-to-forcefully-delete: "true", and set Kueue's feature gate
 FailureRecoveryPolicy.
Source: kubernetes-sigs/kueue v0.19.2 pkg/controller/failurerecovery, pkg/features/kube_features.go
"""

from collections.abc import Iterator

from trainyard.checks import Problem, Queues, Severity, World

GATE = "FailureRecoveryPolicy"
ANNOTATION = "kueue.x-k8s.io/safe-to-forcefully-delete"


def check(world: World) -> Iterator[Problem]:
    """Hold the annotation of queued pods against Kueue's gate, where what starts Kueue is among the objects."""
    on = Queues(world).gate(GATE)
    if on is None:
        return
    for job in world.training_jobs():
        for pods in job.pod_sets() if job.queue_name else ():
            marked = pods.annotations.get(ANNOTATION) == "true"
            if marked and not on:
                message = f"{ANNOTATION} does nothing while Kueue's gate {GATE} is off; turn it on"
                yield Problem(pods.place("metadata", "annotations", ANNOTATION), message)
            elif on and not marked and pods.count > 1:
                message = f"pods on a dead node are never deleted; annotate them {ANNOTATION}: 'true'"
                yield Problem(pods.place("metadata", "annotations"), message, severity=Severity.WARNING)
