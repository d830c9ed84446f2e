"""The topology manager's walk through all combinations of hints, as it is: for machines on which it panics on the way.

cm/topologymanager/policy.go HintMerger, 1.35.4. Elsewhere the merge does without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from itertools import product
from operator import and_

from trainyard.upstream.kubelet.hints import Affinity, Hints
from trainyard.upstream.kubelet.sets import subsets

Closer = Callable[[int, int], int]
"""Takes the better one of two sets of NUMA nodes of one size, the current one first."""


def walk(opinions: Iterable[Hints], everywhere: int, closer: Closer) -> Affinity:
    """Return the best affinity, comparing one combination after the other. Raises what `closer` raises."""
    place = {nodes: index for index, nodes in enumerate(subsets(everywhere))}
    lists = [_in_order(hints, everywhere, place) for hints in opinions]
    wanted = max((min(sequence)[0] for sequence in lists if sequence[0][0]), default=0)
    best: Affinity | None = None
    for combination in product(*lists):
        masks = [nodes for size, nodes, _ in combination if size]
        nodes = reduce(and_, masks, everywhere)
        found = Affinity(nodes, all(good for _, _, good in combination) and len(set(masks)) <= 1)
        if nodes and (best is None or _is_better(found, best, wanted, closer)):
            best = found
    return best or Affinity(everywhere)


def _in_order(hints: Hints, everywhere: int, place: dict[int, int]) -> list[tuple[int, int, bool]]:
    """Return size, nodes and preference of each hint in the order of their making, or one hint that fits nowhere."""
    ranked = [(nodes.bit_count(), nodes, nodes in hints.preferred) for nodes in hints.masks]
    return sorted(ranked, key=lambda hint: place[hint[1]]) or [(0, everywhere, False)]


def _is_better(found: Affinity, best: Affinity, wanted: int, closer: Closer) -> bool:
    """Tell whether a combination takes the place of the best one so far."""
    if found.preferred != best.preferred:
        return found.preferred
    new, old = found.nodes or 0, best.nodes or 0
    sizes = new.bit_count(), old.bit_count()
    if sizes[0] == sizes[1]:
        return new != old and closer(old, new) == new
    if found.preferred or sizes[1] > wanted:
        return sizes[0] < sizes[1]
    return sizes[1] < sizes[0] <= wanted
