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
        selector = strings(pods.spec.get("nodeSelector"))
        known = [(queues.labels(flavor), strings(flavor.get("spec", "nodeLabels"))) for flavor in flavors]
        yield from unknown_labels(pods, selector, [labels for labels, own in known if agrees(selector, own)])


def agrees(selector: Mapping[str, str], own: Mapping[str, str]) -> bool:
    """Say whether a flavor's own labels do not contradict a selector: those Kueue compares."""
    return all(own.get(key, value) == value for key, value in selector.items())


def unknown_labels(pods: Pods, selector: Mapping[str, str], pools: list[Mapping[str, str]]) -> Iterator[Problem]:
    """Yield the labels of nodeSelector that no flavor's nodes have, unless they contradict every flavor."""
    wrong = [
        sorted(
            key
            for key, value in selector.items()
            if labels.get(key) != value and (key in labels or value not in EVERYWHERE.get(key, ()))
        )
        for labels in pools
    ]
    if wrong and all(wrong):
        for key in min(wrong, key=len):
            said = f"nodeSelector {key} is {selector[key]!r}, but"
            have = sorted({labels[key] for labels in pools if key in labels})
            message = f"{said} no node of the queue is known to have it; remove it"
            if have:
                message = f"{said} nodes of the queue have {', '.join(have)}; remove it"
            yield Problem(pods.place("spec", "nodeSelector", key), message)
