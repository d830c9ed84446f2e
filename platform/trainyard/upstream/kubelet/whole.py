"""Pods with resources of their own, as static managers serve them with the gate PodLevelResourceManagers.

In the pod's scope the pod gets CPUs and memory of its NUMA nodes as a whole, and its containers share them: those whose
CPUs and memory are requested and limited alike get their own part, all others use the rest together. Devices are left
out: the kubelet fetches them when the containers start. In the container's scope containers with a part of their own
get it from the node, and the others get none.
Source: kubernetes v1.36.3, v1.37.2 pkg/kubelet/cm cpumanager/policy_static.go, memorymanager/policy_static.go
AllocatePod, topologymanager/scope_pod.go, qos/helpers.go.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from trainyard.upstream.kubelet.outcomes import Refusal
from trainyard.upstream.kubelet.settings import Settings
from trainyard.upstream.pods.demand import Container, Resources
from trainyard.upstream.pods.pod import Pod
from trainyard.upstream.pods.resources import CPU, MEMORY

GATE = "PodLevelResourceManagers"
"""Alpha in 1.36, beta in 1.37, and off in both."""

EMPTY = "EmptyPodSharedPoolError"
"""Reason for which a pod is refused whose containers leave nothing for those that share."""

IN_POD = "Pod Scope pod with pod-level resources failed admission under pod-scope topology manager"
IN_CONTAINER = "Pod Scope pod with pod-level resources failed admission with a container-level topology manager"
"""What the topology manager says of such pods that it cannot align."""


def is_served(pod: Pod, settings: Settings) -> bool:
    """Whether static managers serve a pod at all: a Guaranteed one, and with resources of its own only by the gate."""
    return pod.guaranteed and (settings.whole_pods or not pod.asks_as_a_whole)


def is_whole(pod: Pod, settings: Settings) -> bool:
    """Whether a pod is served by its own resources."""
    return settings.whole_pods and pod.asks_as_a_whole


def has_own_part(container: Container) -> bool:
    """Whether CPUs and memory of a container are requested, and limited to the same."""
    return all(
        (asked := container.requests.get(name)) is not None
        and asked.amount != 0
        and (limit := container.limits.get(name)) is not None
        and limit.amount == asked.amount
        for name in (CPU, MEMORY)
    )


def whole_cpus(requests: Resources) -> int:
    """Return the CPUs of requests, where they are whole ones."""
    asked = requests.get(CPU)
    return int(asked.amount) if asked is not None and asked.amount == asked.amount.to_integral_value() else 0


def check_shared_cpus(pod: Pod, total: int, own: Mapping[str, int]) -> None:
    """Raise Refusal where containers that share would have no CPU; `own` are the CPUs of containers by name."""
    taken, shares = 0, False
    for container in pod.containers:
        ends = container.init and not container.restartable
        if ends and not own[container.name] and taken >= total:
            raise Refusal("pod rejected, pod has shared init containers but no cpus available for them", EMPTY)
        if not ends:
            taken += own[container.name]
            shares |= not own[container.name]
    if shares and taken >= total:
        words = "sum of exclusive container cpu requests equals pod budget, leaving no cpus for shared containers"
        raise Refusal(f"pod rejected, {words}", EMPTY)


def check_shared_memory(pod: Pod, total: Mapping[str, int], own: Mapping[str, Mapping[str, int]]) -> None:
    """Raise Refusal where containers that share would have none of a kind of memory; `own` are bytes by container."""
    taken, shares = defaultdict[str, int](int), False
    for container in pod.containers:
        ends, mine = container.init and not container.restartable, own[container.name]
        for name in total if ends and not mine else ():
            if taken[name] >= total[name]:
                words = f"pod has shared init containers but no {name} available for them"
                raise Refusal(f"pod rejected, {words}", EMPTY)
        if not ends:
            shares |= not mine
            for name, size in mine.items():
                taken[name] += size
    for name in total if shares else ():
        if taken[name] >= total[name]:
            words = f"sum of exclusive container {name} requests equals pod budget"
            raise Refusal(f"pod rejected, {words}, leaving no memory for shared containers", EMPTY)
