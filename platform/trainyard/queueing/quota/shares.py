"""Dominant resource shares, by which fair sharing compares queues.

Restated from kueue v0.19.2 pkg/cache/scheduler/fair_sharing.go.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from trainyard.queueing.model.amounts import minus, plus
from trainyard.queueing.model.queues import FlavorResource
from trainyard.queueing.quota.tree import QuotaNode


@dataclass(frozen=True, slots=True)
class Share:
    """How much a node borrows of what can be lent, in thousandths, and what it borrows."""

    ratio: float
    weight: float = 1.0
    borrowed: tuple[FlavorResource, ...] = ()

    @property
    def borrowing(self) -> bool:
        """Whether the node uses more than its quota of anything."""
        return bool(self.borrowed)

    @property
    def weighted(self) -> float:
        """The ratio by weight; without weight, borrowing is without bounds."""
        if not self.ratio:
            return 0.0
        return self.ratio / self.weight if self.weight else math.inf

    def borrows_of(self, requested: Mapping[FlavorResource, int]) -> bool:
        """Say whether the node borrows what is requested."""
        return any(requested.get(key, 0) > 0 for key in self.borrowed)

    def compare(self, other: Share) -> int:
        """Return -1, 0 or 1; the smaller share goes first, and the larger loses first."""
        mine, theirs = self._unweighable, other._unweighable
        if mine and theirs:
            return (self.ratio > other.ratio) - (self.ratio < other.ratio)
        if mine or theirs:
            return 1 if mine else -1
        return (self.weighted > other.weighted) - (self.weighted < other.weighted)

    @property
    def _unweighable(self) -> bool:
        return self.weight == 0 and self.ratio != 0


LEAST = Share(-1.0)
"""Less than every share of a node."""


def share(node: QuotaNode) -> Share:
    """Return the share of a node as it is; without a parent there is nobody to borrow from."""
    if node.parent is None:
        return Share(0.0, node.weight)
    borrowed, by_resource = [], dict[str, int]()
    for key, quota in node.subtree.items():
        more = minus(node.usage.get(key, 0), quota)
        if more > 0:
            borrowed.append(key)
            by_resource[key[1]] = plus(by_resource.get(key[1], 0), more)
    if not borrowed:
        return Share(0.0, node.weight)
    ratio = 0.0
    lendable = lent(node.parent, by_resource)
    for resource, amount in by_resource.items():
        if lendable[resource] > 0:
            ratio = max(ratio, amount * 1000.0 / lendable[resource])
    return Share(ratio, node.weight, tuple(borrowed))


def lent(cohort: QuotaNode, resources: Mapping[str, int]) -> dict[str, int]:
    """Return how much of each resource a cohort could have in all flavors together."""
    found = dict.fromkeys(resources, 0)
    for key in cohort.root.subtree:
        if key[1] in found:
            found[key[1]] = plus(found[key[1]], cohort.potential(key))
    return found
