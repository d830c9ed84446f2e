"""Replicas of a worker group are within its bounds.

Why: KubeRay starts at most maxReplicas and at least minReplicas workers, but Kueue reserves quota for replicas. The
 surplus is held and never used, and a program that waits for all workers waits for ever.
Fix: set minReplicas and maxReplicas to replicas, unless Ray's autoscaler is on.
Source: ray-project/kuberay v1.6.2 ray-operator/controllers/ray/utils/util.go GetWorkerGroupDesiredReplicas; kueue
 v0.19.2 pkg/controller/jobs/raycluster/common.go
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, World

SEVERITY = Severity.WARNING
GROUPS = {
    "RayCluster": ("spec", "workerGroupSpecs", "*"),
    "RayJob": ("spec", "rayClusterSpec", "workerGroupSpecs", "*"),
    "RayService": ("spec", "rayClusterConfig", "workerGroupSpecs", "*"),
}


def check(world: World) -> Iterator[Problem]:
    """Compare the replicas of every worker group with its own bounds."""
    for kind, pattern in GROUPS.items():
        for job in world.of(kind, group="ray.io"):
            for path, group in job.at(*pattern, of=dict):
                replicas, least, most = (group.get(name) for name in ("replicas", "minReplicas", "maxReplicas"))
                if not isinstance(replicas, int) or isinstance(replicas, bool):
                    continue
                if isinstance(most, int) and replicas > most:
                    message = f"replicas is {replicas}, but KubeRay starts at most maxReplicas, {most}; raise that"
                elif isinstance(least, int) and replicas < least:
                    message = f"replicas is {replicas}, but KubeRay starts at least minReplicas, {least}; lower that"
                else:
                    continue
                yield Problem(Place(job, (*path, "replicas")), message)
