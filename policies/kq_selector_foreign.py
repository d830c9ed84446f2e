"""Nodes of some flavor of a job's queue have every label that its pods select.

Why: of a node selector Kueue looks at the flavor's own labels alone; it admits the job, and its pods wait for a node
 that is not there while the quota is held.
Fix: leave the label out; or, where the nodes have it, say so in the labels of the pool.
Source: kubernetes-sigs/kueue v0.19.2 pkg/scheduler/flavorassigner/flavorassigner.go, pull request 12449
"""

from collections.abc import Iterator, Mapping

from trainyard.checks import Pods, Problem, Queues, World, strings

NEEDS = {"inventory"}

EVERYWHERE = {"kubernetes.io/os": {"linux"}, "kubernetes.io/arch": {"amd64", "arm64"}}
"""Labels that every kubelet sets."""


def check(world: World) -> Iterator[Problem]:
    """Look for a flavor whose nodes have all that a pod set selects."""
    queues = Queues(world)
    for pods, _, flavors in queues.pod_sets():
        yield from unknown(pods, [queues.labels(flavor) for flavor in flavors])


def unknown(pods: Pods, pools: list[Mapping[str, str]]) -> Iterator[Problem]:
    """Yield the labels of the selector that the nodes of no flavor have, unless they contradict every flavor."""
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
                f"node selector {key} is {selector[key]!r}, which no node of the queue is known to have; remove it",
            )
