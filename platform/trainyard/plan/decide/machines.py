"""What machines make of the jobs of a cluster, each with the cluster to itself, on one side of a change."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from trainyard.admission.alone import Outlook, outlook
from trainyard.admission.bid import Bidder
from trainyard.admission.machines import Machines
from trainyard.admission.site import Site
from trainyard.plan.decide.workloads import Seen, listed, whole
from trainyard.plan.read.memory import Memory
from trainyard.tree.snapshot import Snapshot


class Rooms:
    """The machines of a cluster, asked once about all jobs whose pods are alike, and never about what is remembered."""

    def __init__(self, side: Snapshot, where: Site, spec: bytes | None, memory: Memory) -> None:
        """Take one side of a cluster, and what its file says there."""
        self.where, self.memory = where, memory
        self.parts = ("machines", (spec or b"").decode(errors="replace"), *listed(side, where.name).values())
        self.known: dict[str, Any] = memory.get(*self.parts) or {}
        self.asked: set[str] = set()

    @cached_property
    def machines(self) -> Machines:
        """Its nodes, empty."""
        return Machines.of(self.where)

    def look(self, bid: Bidder) -> Outlook:
        """Return what becomes of the pods of a job that Kueue admits, on empty nodes."""
        if not isinstance(bid, Seen) or not bid.workloads:
            return Outlook()
        if bid.pods not in self.known:
            self.asked.add(bid.pods)
            found = outlook(whole(bid.side, bid.files, self.where, bid.name), self.machines)
            self.known[bid.pods] = [found.never, found.perhaps, dict(found.pods)]
        return Outlook(*self.known[bid.pods])

    def save(self) -> None:
        """Remember what was asked."""
        if self.asked:
            self.memory.put(self.known, *self.parts)
