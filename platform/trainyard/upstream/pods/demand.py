"""How amounts of containers add up to what their pod asks for.

Source: k8s.io/component-helpers v0.35 resource/helpers.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from trainyard.base.quantities import Quantity
from trainyard.upstream.pods.resources import is_pod_level

Resources = Mapping[str, Quantity]


class Summable(Protocol):
    """An amount: a quantity, a whole number, or either with more that is known of it."""

    def __add__(self, other: Any, /) -> Any:
        """Return the sum."""

    def __gt__(self, other: Any, /) -> bool:
        """Whether it is the larger one."""


T = TypeVar("T", bound=Summable)


@dataclass(frozen=True)
class Container:
    """One container with its resources."""

    name: str
    requests: Resources
    limits: Resources
    init: bool = False
    restartable: bool = False
    """Whether it is an init container that goes on running, a sidecar."""
    index: int = 0
    """Its place among the pod's containers, or among its init containers."""


def requests_of(container: Container) -> Resources:
    """Return the requests of a container."""
    return container.requests


def limits_of(container: Container) -> Resources:
    """Return the limits of a container."""
    return container.limits


def at_one_time(containers: Sequence[Container], amounts: Callable[[Container], Mapping[str, T]]) -> dict[str, T]:
    """Return the most of each resource that containers need at one time (AggregateContainerRequests).

    App containers and sidecars run together, an init container runs beside the sidecars before it.
    """
    out = add_amounts(amounts(container) for container in containers if not container.init)
    sidecars: dict[str, T] = {}
    most: dict[str, T] = {}
    for container in containers:
        if not container.init:
            continue
        own = amounts(container)
        if container.restartable:
            add(out, own)
            add(sidecars, own)
            raise_to(most, sidecars)
        else:
            raise_to(most, add_amounts((own, sidecars)))
    raise_to(out, most)
    return out


def pod_requests(
    containers: Sequence[Container],
    amounts: Callable[[Container], Mapping[str, T]],
    *,
    own: Mapping[str, T],
    overhead: Mapping[str, T],
) -> dict[str, T]:
    """Return the requests of a pod: of its containers, its own in place of theirs, and overhead (PodRequests)."""
    out = at_one_time(containers, amounts)
    out.update((name, amount) for name, amount in own.items() if is_pod_level(name))
    add(out, overhead)
    return out


def add_amounts(lists: Iterable[Mapping[str, T]]) -> dict[str, T]:
    """Return the sums of amounts."""
    out: dict[str, T] = {}
    for amounts in lists:
        add(out, amounts)
    return out


def add(out: dict[str, T], amounts: Mapping[str, T]) -> None:
    """Add amounts to sums."""
    for name, amount in amounts.items():
        out[name] = out[name] + amount if name in out else amount


def raise_to(out: dict[str, T], amounts: Mapping[str, T]) -> None:
    """Raise amounts to the larger ones."""
    for name, amount in amounts.items():
        if name not in out or amount > out[name]:
            out[name] = amount
