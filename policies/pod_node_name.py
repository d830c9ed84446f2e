"""Pods of a job leave the choice of their node to a scheduler.

Why: With nodeName no scheduler looks at a pod. All pods go to that node, which refuses those it has no room for. The
 API server refuses pods that Kueue holds back until it has chosen hosts.
Fix: use nodeSelector with kubernetes.io/hostname, or topology.
Source: kubernetes v1.35 pkg/apis/core/validation/validation.go validatePodSpec, pkg/kubelet/lifecycle/predicate.go
"""

from collections.abc import Iterator

from trainyard.checks import Problem, Severity, World

SEVERITY = Severity.WARNING


def check(world: World) -> Iterator[Problem]:
    """Look at templates of training jobs; a pod that was read from a server has its node."""
    for job in world.training_jobs():
        if job.manifest.kind == "Pod":
            continue
        for pods in job.pod_sets():
            name = pods.spec.get("nodeName")
            if isinstance(name, str) and name:
                message = f"nodeName is {name!r}, so no scheduler looks at these pods; use nodeSelector"
                yield Problem(pods.place("spec", "nodeName"), message)
