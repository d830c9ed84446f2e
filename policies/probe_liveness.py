"""A liveness probe leaves a program that trains enough time to start.

Why: A liveness probe begins with the container. A program that still loads its model does not answer, so the kubelet
 kills it, again and again. Other ranks lose their peer each time.
Fix: remove livenessProbe; or add a startupProbe with time for the start, if the program answers at that port.
Source: kubernetes v1.35 pkg/kubelet/prober/worker.go; pkg/apis/core/v1/defaults.go SetDefaults_Probe
"""

from collections.abc import Iterator
from typing import Any

from trainyard.checks import Place, Problem, Severity, World, gpus_of

SEVERITY = Severity.WARNING
SERVE = {
    "LeaderWorkerSet",
    "RayCluster",
    "RayJob",
    "RayService",
    "DisaggregatedSet",
    "Deployment",
    "StatefulSet",
    "ReplicaSet",
    "DaemonSet",
    "Pod",
}
"""Kinds whose programs serve, or whose operator writes its own probes."""

ASKS = ("httpGet", "tcpSocket", "grpc")
START = 120
"""Seconds in which no program has loaded a model and found its peers (assumed)."""


def check(world: World) -> Iterator[Problem]:
    """Look at containers with GPUs in kinds that complete."""
    for job in world.training_jobs():
        for pods in job.pod_sets() if job.manifest.kind not in SERVE else ():
            for path, container in pods.containers(init=False):
                probe = container.get("livenessProbe")
                if not isinstance(probe, dict) or "startupProbe" in container or not gpus_of(pods, path):
                    continue
                seconds = patience(probe)
                asks = next((name for name in ASKS if name in probe), None)
                if asks and seconds is not None and seconds < START:
                    message = f"the kubelet kills the program {seconds} seconds after its start, unless it answers"
                    yield Problem(Place(pods.manifest, (*path, "livenessProbe", asks)), f"{message}; remove the probe")


def patience(probe: dict[str, Any]) -> int | None:
    """Return the seconds until the kubelet kills a container that never answers; None where they are not numbers."""
    given = [
        probe.get(*field) for field in (("initialDelaySeconds", 0), ("periodSeconds", 10), ("failureThreshold", 3))
    ]
    if not all(isinstance(value, int) for value in given):
        return None
    delay, period, times = given
    return int(delay + period * times)
