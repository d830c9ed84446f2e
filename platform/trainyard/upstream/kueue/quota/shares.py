"""Dominant resource shares, by which fair sharing compares queues.

Restated from kueue v0.19.2 pkg/cache/scheduler/fair_sharing.go.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trainyard.upstream.kueue.model.amounts import minus, plus
from trainyard.upstream.kueue.model.queues import FlavorResource
from trainyard.upstream.kueue.quota.tree import QuotaNode


@dataclass(frozen=True, slots=True)
class Share:
    """How much a node borrows of what can be lent, in thousandths, and what it borrows."""

    ratio: float
    weight: float = 1.0
    borrowed: frozenset[FlavorResource] = frozenset()

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
    found = node.shared
    if not isinstance(found, Share):
        found = node.shared = _share(node, {})
    return found


def share_without(node: QuotaNode, amounts: Mapping[FlavorResource, int], cohort: QuotaNode) -> Share:
    """Return the share of a cohort above a node, or of the node itself, if so much less was used there."""
    used = {
        key: minus(cohort.usage[key], node.passed_on(key, amounts[key], cohort))
        for key in cohort.over
        if key in amounts
    }
    return _share(cohort, used) if used else share(cohort)


def shares_with(node: QuotaNode, amounts: Mapping[FlavorResource, int]) -> Iterator[Share]:
    """Yield the shares of a node and of all cohorts above it if so much more was used there."""
    here: QuotaNode | None = node
    while here is not None:
        used = {key: plus(here.usage.get(key, 0), amount) for key, amount in amounts.items()}
        yield _share(here, used) if used else share(here)
        kept = {key: here.unused_kept(key) for key in amounts} if here.kept else {}
        amounts = {key: minus(amount, kept.get(key, 0)) for key, amount in amounts.items() if amount > kept.get(key, 0)}
        here = here.parent


def _share(node: QuotaNode, changed: Mapping[FlavorResource, int]) -> Share:
    """Return the share of a node if of some so much was used; what it has no quota of does not count."""
    if node.parent is None:
        return Share(0.0, node.weight)
    borrowed, by_resource = list[FlavorResource](), dict[str, int]()
    subtree = node.subtree
    for key in {**dict.fromkeys(node.over), **changed} if changed else node.over:
        if key in subtree:
            more = minus(changed[key] if key in changed else node.usage[key], subtree[key])
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
    return Share(ratio, node.weight, frozenset(borrowed))


def lent(cohort: QuotaNode, resources: Mapping[str, int]) -> dict[str, int]:
    """Return how much of each resource a cohort could have in all flavors together."""
    found = dict.fromkeys(resources, 0)
    for key in cohort.root.subtree:
        if key[1] in found:
            found[key[1]] = plus(found[key[1]], cohort.potential(key))
    return found
