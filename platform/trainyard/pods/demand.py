"""What a pod asks for: its containers at one time, or the pod as a whole.

Source: k8s.io/component-helpers v0.35 resource/helpers.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from typing import Literal

from trainyard.quantities import Quantity

Resources = Mapping[str, Quantity]

CPU, MEMORY = "cpu", "memory"
HUGE_PAGES = "hugepages-"

FINEST = Decimal("0.001")
"""Amounts of a pod are rounded up to thousandths (kubernetes v1.35 core/v1/defaults.go SetDefaults_ResourceList)."""


@dataclass(frozen=True)
class Container:
    """One container with its resources."""

    name: str
    requests: Resources
    limits: Resources
    init: bool = False
    restartable: bool = False
    """Whether it is an init container that goes on running, a sidecar."""


def together(containers: Iterable[Container], what: Literal["requests", "limits"]) -> dict[str, Quantity]:
    """Return what containers need at most at one time.

    App containers and sidecars run together, an init container beside the sidecars before it
    (AggregateContainerRequests).
    """
    running: list[Resources] = []
    sidecars: list[Resources] = []
    most: dict[str, Quantity] = {}
    for container in containers:
        own: Resources = getattr(container, what)
        if not container.init or container.restartable:
            running.append(own)
        if container.restartable:
            sidecars.append(own)
        if container.init:
            _raise_to(most, added(sidecars if container.restartable else (own, *sidecars)))
    out = added(running)
    _raise_to(out, most)
    return out


def added(lists: Iterable[Resources]) -> dict[str, Quantity]:
    """Return the sums of resources."""
    out: dict[str, Quantity] = {}
    for amounts in lists:
        for name, amount in amounts.items():
            out[name] = out[name] + amount if name in out else amount
    return out


def asked_without_overhead(containers: Iterable[Container], own: Resources) -> dict[str, Quantity]:
    """Return what a pod asks for, given its own requests, which count instead of its containers' (PodRequests)."""
    whole = {name: amount for name, amount in own.items() if is_pod_level(name)}
    return {**together(containers, "requests"), **whole}


def rounded(amount: Quantity) -> Quantity:
    """Return an amount as the API server stores it for pods."""
    exponent = amount.amount.as_tuple().exponent
    if not isinstance(exponent, int) or exponent >= -3:
        return amount
    return Quantity(amount.amount.quantize(FINEST, rounding=ROUND_UP), amount.format)


def is_huge_page(name: str) -> bool:
    """Whether a resource is memory in huge pages."""
    return name.startswith(HUGE_PAGES)


def is_pod_level(name: str) -> bool:
    """Whether a pod as a whole may ask for the resource."""
    return name in (CPU, MEMORY) or is_huge_page(name)


def _raise_to(out: dict[str, Quantity], amounts: Resources) -> None:
    for name, amount in amounts.items():
        if name not in out or amount > out[name]:
            out[name] = amount
