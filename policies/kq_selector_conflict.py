"""A pod's nodeSelector and node affinity must agree with at least one flavor of its queue.

Why: Kueue skips a flavor whose node labels contradict the nodeSelector or the required affinity. If it skips all
 flavors, it never admits the job.
Fix: use the label values of one flavor, or remove the label from nodeSelector or affinity.
Source: kubernetes-sigs/kueue v0.19.2 pkg/scheduler/flavorassigner/flavorassigner.go checkFlavorForPodSets
"""

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Pods, Problem, Queues, World, mapping, strings


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
    elif flavors and all(excluded(pods, labels) for labels in flavors):
        message = f"required node affinity excludes the labels of all flavors of queue {queue!r}; change or remove it"
        yield Problem(pods.place("spec", *REQUIRED), message)


REQUIRED = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")


def excluded(pods: Pods, labels: dict[str, str]) -> bool:
    """Say whether each term of the required affinity excludes a flavor by labels that the flavor has.

    Kueue ignores other labels, and an affinity of which one term speaks of these alone.
    """
    terms = pods.manifest.get(*pods.template, "spec", *REQUIRED, "nodeSelectorTerms")
    own = [
        [mapping(one) for one in mapping(term).get("matchExpressions") or () if mapping(one).get("key") in labels]
        for term in (terms if isinstance(terms, list) else ())
    ]
    return bool(own) and all(any(refuses(one, labels[one["key"]]) for one in term) for term in own)


def refuses(expression: Mapping[str, Any], value: str) -> bool:
    """Say whether an expression is false of a label that is there."""
    values, operator = expression.get("values"), expression.get("operator")
    listed = isinstance(values, list) and value in values
    return operator == "DoesNotExist" or (operator == "In" and not listed) or (operator == "NotIn" and listed)
