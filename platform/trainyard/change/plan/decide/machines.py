"""What machines make of the jobs of a cluster, each with the cluster to itself, on one side of a change."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

from trainyard.base.memory import Memory
from trainyard.change.plan.decide.workloads import Seen, object_files, read_bid
from trainyard.judge.admission.empty_nodes import Outlook, outlook
from trainyard.judge.admission.job_workloads import Bidder
from trainyard.judge.admission.machines import Machines
from trainyard.judge.admission.site import Site
from trainyard.render.tree.snapshot import Snapshot


class Rooms:
    """The machines of a cluster, asked once about all jobs whose pods are alike, and never about what is remembered."""

    def __init__(self, side: Snapshot, where: Site, spec: bytes | None, memory: Memory) -> None:
        """Take one side of a cluster, and what its file says there."""
        self.where = where
        self.known = memory.table("machines", spec or b"", *object_files(side, where.name).values())

    @cached_property
    def machines(self) -> Machines:
        """Its nodes, empty."""
        return Machines.of(self.where)

    def look(self, bid: Bidder) -> Outlook:
        """Return the outlook of an admitted job's pods on empty nodes."""
        if not isinstance(bid, Seen) or not bid.workloads:
            return Outlook()
        return Outlook(*self.known.of(bid.pods, partial(self.outlook_fields, bid)))

    def outlook_fields(self, bid: Seen) -> list[Any]:
        """Return the fields of what becomes of the pods of a job."""
        found = outlook(read_bid(bid.side, bid.files, self.where, bid.name), self.machines)
        return [found.never, found.perhaps, dict(found.pods)]

    def save(self) -> None:
        """Remember what was asked."""
        self.known.save(unused=True)
