"""What the managers count of a pod: whole bytes, and the most that its containers have at one time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from trainyard.nodes.outcomes import Refusal
from trainyard.pods.demand import MEMORY, Container, is_huge_page
from trainyard.quantities import Format

KIBI = 1024
"""From here on the API server writes binary amounts in whole bytes (apimachinery v0.35 pkg/api/resource/amount.go)."""


def at_one_time(containers: Iterable[Container], amounts: Callable[[Container], Mapping[str, int]]) -> dict[str, int]:
    """Return the most of each kind: an init container runs beside the sidecars before it, all others run together.

    Sidecars are init containers that go on running (podGuaranteedCPUs and getPodRequestedResources, 1.35.4).
    """
    running, sidecars = Counter[str](), Counter[str]()
    most: dict[str, int] = {}
    for container in containers:
        own = amounts(container)
        if container.restartable:
            sidecars.update(own)
        if container.restartable or not container.init:
            running.update(own)
        else:
            most |= {name: max(most.get(name, 0), sidecars[name] + amount) for name, amount in own.items()}
    return {name: max(running[name], most.get(name, 0)) for name in {**running, **most}}


def bytes_of(container: Container) -> dict[str, int]:
    """Return a container's memory and huge pages.

    Raises Refusal for what is a fraction of a byte even as the API server writes it.
    """
    requested = {}
    for name, amount in container.requests.items():
        if name != MEMORY and not is_huge_page(name):
            continue
        whole = amount.format is Format.BINARY_SI and amount.amount >= KIBI
        if not whole and amount.amount != amount.amount.to_integral_value():
            raise Refusal("[memorymanager] failed to represent quantity as int64")
        requested[name] = amount.value()
    return requested
