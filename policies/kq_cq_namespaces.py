"""A ClusterQueue must select the namespaces of the LocalQueues that point at it.

Why: Without namespaceSelector a ClusterQueue selects no namespace, so Kueue never admits a job of its LocalQueues.
Fix: set "namespaceSelector: {}" for every namespace, or a selector that matches those of the LocalQueues.
Source: kubernetes-sigs/kueue v0.19.2 apis/kueue/v1beta2/clusterqueue_types.go NamespaceSelector
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, World

GROUP = "kueue.x-k8s.io"


def check(world: World) -> Iterator[Problem]:
    """Find ClusterQueues without a selector at which a LocalQueue points."""
    locals_of = {local.text("spec", "clusterQueue"): local for local in world.of("LocalQueue", group=GROUP)}
    for queue in world.of("ClusterQueue", group=GROUP):
        local = locals_of.get(queue.name)
        if local is not None and isinstance(queue.get("spec"), dict) and queue.get("spec", "namespaceSelector") is None:
            message = (
                f"ClusterQueue {queue.name!r} selects no namespace, so no job of LocalQueue {local.name!r} is admitted"
                "; set namespaceSelector: {}"
            )
            yield Problem(Place(queue, ("spec",), key=True), message)
