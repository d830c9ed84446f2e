"""A LocalQueue must point at a ClusterQueue that exists.

Why: Otherwise Kueue marks the LocalQueue inactive (ClusterQueueDoesNotExist). Jobs in this queue stay pending.
Fix: create the ClusterQueue, or delete the LocalQueue and create it with an existing ClusterQueue; the field is
 immutable.
Source: kubernetes-sigs/kueue v0.19.2 pkg/controller/core/localqueue_controller.go
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, World, did_you_mean

SEVERITY = Severity.ERROR
NEEDS = {"cluster"}
GROUP = "kueue.x-k8s.io"


def check(world: World) -> Iterator[Problem]:
    """Look up the ClusterQueue of every LocalQueue among those of the cluster."""
    queues = {queue.name for queue in world.of("ClusterQueue", group=GROUP)}
    for local in world.of("LocalQueue", group=GROUP):
        for path, named in local.at("spec", "clusterQueue", of=str):
            if named and named not in queues:
                yield Problem(
                    Place(local, path), f"ClusterQueue {named!r} does not exist; {did_you_mean(named, queues)}"
                )
