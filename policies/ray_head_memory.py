"""The head of a Ray cluster must have at least 1 GiB of memory.

Why: Ray's own processes use 0.7 GiB when idle, and more with every node, task and event. A head that runs out of memory
 ends the whole cluster.
Fix: give the head 2Gi or more, and 8Gi in production.
Source: measured with Ray 2.60.0, `ray start --head` with its dashboard; docs.ray.io, Head Node Memory Management
"""

from collections.abc import Iterator

from trainyard.checks import Problem, Severity, World

SEVERITY = Severity.WARNING
LEAST = 1 << 30
"""Bytes: the memory of the idle processes, and the smallest object store beside them (75 MiB)."""


def check(world: World) -> Iterator[Problem]:
    """Check the Ray container of every head, which is the first container."""
    for job in world.training_jobs():
        for pods in job.pod_sets() if job.manifest.group == "ray.io" else ():
            first = next((path for path, _ in pods.containers(init=False)), None)
            for place, resource, quantity in pods.limits(init=False) if pods.name == "head" else ():
                if resource == "memory" and place.path[: len(first or ())] == first and quantity.value() < LEAST:
                    message = f"the head has {quantity} of memory, but Ray's own processes need more; write 2Gi or more"
                    yield Problem(place, message)
