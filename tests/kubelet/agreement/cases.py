"""Whole cases drawn at random from a seed: the same seed draws the same cases."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from kubelet.agreement.kubelets import draw_kubelet
from kubelet.agreement.machines import draw_node
from kubelet.agreement.pods import draw_steps


def cases(seed: str, count: int) -> Iterator[dict[str, Any]]:
    """Yield so many cases of a seed."""
    for index in range(count):
        name = f"{seed}/{index}"
        random = Random(name)
        node = draw_node(random)
        kubelet = draw_kubelet(random, node)
        yield {"name": name, "node": node, "kubelet": kubelet, "pods": draw_steps(random, node)}
