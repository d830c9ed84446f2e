"""Some flavor of a job's queue has the labels that its pods select.

Why: Kueue passes over a flavor whose labels a pod's node selector contradicts; where all are passed over, the job is
 never admitted.
Fix: select what a flavor of the queue has, or leave the label out.
Source: kubernetes-sigs/kueue v0.19.2 pkg/scheduler/flavorassigner/flavorassigner.go checkFlavorForPodSets
"""

from collections.abc import Iterator

from trainyard.checks import Pods, Problem, Queues, World, strings


def check(world: World) -> Iterator[Problem]:
    """Hold the node selector of every pod set against the flavors for the devices that it asks for."""
    for pods, queue, flavors in Queues(world).pod_sets():
        yield from contradicted(pods, [strings(flavor.get("spec", "nodeLabels")) for flavor in flavors], queue.name)


def contradicted(pods: Pods, flavors: list[dict[str, str]], queue: str) -> Iterator[Problem]:
    """Yield the first label of the selector that contradicts a flavor, if every flavor is contradicted."""
    selector = strings(pods.spec.get("nodeSelector"))
    wrong = [{key for key in selector if key in labels and labels[key] != selector[key]} for labels in flavors]
    if all(wrong):
        key = min(wrong[0])
        there = sorted({labels[key] for labels in flavors if key in labels})
        message = f"node selector {key} is {selector[key]!r}, but flavors of queue {queue!r} have: {', '.join(there)}"
        yield Problem(pods.place("spec", "nodeSelector", key), message)
