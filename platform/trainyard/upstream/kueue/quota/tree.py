"""Nodes of the quota tree, with usage that is kept as it changes.

Restated from kueue v0.19.2 pkg/cache/scheduler/resource_node.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from trainyard.upstream.kueue.model.amounts import minus, plus
from trainyard.upstream.kueue.model.queues import FlavorResource, Quota

Usage = dict[FlavorResource, int]


class Used(NamedTuple):
    """What was used at a time, and of what that was more than the quota of the subtree."""

    usage: Usage
    over: set[FlavorResource]


class QuotaNode:
    """A queue or a cohort: its own quota, the quota of its subtree, and what is used of it.

    A cohort's usage is what its children use beyond what they keep for themselves.
    """

    __slots__ = (
        *("cohorts", "height", "kept", "limited", "name", "over", "parent", "possible", "queues", "quotas"),
        *("root", "shared", "subtree", "usage", "weight"),
    )

    def __init__(self, name: str, quotas: Mapping[FlavorResource, Quota], weight: float) -> None:
        self.name, self.quotas, self.weight = name, quotas, weight
        self.parent: QuotaNode | None = None
        self.root: QuotaNode = self
        self.height = 0
        self.cohorts: list[QuotaNode] = []
        self.queues: list[QuotaNode] = []
        self.subtree: Usage = {key: quota.nominal for key, quota in quotas.items()}
        self.usage: Usage = {}
        self.kept: Usage = {}
        self.possible: Usage = {}
        self.limited: set[FlavorResource] = set()
        """What is kept from the parent, or borrowed of it within limits."""
        self.over: set[FlavorResource] = set()
        """Of what more is used than the quota of the subtree."""
        self.shared: object | None = None
        """What was found out about the usage as it is; forgotten when it changes."""

    def count(self) -> None:
        """Sum the quota of the subtree, children first; usage is taken to be none."""
        self.subtree = {key: quota.nominal for key, quota in self.quotas.items()}
        for child in (*self.cohorts, *self.queues):
            child.count()
            for key, amount in child.subtree.items():
                self.subtree[key] = plus(self.subtree.get(key, 0), minus(amount, child.kept.get(key, 0)))
        self.kept, self.possible = {}, {}
        for key, quota in self.quotas.items():
            if quota.lending is not None:
                self.kept[key] = max(0, minus(self.subtree.get(key, 0), quota.lending))
        self.limited = {key for key, quota in self.quotas.items() if quota.borrowing is not None or self.kept.get(key)}

    def path(self) -> Iterator[QuotaNode]:
        """Yield the cohorts from the parent to the root."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def measure(self, root: QuotaNode) -> int:
        """Note the root and the distance to the farthest leaf throughout the subtree, and return that of this node."""
        self.root = root
        for queue in self.queues:
            queue.root = root
        below = [cohort.measure(root) + 1 for cohort in self.cohorts]
        self.height = max([*below, 1] if below or self.queues else [0])
        return self.height

    def below(self) -> Iterator[QuotaNode]:
        """Yield the queues of the subtree."""
        yield from self.queues
        for cohort in self.cohorts:
            yield from cohort.below()

    def nodes(self) -> Iterator[QuotaNode]:
        """Yield the node and all below it."""
        yield self
        yield from self.queues
        for cohort in self.cohorts:
            yield from cohort.nodes()

    def unused_kept(self, key: FlavorResource) -> int:
        """Return the quota that is kept from the parent and not in use."""
        kept = self.kept.get(key, 0)
        return max(0, minus(kept, self.usage.get(key, 0))) if kept else 0

    def left(self, key: FlavorResource) -> int:
        """Return the amount that can still be used here, borrowing included; below zero where too much is used."""
        limited, node = [], self
        while node.parent is not None:
            if key in node.limited:
                limited.append(node)
            node = node.parent
        found = minus(node.subtree.get(key, 0), node.usage.get(key, 0))
        for quota_node in reversed(limited):
            found = quota_node.of_parent(key, found)
        return found

    def of_parent(self, key: FlavorResource, above: int) -> int:
        """Return the amount that can still be used here where the parent has that much left."""
        borrowing = self.quotas[key].borrowing
        if borrowing is not None:
            kept, usage = self.kept.get(key, 0), self.usage.get(key, 0)
            stored, used = minus(self.subtree.get(key, 0), kept), max(0, minus(usage, kept))
            above = min(plus(minus(stored, used), borrowing), above)
        return plus(self.unused_kept(key), above)

    def available(self, key: FlavorResource) -> int:
        """Return the amount that can still be used here; zero where too much is used."""
        return max(0, self.left(key))

    def potential(self, key: FlavorResource) -> int:
        """Return the amount that could be used here if nothing else ran."""
        found = self.possible.get(key)
        if found is None:
            found = self.possible[key] = self._potential(key)
        return found

    def _potential(self, key: FlavorResource) -> int:
        subtree = self.subtree.get(key, 0)
        if self.parent is None:
            return subtree
        most = plus(self.kept.get(key, 0), self.parent.potential(key))
        quota = self.quotas.get(key)
        if quota is not None and quota.borrowing is not None:
            return min(plus(subtree, quota.borrowing), most)
        return most

    def nominal(self, key: FlavorResource) -> int:
        """Return the node's own quota."""
        quota = self.quotas.get(key)
        return quota.nominal if quota else 0

    def borrows(self, key: FlavorResource, more: int = 0) -> bool:
        """Say whether the node uses more than the quota of its subtree, with so much added."""
        return plus(self.usage.get(key, 0), more) > self.subtree.get(key, 0)

    def borrows_any(self, keys: AbstractSet[FlavorResource]) -> bool:
        """Say whether the node uses more than the quota of its subtree of any of these."""
        return not self.over.isdisjoint(keys)

    def add(self, amounts: Mapping[FlavorResource, int]) -> None:
        """Use so much more, and pass on to the parent what is not kept."""
        node: QuotaNode | None = self
        while node is not None and amounts:
            amounts, node = node._more(amounts), node.parent

    def _more(self, amounts: Mapping[FlavorResource, int]) -> Mapping[FlavorResource, int]:
        """Use so much more here, and return what of it the parent has to give."""
        usage, subtree, over, passed = self.usage, self.subtree, self.over, amounts
        self.shared = None
        if self.kept:
            unused = {key: self.unused_kept(key) for key in amounts}
            passed = {key: minus(amount, unused[key]) for key, amount in amounts.items() if amount > unused[key]}
        for key, amount in amounts.items():
            used = usage[key] = plus(usage.get(key, 0), amount)
            if used > subtree.get(key, 0):
                over.add(key)
            else:
                over.discard(key)
        return passed

    def remove(self, amounts: Mapping[FlavorResource, int]) -> None:
        """Use so much less, and take it from the parent as far as it was passed on."""
        node: QuotaNode | None = self
        while node is not None and amounts:
            amounts, node = node._less(amounts), node.parent

    def _less(self, amounts: Mapping[FlavorResource, int]) -> Mapping[FlavorResource, int]:
        """Use so much less here, and return what of it the parent gave."""
        usage, subtree, over, kept = self.usage, self.subtree, self.over, self.kept
        self.shared = None
        stored: dict[FlavorResource, int] = {}
        for key, amount in amounts.items():
            used = usage.get(key, 0)
            of_parent = minus(used, kept[key]) if key in kept else used
            if of_parent < amount:
                stored[key] = of_parent
            left = usage[key] = minus(used, amount)
            if left > subtree.get(key, 0):
                over.add(key)
            else:
                over.discard(key)
        return (
            {key: least for key, amount in amounts.items() if (least := stored.get(key, amount)) > 0}
            if stored
            else amounts
        )

    def passed_on(self, key: FlavorResource, amount: int, cohort: QuotaNode) -> int:
        """Return how much less a cohort above, or the node itself, would use if so much less was used here."""
        node = self
        while node is not cohort and node.parent is not None:
            amount = min(amount, max(0, minus(node.usage.get(key, 0), node.kept.get(key, 0))))
            node = node.parent
        return amount

    def used(self) -> Used:
        """Return a copy of the present usage."""
        return Used(dict(self.usage), set(self.over))

    def restore(self, used: Used) -> None:
        """Have so much be used as at another time."""
        self.usage, self.over, self.shared = dict(used.usage), set(used.over), None


def borrow_level(node: QuotaNode, key: FlavorResource, amount: int) -> tuple[int, bool]:
    """Return how far a queue has to reach for so much more, and whether a part of its tree alone has that much.

    The reach is the height of the lowest cohort whose subtree holds it, 0 for the queue itself
    (kueue v0.19.2 FindHeightOfLowestSubtreeThatFits).
    """
    if node.parent is None or not node.borrows(key, amount):
        return 0, node.parent is not None
    rest = minus(amount, node.unused_kept(key))
    for cohort in node.path():
        if not cohort.borrows(key, rest):
            return cohort.height, cohort.parent is not None
        rest = minus(rest, cohort.unused_kept(key))
    return node.root.height, False
