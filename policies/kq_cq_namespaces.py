"""A ClusterQueue must select the namespaces of the LocalQueues that point at it.

Why: Without namespaceSelector a ClusterQueue selects no namespace, so Kueue never admits a job of its LocalQueues. Nor
 does it admit one of a namespace whose labels do not match.
Fix: set "namespaceSelector: {}" for every namespace, or a selector that matches those of the LocalQueues.
Source: kubernetes-sigs/kueue v0.19.2 apis/kueue/v1beta2/clusterqueue_types.go NamespaceSelector;
 pkg/workload/resources.go ValidateAdmissibility
"""

from collections.abc import Iterator, Mapping

from trainyard.checks import Manifest, Place, Problem, World, traffic

GROUP = "kueue.x-k8s.io"
NAME = "kubernetes.io/metadata.name"
"""The label that the API server gives to each namespace."""


def check(world: World) -> Iterator[Problem]:
    """Find ClusterQueues that do not select the namespace of a LocalQueue that points at them."""
    spaces = {item.name: {NAME: item.name, **item.labels} for item in world.of("Namespace", group="")}
    queues = {queue.name: queue for queue in world.of("ClusterQueue", group=GROUP)}
    nowhere: set[str] = set()
    for local in reversed(world.of("LocalQueue", group=GROUP)):
        queue = queues.get(local.text("spec", "clusterQueue"))
        if queue is None or not isinstance(queue.get("spec"), dict):
            continue
        selector = queue.get("spec", "namespaceSelector")
        if selector is not None:
            yield from unmatched(local, queue, selector, spaces.get(local.namespace or "default"))
        elif queue.name not in nowhere:
            nowhere.add(queue.name)
            message = (
                f"ClusterQueue {queue.name!r} selects no namespace, so no job of LocalQueue {local.name!r} is admitted"
                "; set namespaceSelector: {}"
            )
            yield Problem(Place(queue, ("spec",), key=True), message)


def unmatched(
    local: Manifest, queue: Manifest, selector: object, labels: Mapping[str, str] | None
) -> Iterator[Problem]:
    """Yield a LocalQueue whose namespace, where it is among the objects, its ClusterQueue does not select."""
    if labels is not None and isinstance(selector, dict) and not traffic.may_select(selector, labels):
        message = f"ClusterQueue {queue.name!r} does not select namespace {local.namespace!r}, so it admits no job here"
        yield Problem(
            Place(local, ("spec", "clusterQueue")), f"{message}; label the namespace or change namespaceSelector"
        )
