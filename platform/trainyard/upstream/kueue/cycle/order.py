"""In which order heads are looked at within a cycle (kueue v0.19.2 scheduler.go, fair_sharing_iterator.go)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import is_

from trainyard.upstream.kueue.cycle.entries import Entry
from trainyard.upstream.kueue.model.gates import Gates
from trainyard.upstream.kueue.model.queues import FlavorResource
from trainyard.upstream.kueue.quota.shares import Share, share, shares_with
from trainyard.upstream.kueue.quota.tree import QuotaNode


def by_age(entries: Sequence[Entry], gates: Gates) -> Iterator[Entry]:
    """Yield entries: with quota first, then those who need not borrow, higher priority, older."""

    def key(entry: Entry) -> tuple[bool, bool, int, int, int]:
        preemptor = entry.pending.preemptor and gates["PrioritizePreemptorWorkloads"]
        priority = entry.pending.priority if gates["PrioritySortingWithinCohort"] else 0
        borrowing = entry.assignment.borrowing if entry.assignment else 0
        return not entry.pending.reserved, not preemptor, borrowing, -priority, entry.pending.ordered

    yield from sorted(entries, key=key)


class Tournament:
    """Finds the next entry among queues of one tree, by the share that each subtree would have with it."""

    def __init__(self, entries: Sequence[Entry], gates: Gates) -> None:
        self.left = {entry.queue.node: entry for entry in entries if entry.queue is not None}
        self.gates = gates
        self.shares: dict[tuple[QuotaNode, QuotaNode], Share] = {}
        self.requested: dict[QuotaNode, dict[FlavorResource, int]] = {}
        self.seen: dict[QuotaNode, list[Share]] = {}
        """The shares without the entry, for which these hold."""

    def entries(self) -> Iterator[Entry]:
        """Yield entries, the winner of a tree at a time; trees go by the names of their queues."""
        while self.left:
            node = min(self.left, key=lambda entry: entry.name)
            winner: QuotaNode | None = node
            if node.parent is not None:
                self._count(node.root)
                winner = self._winner(node.root)
            assert winner is not None
            yield self.left.pop(winner)

    def _count(self, root: QuotaNode) -> None:
        """Note the shares on the path of each entry, with the entry in."""
        for node in self.left:
            if node.root is not root:
                continue
            path = [node, *node.path()]
            seen = [share(quota_node) for quota_node in path[:-1]]
            if all(map(is_, seen, self.seen.get(node, (None,)))):
                continue
            usage = self.left[node].usage()
            self.seen[node], self.requested[node] = seen, usage
            found = zip(path[1:], shares_with(node, usage), strict=False)
            self.shares |= {(cohort, node): one_share for cohort, one_share in found}

    def _winner(self, cohort: QuotaNode) -> QuotaNode | None:
        candidates = [winner for child in cohort.cohorts if (winner := self._winner(child)) is not None]
        candidates += [node for node in cohort.queues if node in self.left]
        best = candidates[0] if candidates else None
        for candidate in candidates[1:]:
            assert best is not None
            if self._before(candidate, best, cohort):
                best = candidate
        return best

    def _before(self, left: QuotaNode, right: QuotaNode, cohort: QuotaNode) -> bool:
        mine, theirs = self.left[left].pending, self.left[right].pending
        if self.gates["PrioritizePreemptorWorkloads"] and mine.preemptor != theirs.preemptor:
            return mine.preemptor
        first, second = self.shares[cohort, left], self.shares[cohort, right]
        if self.gates["FairSharingPrioritizeNonBorrowing"]:
            borrows = first.borrows_of(self.requested[left])
            if borrows != second.borrows_of(self.requested[right]):
                return not borrows
        order = first.compare(second)
        if order:
            return order < 0
        if self.gates["PrioritySortingWithinCohort"] and mine.priority != theirs.priority:
            return mine.priority > theirs.priority
        return mine.ordered < theirs.ordered
