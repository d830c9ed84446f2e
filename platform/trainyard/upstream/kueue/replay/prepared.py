"""A cluster that is asked many times: its queues, flavors and topologies are built once, and given back each time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from trainyard.upstream.kueue.quota.tree import QuotaNode, Used
from trainyard.upstream.kueue.replay.answers import Answer, Teller
from trainyard.upstream.kueue.replay.case import NOMINATE, read
from trainyard.upstream.kueue.replay.records import Record
from trainyard.upstream.kueue.replay.setup import Setup, Start
from trainyard.upstream.kueue.topology import Crash

Object = Mapping[str, Any]


class Prepared:
    """A case without Workloads. What is asked of it leaves it as it was."""

    def __init__(self, value: Object) -> None:
        """Take a case; raises ValueError where it is none."""
        self.case = read(value)
        self._setup: Setup | None = None
        self._standing: Sequence[Record] = ()
        self._usage: list[tuple[QuotaNode, Used]] = []

    def decided(
        self, objects: Sequence[Object], admitted: Sequence[Object] = (), *, briefly: bool = False, mode: str = ""
    ) -> Answer:
        """Return the answer to the case with these Workloads and templates of claims, as `replay` would give it.

        Briefly it is about the queues of these Workloads alone. The mode is the case's unless another one is said.
        """
        try:
            start = self._started(objects, admitted, mode or self.case.mode)
            if start.case.mode != NOMINATE:
                start.simulation.run(start.case.mode)
            answer = Teller(start.case, start).answer(self._queues(start) if briefly else None)
            self._restore()
        except (Crash, ValueError) as error:
            self._setup = None
            return {"name": self.case.name, "error": str(error)}
        return answer

    @contextmanager
    def beside(self, objects: Sequence[Object], admitted: Sequence[Object]) -> Iterator[None]:
        """Have Workloads hold quota while others are asked about; these are none that may be preempted.

        Raises ValueError for what Kueue could not hold.
        """
        start = self._started(objects, admitted, self.case.mode)
        assert self._setup is not None
        self._standing, self._usage = list(start.simulation.controller.records.values()), self._setup.snapshot()
        own = self.case
        self.case = replace(own, count=own.count + len(objects))
        try:
            yield
        finally:
            self.case, self._standing = own, ()
            if self._setup is not None:
                self._usage = self._setup.empty
                self._restore()

    def _started(self, objects: Sequence[Object], admitted: Sequence[Object], mode: str) -> Start:
        if self._setup is None:
            self._setup = Setup(self.case)
            self._setup.build()
            self._usage = self._setup.empty
            for record in self._standing:
                self._setup.world.hold(record.held())
            if self._standing:
                self._usage = self._setup.snapshot()
        case = replace(self.case.with_more(objects, admitted), mode=mode)
        return self._setup.start(case, self._standing)

    def _restore(self) -> None:
        assert self._setup is not None
        self._setup.restore(self._usage, {record.key for record in self._standing})

    def _queues(self, start: Start) -> list[str]:
        """Return the queues of the Workloads that are asked about."""
        records = start.simulation.controller.records
        world = start.simulation.controller.world
        asked = (records[name].workload for name in start.names if name in records)
        found = dict.fromkeys(world.queue_of(workload.namespace, workload.queue)[0] for workload in asked)
        return [name for name in found if name in world.states]
