"""Amounts of memory and disk must be at least 1 MiB.

Why: A number without a unit counts bytes, and the suffix m means thousandths of a byte. The container cannot start, or
 the kubelet evicts the pod at once.
Fix: write the unit that was meant, such as Gi.
Source: kubernetes v1.35 staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go
"""

from collections.abc import Iterator

from trainyard.checks import Problem, World

BYTES = ("memory", "ephemeral-storage")
LEAST = 1 << 20
"""Bytes; container runtimes need several MiB of memory to start a process."""


def check(world: World) -> Iterator[Problem]:
    """Check the limits and requests of containers in every object that creates pods."""
    for job in world.workloads():
        for pods in job.pod_sets():
            for place, resource, quantity in (*pods.limits(), *pods.requests()):
                if resource in BYTES and 0 < quantity.value() < LEAST:
                    count = quantity.value()
                    shown = f"{count} byte{'' if count == 1 else 's'}"
                    yield Problem(place, f"{resource} is {quantity}, which means {shown}; write a unit such as Gi")
