"""The largest number of pods that can be had, where fewer would do (kueue v0.19.2 podset_reducer.go)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from trainyard.upstream.kueue.model.workloads import PodSet

T = TypeVar("T")


def most_pods(pod_sets: Sequence[PodSet], tried: Callable[[list[int]], T | None]) -> T | None:
    """Search for the smallest reduction that works, by halves, taking from every pod set its part."""
    spare = [
        pod_set.count - (pod_set.count if pod_set.min_count is None else pod_set.min_count) for pod_set in pod_sets
    ]
    total = sum(spare)
    if total == 0:
        return None
    low, high, best, found = 0, total + 1, 0, None
    while low < high:
        middle = (low + high) // 2
        counts = [pod_set.count - part * middle // total for pod_set, part in zip(pod_sets, spare, strict=True)]
        answer = tried(counts)
        if answer is None:
            low = middle + 1
        else:
            high, best, found = middle, middle, answer
    return found if low == best else None
