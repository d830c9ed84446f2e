"""A pod's nodeSelector must match nodes of its queue.

Why: Kueue compares nodeSelector only with the labels in the flavor. It admits the job, but no node matches: its pods
 stay Pending and hold the quota.
Fix: remove the label from nodeSelector; if the nodes do have it, add it to labels of the pool.
Source: kubernetes-sigs/kueue v0.19.2 pkg/scheduler/flavorassigner/flavorassigner.go, pull request 12449
"""

from collections.abc import Iterator, Mapping

from trainyard.checks import Pods, Problem, Queues, World, strings

NEEDS = {"inventory"}

EVERYWHERE = {"kubernetes.io/os": {"linux"}, "kubernetes.io/arch": {"amd64", "arm64"}}
"""Labels that every kubelet sets, with their usual values."""


def check(world: World) -> Iterator[Problem]:
    """Find a flavor whose nodes have all labels that a pod set selects."""
    queues = Queues(world)
    for pods, _, flavors in queues.pod_sets():
        yield from unknown_labels(pods, [queues.labels(flavor) for flavor in flavors])


def unknown_labels(pods: Pods, pools: list[Mapping[str, str]]) -> Iterator[Problem]:
    """Yield the labels of nodeSelector that no flavor's nodes have, unless they contradict every flavor."""
    selector = strings(pods.spec.get("nodeSelector"))
    fitting = [labels for labels in pools if all(labels.get(key, value) == value for key, value in selector.items())]
    lacking = [
        sorted(key for key in selector if key not in labels and selector[key] not in EVERYWHERE.get(key, ()))
        for labels in fitting
    ]
    if lacking and all(lacking):
        for key in min(lacking, key=len):
            yield Problem(
                pods.place("spec", "nodeSelector", key),
                f"nodeSelector {key} is {selector[key]!r}, but no node of the queue is known to have it; remove it",
            )
