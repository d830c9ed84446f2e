"""Which pods the kubelet ends for a critical one (kubernetes v1.35.4 pkg/kubelet/preemption/preemption.go)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trainyard.upstream.kubelet.predicates import Lack, amount_of
from trainyard.upstream.pods.pod import Pod, QoS
from trainyard.upstream.pods.resources import CPU, MEMORY, PODS

Missing = tuple[tuple[str, int], ...]
"""Resources, and how much of each would have to come free."""

UNIMPORTANT_FIRST: tuple[QoS, ...] = ("BestEffort", "Burstable", "Guaranteed")


class NoneToEnd(Exception):  # noqa: N818  # a decision on its way up, not an error of ours
    """No pods could make enough room."""


def pods_to_end(critical: Pod, running: Sequence[Pod], lacks: Iterable[Lack]) -> list[Pod]:
    """Return the pods to end for a critical one; raises NoneToEnd with the kubelet's words.

    As few Guaranteed pods as the others leave necessary, then as few Burstable ones, then the rest.
    """
    missing = tuple((lack.resource, lack.missing) for lack in lacks)
    best_effort, burstable, guaranteed = (
        [pod for pod in running if _gives_way(pod, critical) and pod.qos == qos] for qos in UNIMPORTANT_FIRST
    )
    if rest := _without(missing, [*best_effort, *burstable, *guaranteed]):
        raise NoneToEnd(_unmet(rest))
    third = _chosen(guaranteed, _without(missing, [*best_effort, *burstable]))
    second = _chosen(burstable, _without(missing, [*best_effort, *third]))
    first = _chosen(best_effort, _without(missing, [*second, *third]))
    return [*first, *second, *third]


def freed_amount(pod: Pod, resource: str) -> int:
    """Return the amount that removing a pod frees: its pod-level requests if it has any, else all its requests."""
    if resource == PODS:
        return 1
    amounts = pod.requests if pod.asks_as_a_whole else pod.without_overhead
    amount = amount_of(amounts, resource)
    return amount + amount_of(pod.overhead, resource) if amount else 0


def _gives_way(pod: Pod, critical: Pod) -> bool:
    if critical.critical and not pod.critical:
        return True
    return critical.priority is not None and pod.priority is not None and critical.priority > pod.priority


def _without(missing: Missing, ended: Sequence[Pod]) -> Missing:
    left = ((name, amount - sum(freed_amount(pod, name) for pod in ended)) for name, amount in missing)
    return tuple((name, amount) for name, amount in left if amount > 0)


def _chosen(pods: list[Pod], missing: Missing) -> list[Pod]:
    """Return pods that free what is missing, one by one the one that leaves least of it."""
    pods, chosen = list(pods), []
    while missing:
        if not pods:
            raise NoneToEnd(_unmet(missing))
        best = 0
        least = float(len(missing) + 1)
        for index, pod in enumerate(pods):
            distance = _distance(pod, missing)
            if distance < least or (distance == least and _smaller(pod, pods[best])):
                least, best = distance, index
        missing = _without(missing, [pods[best]])
        chosen.append(pods[best])
        pods[best] = pods[-1]
        pods.pop()
    return chosen


def _distance(pod: Pod, missing: Missing) -> float:
    rests = ((amount, amount - freed_amount(pod, name)) for name, amount in missing)
    return sum((rest / amount) ** 2 for amount, rest in rests if rest > 0)


def _smaller(pod: Pod, other: Pod) -> bool:
    sizes = [tuple(freed_amount(one_pod, name) for name in (MEMORY, CPU)) for one_pod in (pod, other)]
    return sizes[0] <= sizes[1]


def _unmet(missing: Missing) -> str:
    listed = "".join(f"(res: {name}, q: {amount}), " for name, amount in missing)
    return f"no set of running pods found to reclaim resources: [{listed}]"
