"""Pods that train get time to save when they are stopped.

Why: With a grace period of zero the kubelet kills the program without SIGTERM, at every eviction, drain and preemption.
 A checkpoint that is being written is cut off, and one on demand is never written.
Fix: remove terminationGracePeriodSeconds, or set it to the time of a save.
Source: kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go PodSpec.terminationGracePeriodSeconds
"""

from collections.abc import Iterator

from trainyard.checks import Problem, Severity, World, gpus_of

SEVERITY = Severity.WARNING
FIELD = "terminationGracePeriodSeconds"
LEAST = 5
"""Seconds in which no program saves anything."""


def check(world: World) -> Iterator[Problem]:
    """Look at pods of jobs with GPUs."""
    for job in world.training_jobs():
        for pods in job.pod_sets():
            seconds = pods.spec.get(FIELD)
            short = isinstance(seconds, int) and not isinstance(seconds, bool) and 0 <= seconds < LEAST
            if short and any(gpus_of(pods, path) for path, _ in pods.containers(init=False)):
                message = f"{FIELD} is {seconds}, so pods are killed while they save; remove it"
                yield Problem(pods.place("spec", FIELD), message)
