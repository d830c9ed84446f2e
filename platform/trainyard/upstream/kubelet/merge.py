"""The merge of hints: the topology manager's decision without its walk.

The kubelet merges hints by trying one of each resource in all combinations. Its comparison of two results is a total
order, so the best of them follows from the sets of masks alone (cm/topologymanager/policy.go, 1.35.4).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from math import prod

from trainyard.upstream.kubelet.hints import Affinity, Opinion
from trainyard.upstream.kubelet.machine import Machine
from trainyard.upstream.kubelet.outcomes import Panic
from trainyard.upstream.kubelet.sets import members
from trainyard.upstream.kubelet.settings import Settings
from trainyard.upstream.kubelet.walk import walk

MOST_WALKED = 1 << 16
"""As many combinations are tried one by one, a second's work, to find a panic on the way. It comes early or never."""


@dataclass(frozen=True)
class Merger:
    """The topology manager of a machine under its policy."""

    machine: Machine
    settings: Settings
    _distances: dict[int, float] = field(default_factory=dict)

    @property
    def strict(self) -> bool:
        """Tell whether only what all hints prefer is admitted."""
        return self.settings.topology_policy != "best-effort"

    @property
    def single(self) -> bool:
        """Tell whether only single NUMA nodes count."""
        return self.settings.topology_policy == "single-numa-node"

    def permutations(self, opinions: Iterable[Opinion]) -> int:
        """Return how many combinations of hints the kubelet walks through."""
        hints = [opinion for opinion in opinions if opinion is not None]
        if self.single:
            return prod(len(_single(hint.preferred)) for hint in hints)
        return prod(len(hint.masks) or 1 for hint in hints)

    def merge(self, opinions: Iterable[Opinion]) -> Affinity:
        """Return the best affinity; one that is not preferred is refused by every policy but best-effort.

        Raises Panic as `_distance` does.
        """
        hints = [opinion for opinion in opinions if opinion is not None]
        everywhere = self.machine.numa_nodes
        if not hints:
            return self._settled(everywhere)
        if self._mistakes_ids and self.permutations(hints) <= MOST_WALKED:
            return walk(hints, everywhere, self.closer)
        agreed = set(hints[0].preferred).intersection(*(hint.preferred for hint in hints[1:]))
        if self.single:
            agreed = set(_single(agreed))
        if agreed:
            return self._settled(self._narrowest(agreed))
        if self.strict:
            return Affinity()
        return Affinity(self._compromise([hint.masks for hint in hints if hint.masks]) or everywhere)

    @property
    def _mistakes_ids(self) -> bool:
        """Tell whether the kubelet looks for distances where there are none: its nodes are not numbered through."""
        if self.single or not self.settings.prefer_closest:
            return False
        return any(node.id >= len(node.distances) for node in self.machine.numa)

    def _settled(self, nodes: int) -> Affinity:
        return Affinity(None if self.single and nodes == self.machine.numa_nodes else nodes, preferred=True)

    def _compromise(self, lists: list[tuple[int, ...]]) -> int:
        """Return the best set where not all hints agree, 0 where none has a NUMA node in common.

        It has as many nodes as the most demanding resource needs at least; else rather fewer than more.
        """
        if not lists:
            return 0
        met = {self.machine.numa_nodes}
        for masks in sorted(lists, key=len):
            met = {one & other for one in met for other in masks}
        met.discard(0)
        if not met:
            return 0
        wanted = max(min(nodes.bit_count() for nodes in masks) for masks in lists)
        sizes = {nodes.bit_count() for nodes in met}
        size = max((size for size in sizes if size <= wanted), default=min(sizes))
        return self._narrowest(nodes for nodes in met if nodes.bit_count() == size)

    def _narrowest(self, candidates: Iterable[int]) -> int:
        """Return the smallest set; of equally small ones the closest if asked for, then that of the lowest nodes."""
        found = sorted(candidates, key=lambda nodes: (nodes.bit_count(), nodes))
        least = found[0].bit_count()
        equals = [nodes for nodes in found if nodes.bit_count() == least]
        if len(equals) == 1 or self.single or not self.settings.prefer_closest:
            return equals[0]
        return reduce(self.closer, equals)

    def closer(self, one: int, other: int) -> int:
        """Return the closer one of two equally large sets, else that of the lower nodes. Raises Panic."""
        return min((one, other), key=lambda nodes: (self._distance(nodes), nodes))

    def _distance(self, nodes: int) -> float:
        """Return the average distance in a set.

        Raises Panic as the kubelet does, which takes a node's id for its place in the list.
        """
        if nodes not in self._distances:
            rows = [node.distances for node in self.machine.numa if nodes >> node.id & 1]
            ids = list(members(nodes))
            for row in rows:
                for other in ids:
                    if other >= len(row):
                        raise Panic(f"runtime error: index out of range [{other}] with length {len(row)}")
            self._distances[nodes] = sum(row[other] for row in rows for other in ids) / len(ids) ** 2
        return self._distances[nodes]


def _single(masks: Iterable[int]) -> list[int]:
    return [nodes for nodes in masks if nodes.bit_count() == 1]
