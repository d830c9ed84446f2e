"""Resources of which everybody has, holds and asks for the same parts: whoever has to go for one has to go for all.

Of a node's CPUs, memory and network cards mostly as many go with each GPU, and quotas are given in whole nodes, so that
one of them is everywhere in a tree a multiple of the other. Victims are found by comparing sums of one resource, and a
factor changes no comparison. Kueue searches for each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import gcd

from trainyard.upstream.kueue.model.amounts import SAFE
from trainyard.upstream.kueue.model.queues import FlavorResource
from trainyard.upstream.kueue.quota.state import Held, QueueState
from trainyard.upstream.kueue.quota.tree import QuotaNode

LARGE = SAFE // 16
"""Amounts below it stay within 64 bits in all sums that are compared."""

Sort = tuple[int, int]
"""A number that is the same for resources that are alike, and what all amounts of one are multiples of."""


@dataclass(slots=True)
class Sorts:
    """What was found out of the resources of a tree, and the Workloads that were looked at."""

    of: dict[FlavorResource, Sort]
    held: set[Held]

    def same(self, usage: Mapping[FlavorResource, int]) -> bool:
        """Say whether a Workload uses the same of all resources that are alike."""
        first: dict[int, tuple[int, int]] = {}
        for key, (sort, unit) in self.of.items():
            amount = usage.get(key, 0)
            other, its = first.setdefault(sort, (amount, unit))
            if other * unit != amount * its:
                return False
        return True

    def alike(self, held: Held) -> bool:
        """Say whether a Workload holds the same of all resources that are alike."""
        marks: dict[int, bool] = {}
        for key, (sort, _) in self.of.items():
            if marks.setdefault(sort, key in held.assigned) != (key in held.assigned):
                return False
        return self.same(held.usage)


@dataclass(slots=True)
class Alike:
    """Compares resources as everything is, and as it stays while only Workloads that are compared come and go.

    With `fair` shares decide, which are sums over flavors and not exact: only equal amounts in all flavors are alike.
    """

    queues: Mapping[str, QueueState]
    fair: bool
    known: dict[QuotaNode, Sorts] = field(default_factory=dict)
    passing: set[QuotaNode] = field(default_factory=set)
    """Trees in which Workloads use quota that they do not hold."""

    def begin(self) -> None:
        """Have a cycle begin: nobody uses quota without holding it, and others hold quota than before."""
        for root in self.passing:
            self.known.pop(root, None)
        self.passing.clear()
        for root, sorts in list(self.known.items()):
            held = set(self._held(root))
            if all(map(sorts.alike, held - sorts.held)):
                sorts.held = held
            else:
                del self.known[root]

    def forget(self) -> None:
        """Look again: Workloads are away, or back."""
        self.known.clear()

    def add(self, root: QuotaNode, usage: Mapping[FlavorResource, int]) -> None:
        """Have a Workload use quota in a tree: what it does not use the same of is alike no more."""
        if root not in self.known or not self.known[root].same(usage):
            self.known.pop(root, None)
            self.passing.add(root)

    def sort(self, root: QuotaNode, key: FlavorResource, amount: int) -> object:
        """Return the key that is the same for requests that get the same answer in a tree."""
        if root not in self.known:
            self.known[root] = self._sorts(root)
        if key not in self.known[root].of:
            return key, amount
        sort, unit = self.known[root].of[key]
        divisor = gcd(amount, unit)
        return sort, amount // divisor, unit // divisor

    def first(
        self, root: QuotaNode, usage: Mapping[FlavorResource, int], scarce: frozenset[FlavorResource]
    ) -> Mapping[FlavorResource, int]:
        """Return the requests without those that are like an earlier one and as scarce; by shares, all of them."""
        if self.fair:
            return usage
        found: dict[object, FlavorResource] = {}
        for key, amount in usage.items():
            found.setdefault((key in scarce, self.sort(root, key, amount)), key)
        return {key: usage[key] for key in found.values()}

    def _sorts(self, root: QuotaNode) -> Sorts:
        nodes, held = list(root.nodes()), list(self._held(root))
        columns = {key: column(key, nodes, held, exact=self.fair) for key in root.subtree}
        number = number_values(sort for sort, _ in columns.values())
        found = {key: (number[sort], unit) for key, (sort, unit) in columns.items()}
        if self.fair:
            flavors = sorted({flavor for flavor, _ in found})
            rows = {key: (key[0], *(found.get((flavor, key[1])) for flavor in flavors)) for key in found}
            number = number_values(rows.values())
            found = {key: (number[row], 1) for key, row in rows.items()}
        return Sorts(found, set(held))

    def _held(self, root: QuotaNode) -> Iterator[Held]:
        for node in root.nodes():
            if node.name in self.queues and self.queues[node.name].node is node:
                yield from self.queues[node.name].workloads.values()


def number_values(values: Iterable[object]) -> dict[object, int]:
    """Return a number of each value."""
    return {fromkey: number for number, fromkey in enumerate(dict.fromkeys(values))}


def column(key: FlavorResource, nodes: list[QuotaNode], held: list[Held], *, exact: bool) -> tuple[object, int]:
    """Return the reduced amounts of a resource that all have, use and hold, and the unit that they are multiples of."""
    quotas = [node.quotas.get(key) for node in nodes]
    amounts = [node.usage.get(key, 0) for node in nodes]
    amounts += [node.subtree.get(key, 0) for node in nodes]
    amounts += [node.kept.get(key, 0) for node in nodes]
    amounts += [quota.nominal for quota in quotas if quota is not None]
    amounts += [quota.borrowing for quota in quotas if quota is not None and quota.borrowing is not None]
    amounts += [holder.usage.get(key, 0) for holder in held]
    marks = tuple(quota is not None and quota.borrowing is not None for quota in quotas)
    marks += tuple(quota is not None for quota in quotas)
    marks += tuple(key in holder.assigned for holder in held)
    unit = 1 if exact or max(amounts) >= LARGE else gcd(*amounts) or 1
    return (marks, tuple(amounts) if unit == 1 else tuple(amount // unit for amount in amounts)), unit
