"""Sizes of a run of which Kueue takes one of several pools: what fits the poorest of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from trainyard.render.sizing.base import RoleSize, Sized, Sizing
from trainyard.render.sizing.node import pins_cpus, size
from trainyard.specs.run import Run
from trainyard.upstream.pods.resources import is_huge_page

T = TypeVar("T")


def fit_all(run: Run, sizings: Mapping[str, Sizing]) -> Sizing:
    """Return the sizes of the run as it is looked at, none of them greater than on any of its pools.

    `sizings` are those of each pool. A run has the shortest grace of them, and the most restarts.
    """
    own = sizings[run.pool_name]
    return replace(
        own,
        roles=tuple(fit_role(run, size_, [role(sizings, size_.name, name) for name in sizings]) for size_ in own.roles),
        grace=extreme(min, {name: sizing.grace for name, sizing in sizings.items()}, int),
        restarts=extreme(max, {name: sizing.restarts for name, sizing in sizings.items()}, int),
    )


def role(sizings: Mapping[str, Sizing], name: str, pool: str) -> RoleSize:
    """Return the size of a role on one of the pools."""
    return sizings[pool].role(name)


def fit_role(run: Run, own: RoleSize, sizes: Sequence[RoleSize]) -> RoleSize:
    """Return the size of a role's pods that fit each of the pools."""
    if not own.pools:
        return own
    by_pool = dict(zip(own.pools, sizes, strict=True))

    def least(field: str, measure: Callable[[Any], int] = size) -> Sized[Any]:
        return extreme(min, {name: getattr(found, field) for name, found in by_pool.items()}, measure)

    return replace(
        own,
        cpus=whole_cores(run, least("cpus", int), own),
        memory=least("memory"),
        shared_memory=least("shared_memory"),
        storage=least("storage"),
        devices={
            name: extreme(min, {pool: found.devices.get(name, count) for pool, found in by_pool.items()}, size)
            if is_huge_page(name)
            else count
            for name, count in own.devices.items()
        },
    )


def extreme(choose: Callable[..., str], by_pool: Mapping[str, Sized[T]], measure: Callable[[T], int]) -> Sized[T]:
    """Return the least or the greatest of the pools' values, with the pool that it is of; the value if all agree."""
    pool = choose(by_pool, key=lambda name: measure(by_pool[name].value))
    found, others = by_pool[pool], {name: sized.value for name, sized in by_pool.items() if name != pool}
    if all(value == found.value for value in others.values()):
        return next(iter(by_pool.values()))
    rest = ", ".join(f"{value} on {name}" for name, value in others.items())
    return Sized(found.value, f"{found.origin} on pool {pool}; {rest}")


def whole_cores(run: Run, cpus: Sized[int], own: RoleSize) -> Sized[int]:
    """Return the CPUs in whole cores of all pools whose kubelets pin CPUs."""
    pools = [run.cluster.pools[name] for name in own.pools]
    threads = math.lcm(*(pool.node.threads_per_core for pool in pools if pins_cpus(pool)))
    if own.cpus.origin.endswith("of the job") or cpus.value <= threads or not cpus.value % threads:
        return cpus
    return Sized(cpus.value - cpus.value % threads, f"{cpus.origin}, in whole cores of {threads} on all pools")
