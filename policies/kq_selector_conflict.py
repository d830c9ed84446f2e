"""A pod's nodeSelector must agree with at least one flavor of its queue.

Why: Kueue skips a flavor whose node labels contradict the nodeSelector. If it skips all flavors, it never admits the
 job.
Fix: use the label values of one flavor, or remove the label from nodeSelector.
Source: kubernetes-sigs/kueue v0.19.2 pkg/scheduler/flavorassigner/flavorassigner.go checkFlavorForPodSets
"""

from collections.abc import Iterator

from trainyard.checks import Pods, Problem, Queues, World, strings


def check(world: World) -> Iterator[Problem]:
    """Compare the nodeSelector of every pod set with the flavors for the resources that it requests."""
    for pods, queue, flavors in Queues(world).pod_sets():
        yield from contradictions(pods, [strings(flavor.get("spec", "nodeLabels")) for flavor in flavors], queue.name)


def contradictions(pods: Pods, flavors: list[dict[str, str]], queue: str) -> Iterator[Problem]:
    """Yield the first label of nodeSelector that contradicts a flavor, if each flavor is contradicted."""
    selector = strings(pods.spec.get("nodeSelector"))
    conflicts = [{key for key in selector if key in labels and labels[key] != selector[key]} for labels in flavors]
    if all(conflicts):
        key = min(conflicts[0])
        values = sorted({labels[key] for labels in flavors if key in labels})
        message = f"nodeSelector {key} is {selector[key]!r}, but flavors of queue {queue!r} have: {', '.join(values)}"
        if selector[key] in values:
            others = sorted(set().union(*conflicts) - {key})
            message = (
                f"no flavor of queue {queue!r} has {key} {selector[key]!r}"
                f" together with the selected {', '.join(others)}; change one of them"
            )
        yield Problem(pods.place("spec", "nodeSelector", key), message)
