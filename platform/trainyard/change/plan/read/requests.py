"""Requests of a run's pods, read from their templates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.base.pools import Selectors, selected_pools
from trainyard.upstream.pods.pod import Pod
from trainyard.upstream.workloads import PodSet

OR = " or "
"""Between the pools of which Kueue takes one."""


def asks(sets: Iterable[PodSet], specs: Iterable[Any], selectors: Selectors) -> dict[str, dict[str, float]]:
    """Return the requests of all pods, by pool; of several pools, by all of them."""
    found: dict[str, dict[str, float]] = {}
    for set_, spec in zip(sets, specs, strict=True):
        total = found.setdefault(OR.join(selected_pools(spec, selectors)), defaultdict(float))
        for name, amount in of_pod(spec).items():
            total[name] += set_.count * amount
    return found


def of_pod(spec: Any) -> dict[str, float]:
    """Return the requests of one pod, without values that are not quantities."""
    asked = Pod.of(spec).asked if isinstance(spec, Mapping) else {}
    return {name: float(amount.amount) for name, amount in asked.items()}


def cores(wanted: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Yield CPUs and memory of all pods together, of those that have no devices."""
    count = sum(item.get("cpu", 0) for item in wanted.values())
    memory = sum(item.get("memory", 0) for item in wanted.values())
    if count:
        yield f"{count:g} {'CPU' if count == 1 else 'CPUs'}"
    if memory:
        yield f"{memory / 2**30:.4g}Gi"


def as_list(value: Any) -> list[Any]:
    """Return a list, empty where a value is none."""
    return value if isinstance(value, list) else []
