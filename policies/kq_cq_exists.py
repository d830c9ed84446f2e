"""A LocalQueue must point at a ClusterQueue that exists.

Why: Kueue keeps its workloads pending, and the LocalQueue inactive with reason ClusterQueueDoesNotExist.
Fix: create the ClusterQueue, or replace the LocalQueue by one that names one that is there; the field is immutable.
Source: kubernetes-sigs/kueue v0.19.2 pkg/controller/core/localqueue_controller.go
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, World, did_you_mean

SEVERITY = Severity.ERROR
NEEDS = {"cluster"}
GROUP = "kueue.x-k8s.io"


def check(world: World) -> Iterator[Problem]:
    """Look the ClusterQueue of every LocalQueue up among those of the cluster."""
    queues = {queue.name for queue in world.of("ClusterQueue", group=GROUP)}
    for local in world.of("LocalQueue", group=GROUP):
        for path, named in local.at("spec", "clusterQueue", of=str):
            if named and named not in queues:
                yield Problem(
                    Place(local, path), f"cluster queue {named!r} does not exist; {did_you_mean(named, queues)}"
                )
