"""What the memory manager counts of a container: whole bytes."""

from __future__ import annotations

from trainyard.base.quantities import Format
from trainyard.upstream.kubelet.outcomes import Refusal
from trainyard.upstream.pods.demand import Container, Resources
from trainyard.upstream.pods.resources import MEMORY, is_huge_page

KIBI = 1024
"""From here on the API server writes binary amounts in whole bytes (apimachinery v0.35 pkg/api/resource/amount.go)."""


def bytes_of(container: Container) -> dict[str, int]:
    """Return a container's memory and huge pages.

    Raises Refusal for what is a fraction of a byte even as the API server writes it.
    """
    return _bytes_of(container.requests)


def amounts_of(requests: Resources) -> dict[str, int]:
    """Return the memory and huge pages of a pod as a whole, none of which is zero. Raises Refusal as `bytes_of`."""
    return {name: size for name, size in _bytes_of(requests).items() if size > 0}


def _bytes_of(requests: Resources) -> dict[str, int]:
    requested = {}
    for name, amount in requests.items():
        if name != MEMORY and not is_huge_page(name):
            continue
        whole = amount.format is Format.BINARY_SI and amount.amount >= KIBI
        if not whole and amount.amount != amount.amount.to_integral_value():
            raise Refusal("[memorymanager] failed to represent quantity as int64")
        requested[name] = amount.value()
    return requested
