"""A pod with overhead names the RuntimeClass that has it.

Why: The API server fills the field in from the pod's RuntimeClass, and refuses pods that set it without one. Kueue
 admits the job all the same.
Fix: remove overhead, or name the RuntimeClass with the same overhead in runtimeClassName.
Source: kubernetes v1.35 plugin/pkg/admission/runtimeclass/admission.go validateOverhead
"""

from collections.abc import Iterator

from trainyard.checks import Problem, World


def check(world: World) -> Iterator[Problem]:
    """Look at the pods of workloads; an empty map counts as none for those that are decoded from JSON."""
    for job in world.workloads():
        for pods in job.pod_sets():
            if pods.spec.get("overhead") and not pods.spec.get("runtimeClassName"):
                message = "overhead is set without a RuntimeClass, so the API server refuses the pods; remove it"
                yield Problem(pods.place("spec", "overhead"), message)
