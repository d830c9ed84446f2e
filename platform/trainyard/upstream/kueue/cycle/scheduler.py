"""The cycle itself (kueue v0.19.2 pkg/scheduler/scheduler.go)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from trainyard.upstream.kueue.assign.assigner import Assigner, Rules
from trainyard.upstream.kueue.assign.assignment import Assignment, Placed, Progress
from trainyard.upstream.kueue.assign.modes import Mode
from trainyard.upstream.kueue.assign.pending import Pending
from trainyard.upstream.kueue.assign.placing import placements_wanted, take
from trainyard.upstream.kueue.cycle.entries import Entry, Status
from trainyard.upstream.kueue.cycle.fewer import most_pods
from trainyard.upstream.kueue.cycle.order import Tournament, by_age
from trainyard.upstream.kueue.cycle.waiting import NO_CANDIDATES, NO_FIT, PREEMPTING
from trainyard.upstream.kueue.model.amounts import minus, plus
from trainyard.upstream.kueue.model.queues import ANY, FlavorResource
from trainyard.upstream.kueue.preempt.need import Target
from trainyard.upstream.kueue.preempt.preemptor import Preemptor
from trainyard.upstream.kueue.quota.state import Held, QueueState
from trainyard.upstream.kueue.quota.tree import QuotaNode

WAITING_FOR_QUOTA, WAITING_FOR_VICTIMS = "WaitingForQuota", "WaitingForPreemptedWorkloads"
NO_LONGER = "Workload no longer fits after processing another workload"
OVERLAP = "Workload has overlapping preemption targets with another workload"
DEFERRED = f"{OVERLAP}, but will fit after these preemptions complete"

Admissible = Callable[[Pending, QueueState | None], Entry | None]
"""Returns the entry of a Workload that cannot be considered at all, None for others."""


@dataclass(slots=True)
class Scheduler:
    """The scheduler over queues that are active, by name, and the nodes of their trees."""

    queues: Mapping[str, QueueState]
    nodes: Iterable[QuotaNode]
    rules: Rules
    preemptor: Preemptor
    admissible: Admissible
    number: int = 0

    def cycle(self, heads: Iterable[Pending], now: int) -> list[Entry]:
        """Run one cycle and return what became of the heads; the queues are left as they were."""
        self.number += 1
        self.preemptor.begin(now)
        before = [(node, node.used()) for node in self.nodes]
        entries, refused = self.nominate(heads)
        run = Run(self)
        fair = self.preemptor.strategies is not None
        ordered = Tournament(entries, self.rules.gates).entries() if fair else by_age(entries, self.rules.gates)
        for entry in ordered:
            run.process(entry)
        run.undo()
        for node, used in before:
            node.restore(used)
        return [*entries, *refused]

    def nominate(self, heads: Iterable[Pending]) -> tuple[list[Entry], list[Entry]]:
        """Return the heads with what each would get alone, and those that cannot be considered."""
        entries, refused = [], []
        for pending in heads:
            queue = self.queues.get(pending.queue)
            entry = self.admissible(pending, queue)
            if entry is not None:
                refused.append(entry)
                continue
            entry = Entry(pending, queue)
            assert queue is not None
            entry.record(*self.assignments(pending, queue))
            entries.append(entry)
        return entries, refused

    def assignments(self, pending: Pending, queue: QueueState) -> tuple[Assignment, list[Target]]:
        """Return a Workload's assignment and its preemption targets; with places to hold if it has to wait."""
        if pending.progress is not None and self._outdated(pending.progress, pending, queue):
            pending.progress = None
        assignment, targets = self._initial(pending, queue)
        placed = queue.topologies_only or any(pod_set.explicit for pod_set in pending.workload.pod_sets)
        if (
            placed
            and assignment.mode is Mode.PREEMPT
            and not pending.lost
            and self.rules.gates["TopologyAwareScheduling"]
        ):
            self._hold_places(assignment, pending, queue, targets)
        return assignment, targets

    def _outdated(self, progress: Progress, pending: Pending, queue: QueueState) -> bool:
        if self.rules.gates["FlavorFungibilityPreserveScanProgress"]:
            if progress.shape is not None and pending.shape is not None and progress.shape != pending.shape:
                return True
            if self.number - progress.cycle <= 1:
                return False
        return queue.generation > progress.generation

    def _initial(self, pending: Pending, queue: QueueState) -> tuple[Assignment, list[Target]]:
        question = self.preemptor.question(queue, pending)
        assigner = Assigner(pending, queue, self.rules, question.ask, self.number)
        full = assigner.assign()
        answer = self._with_targets(full, pending, queue)
        if answer is not None:
            return answer
        if self.rules.gates["PartialAdmission"] and pending.shrinkable:
            fewer = most_pods(
                pending.workload.pod_sets,
                lambda counts: self._with_targets(assigner.assign(counts), pending, queue),
            )
            if fewer is not None:
                return fewer
        return full, []

    def _with_targets(
        self, assignment: Assignment, pending: Pending, queue: QueueState
    ) -> tuple[Assignment, list[Target]] | None:
        """Return an assignment that fits, or that victims make fit."""
        if assignment.mode is Mode.FIT:
            return assignment, []
        if assignment.mode is Mode.PREEMPT:
            targets = self.preemptor.targets(pending, assignment, queue)
            if targets:
                return assignment, targets
        return None

    def _hold_places(self, assignment: Assignment, pending: Pending, queue: QueueState, targets: list[Target]) -> None:
        """Look for places that victims leave; without victims, for those of an empty cluster."""
        requests = placements_wanted(assignment, pending, queue)
        shared = self.rules.gates["TASHandleOverlappingFlavors"]
        with self.without_pods([target.held for target in targets]):
            found = queue.find(requests, shared=shared, empty=not targets)
        take(assignment, found)

    @contextmanager
    def without_pods(self, gone: Collection[Held]) -> Iterator[None]:
        """Have topologies be as if Workloads were gone, whose quota stays in use."""
        for holder in gone:
            self.queues[holder.queue].remove({}, holder.placed)
        yield
        for holder in gone:
            self.queues[holder.queue].add({}, holder.placed)

    @contextmanager
    def without_usage(self, gone: Collection[Held], asked: Iterable[FlavorResource]) -> Iterator[None]:
        """Have quota be as if Workloads were gone, of these resources alone."""
        amounts = [{key: holder.usage[key] for key in asked if key in holder.usage} for holder in gone]
        for holder, amount in zip(gone, amounts, strict=True):
            self.queues[holder.queue].node.remove(amount)
        yield
        for holder, amount in zip(gone, amounts, strict=True):
            self.queues[holder.queue].node.add(amount)


class Run:
    """The entries of one cycle, one after the other: each sees what earlier ones took."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler, self.gates = scheduler, scheduler.rules.gates
        self.keeps_progress = self.gates["FlavorFungibilityPreserveScanProgress"]
        self.victims: dict[str, Held] = {}
        self.added: list[tuple[QueueState, Placed]] = []

    def process(self, entry: Entry) -> None:
        """Decide on an entry."""
        usage, placed, fits = self._refreshed(entry)
        assignment, queue = entry.assigned()
        if entry.pending.lost and assignment.mode is not Mode.FIT and self.gates["TASFailedNodeReplacementFailFast"]:
            entry.status = Status.EVICTED
        elif assignment.mode is Mode.NO_FIT:
            entry.why, entry.code = NO_FIT, assignment.reason
        elif assignment.mode is Mode.PREEMPT and not entry.targets:
            entry.why, entry.code = NO_CANDIDATES, WAITING_FOR_QUOTA
            prior = entry.pending.preemptor and self.gates["PrioritizePreemptorWorkloads"]
            if queue.spec.preemption.reclaim != ANY or prior:
                self._add(queue, reserve(entry), entry.placed())
        elif assignment.mode is Mode.DEFERRED:
            entry.message, entry.code, entry.why = DEFERRED, WAITING_FOR_VICTIMS, PREEMPTING
            entry.pending.progress = None
            self._add(queue, usage, placed)
        elif self._overlaps(entry):
            entry.skip(OVERLAP, WAITING_FOR_QUOTA, keeps_progress=self.keeps_progress)
        elif not fits:
            entry.skip(NO_LONGER, WAITING_FOR_QUOTA, keeps_progress=self.keeps_progress)
        else:
            self.victims.update({target.held.key: target.held for target in entry.targets})
            self._add(queue, usage, placed)
            if assignment.mode is Mode.PREEMPT:
                entry.code, entry.why, entry.preempting = WAITING_FOR_VICTIMS, PREEMPTING, True
                entry.pending.progress = None
                entry.message += f". Pending the preemption of {len(entry.targets)} workload(s)"
            else:
                entry.status = Status.ADMITTED

    def undo(self) -> None:
        """Take away what was put into topologies; quota is restored by who took note of it."""
        for queue, placed in reversed(self.added):
            queue.remove({}, placed)

    def _add(self, queue: QueueState, usage: Mapping[FlavorResource, int], placed: Placed) -> None:
        queue.add(usage, placed)
        self.scheduler.preemptor.alike.add(queue.node.root, usage)
        self.added.append((queue, placed))

    def _overlaps(self, entry: Entry) -> bool:
        return any(target.held.key in self.victims for target in entry.targets)

    def _refreshed(self, entry: Entry) -> tuple[dict[FlavorResource, int], Placed, bool]:
        """Return the usage of an entry, and whether it still fits; looks again for amounts that earlier ones took."""
        usage, placed = entry.usage(), entry.placed()
        quota, places = self._fits(entry, usage, placed)
        overlap = self._overlaps(entry) and self.gates["RecomputeAssignmentUponPreemptionTargetsOverlap"]
        again = quota and not places and self.gates["TASRecomputeAssignmentWithinSchedulingCycle"]
        if not (overlap or again):
            return usage, placed, quota and places
        assignment, queue = entry.assigned()
        pending, scheduler = entry.pending, self.scheduler
        pending.progress = None
        pending.pinned = {
            set_.name: {resource: choice.flavor for resource, choice in set_.flavors.items()}
            for set_ in assignment.sets
        }
        victims = list(self.victims.values()) if overlap else []
        self._take(victims)
        entry.record(*scheduler.assignments(pending, queue))
        self._put(victims)
        assignment, _ = entry.assigned()
        if overlap and assignment.mode is Mode.FIT:
            assignment.set_mode([set_.name for set_ in assignment.sets], Mode.DEFERRED)
        usage, placed = entry.usage(), entry.placed()
        fits = all(self._fits(entry, usage, placed))
        pending.pinned = {}
        return usage, placed, fits

    def _take(self, victims: Sequence[Held]) -> None:
        if victims:
            self.scheduler.preemptor.forget()
        for victim in victims:
            queue = self.scheduler.queues[victim.queue]
            queue.workloads.pop(victim.key, None)
            queue.remove(victim.usage, victim.placed)

    def _put(self, victims: Sequence[Held]) -> None:
        if victims:
            self.scheduler.preemptor.forget()
        for victim in victims:
            queue = self.scheduler.queues[victim.queue]
            queue.workloads[victim.key] = victim
            queue.add(victim.usage, victim.placed)

    def _fits(self, entry: Entry, usage: Mapping[FlavorResource, int], placed: Placed) -> tuple[bool, bool]:
        """Say whether quota and places are there, with all victims gone; where they are anyway nobody is taken away."""
        _, queue = entry.assigned()
        gone = {**self.victims, **{target.held.key: target.held for target in entry.targets}}.values()
        quota = queue.fits(usage)
        places = quota and queue.fits_places(placed)
        if gone and not quota:
            asked = self.scheduler.preemptor.alike.first(queue.node.root, usage, frozenset())
            with self.scheduler.without_usage(gone, asked):
                quota = queue.fits(asked)
            places = quota and queue.fits_places(placed)
        if gone and quota and not places:
            with self.scheduler.without_pods(gone):
                places = queue.fits_places(placed)
        return quota, places


def reserve(entry: Entry) -> dict[FlavorResource, int]:
    """Return how much quota a Workload that waits without victims keeps from others."""
    assignment, queue = entry.assigned()
    if entry.pending.reserved:
        return {}
    if assignment.mode is not Mode.PREEMPT:
        return assignment.usage
    kept = {}
    for key, amount in assignment.usage.items():
        quota, used = queue.node.quotas.get(key), queue.node.usage.get(key, 0)
        nominal = quota.nominal if quota else 0
        if assignment.borrowing == 0:
            kept[key] = max(0, min(amount, minus(nominal, used)))
        elif quota is None or quota.borrowing is None:
            kept[key] = amount
        else:
            kept[key] = min(amount, minus(plus(nominal, quota.borrowing), used))
    return kept
