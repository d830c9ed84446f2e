"""Amounts of memory and disk are large enough to start a process with.

Why: without a unit an amount counts bytes, and `m` thousandths of them; the container's runtime cannot start a process
 in it, or the kubelet evicts the pod at once.
Fix: write the unit that was meant, such as Gi.
Source: kubernetes v1.35 staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go
"""

from collections.abc import Iterator

from trainyard.checks import Problem, World

BYTES = ("memory", "ephemeral-storage")
LEAST = 1 << 20
"""Bytes; container runtimes want several MiB of memory to start anything."""


def check(world: World) -> Iterator[Problem]:
    """Look at what containers of whatever makes pods ask for and may use."""
    for job in world.workloads():
        for pods in job.pod_sets():
            for place, resource, quantity in (*pods.limits(), *pods.requests()):
                if resource in BYTES and 0 < quantity.value() < LEAST:
                    count = quantity.value()
                    shown = f"{count} byte{'' if count == 1 else 's'}"
                    yield Problem(place, f"{resource} is {quantity}, which is {shown}; write a unit such as Gi")
