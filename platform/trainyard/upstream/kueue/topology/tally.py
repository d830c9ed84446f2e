"""The counts of domains, kept from one request to the next of the same shape: only what changed is counted anew.

Queues ask again and again for pods of few shapes, and little changes in between.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from operator import mul

from trainyard.upstream.kueue.topology.ask import Ask
from trainyard.upstream.kueue.topology.counts import Counts, sum_children, sum_up
from trainyard.upstream.kueue.topology.filters import Matches
from trainyard.upstream.kueue.topology.room import Fills, Room, Sort
from trainyard.upstream.kueue.topology.tree import Tree

MOST = 64
"""Shapes that are kept; of 2,000 nodes each takes a tenth of a megabyte."""

MANY = 500_000
"""Changes after which all counts are forgotten, and the list of changes with them."""

ANEW = 8
"""Where more than one leaf in so many has changed, all are counted."""


@dataclass(slots=True)
class Kept:
    """Counts, and how many changes of the room they know of."""

    counts: Counts
    changes: int


class Tally:
    """The counts of one tree."""

    def __init__(self, tree: Tree, room: Room) -> None:
        """Take the tree, and what its leaves have left."""
        self.tree, self.room = tree, room
        self.kept: dict[Hashable, Kept] = {}

    def counts(self, ask: Ask, sort: Sort, matches: Matches, *, empty: bool) -> Counts:
        """Return the room of each domain; the caller may change it."""
        key = (sort, id(matches), ask.size, ask.slice_level, tuple(ask.inner.items()), empty)
        if len(self.room.changes) > MANY:
            self.kept.clear()
            self.room.changes.clear()
        kept = self.kept.pop(key, None)
        seen = len(self.room.changes)
        if kept is None or not (empty or self._renewed(kept, ask, sort, matches.open)):
            fills = self.room.fills(sort, empty=empty, assumed={})
            kept = Kept(self.counted(ask, fills, matches.open, matches.scores), seen)
        kept.changes = seen
        self.kept[key] = kept
        if len(self.kept) > MOST:
            del self.kept[next(iter(self.kept))]
        return kept.counts.lent(led=bool(ask.leaders))

    def counted(self, ask: Ask, fills: Fills, allowed: Sequence[int] | None, scores: Sequence[int] | None) -> Counts:
        """Count all domains, given the room of the leaves and where pods may run."""
        counts, start = Counts.of(self.tree), self.tree.leaves.start
        pods, led = fills.pods, fills.led
        if allowed is not None:
            pods, led = [*map(mul, pods, allowed)], [*map(mul, led, allowed)]
        counts.pods[start:], counts.led_pods[start:] = pods, led
        if fills.leaders is not None:
            counts.leaders[start:] = [*map(mul, fills.leaders, allowed)] if allowed is not None else fills.leaders
        if scores is not None:
            counts.score[start:] = scores
        sum_up(self.tree, counts, ask)
        return counts

    def _renewed(self, kept: Kept, ask: Ask, sort: Sort, allowed: Sequence[int] | None) -> bool:
        """Count the leaves that changed, and what they are in; say whether they are few enough for that."""
        tree, start = self.tree, self.tree.leaves.start
        changed = set(self.room.changes[kept.changes :])
        if len(changed) * ANEW > len(tree.leaves):
            return False
        for leaf in changed:
            self._count(kept.counts, start + leaf, ask, sort, 1 if allowed is None else allowed[leaf])
        domains = {tree.parent[start + leaf] for leaf in changed}
        for level in range(len(tree.levels) - 2, -1, -1):
            for domain in domains:
                sum_children(tree, kept.counts, ask, domain, level, ask.inner)
            domains = {tree.parent[domain] for domain in domains}
        return True

    def _count(self, counts: Counts, leaf: int, ask: Ask, sort: Sort, allowed: int) -> None:
        pods, led, leaders = self.room.fill(sort, self.room.left[leaf - self.tree.leaves.start])
        counts.pods[leaf], counts.led_pods[leaf], counts.leaders[leaf] = (
            pods * allowed,
            led * allowed,
            leaders * allowed,
        )
        if ask.slice_level == len(self.tree.levels) - 1:
            counts.slices[leaf] = counts.pods[leaf] // ask.size
            counts.led_slices[leaf] = counts.led_pods[leaf] // ask.size
