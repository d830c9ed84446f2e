"""The answer to a case, field by field as Kueue's own scheduler gives it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trainyard.upstream.kueue.assign.assignment import Assignment
from trainyard.upstream.kueue.assign.attempts import Attempt
from trainyard.upstream.kueue.model.amounts import UNLIMITED, minus, text_of
from trainyard.upstream.kueue.model.placements import Placement
from trainyard.upstream.kueue.quota.shares import share
from trainyard.upstream.kueue.quota.tree import QuotaNode
from trainyard.upstream.kueue.replay.case import NOMINATE, REST, SETTLE, Case, read
from trainyard.upstream.kueue.replay.records import Record
from trainyard.upstream.kueue.replay.setup import Start, set_up
from trainyard.upstream.kueue.replay.status import QUOTA, AdmittedSet
from trainyard.upstream.kueue.replay.writer import BY_PREEMPTION
from trainyard.upstream.kueue.topology import Crash

Answer = dict[str, Any]


def replay(value: Mapping[str, Any]) -> Answer:
    """Answer a case; what Kueue cannot do with it, or does not survive, is the answer's `error`."""
    case = read(value)
    try:
        start = set_up(case)
        if case.mode != NOMINATE:
            start.simulation.run(case.mode)
        return Teller(case, start).answer()
    except (Crash, ValueError) as error:
        return {"name": case.name, "error": str(error)}


class Teller:
    """Tells what became of a case."""

    def __init__(self, case: Case, start: Start) -> None:
        self.case, self.start, self.simulation = case, start, start.simulation
        self.controller, self.world = start.simulation.controller, start.simulation.controller.world
        self.fair = case.config.get("fairSharing") is not None

    def answer(self, queues: Iterable[str] | None = None) -> Answer:
        """Return the whole answer, by default about all queues; empty fields are left out."""
        simulation = self.simulation
        workloads = {key: self._workload(key) for key in self.start.names}
        for key in self.start.names:
            for eviction in simulation.evictions.get(key, ()):
                if eviction.by in workloads:
                    victim = {"workload": key, "reason": eviction.detail, "cycle": eviction.cycle}
                    workloads[eviction.by].setdefault("victims", []).append(keep_fields(victim))
        found: Answer = {
            "name": self.case.name,
            "mode": self.case.mode,
            "cycles": simulation.last_change,
            "unsettled": self.case.mode in {SETTLE, REST} and not simulation.settled,
            "invalid": [{"object": name, "message": message} for name, message in self.start.invalid],
            "faults": [{"object": name, "message": message} for name, message in self.world.faults],
            "workloads": workloads,
            "clusterQueues": {name: self._queue(name) for name in (self.world.states if queues is None else queues)},
        }
        if self.fair:
            nodes = {name: self.world.cohorts[name] for name in self._cohorts()}
            found["cohorts"] = {name: {"weightedShare": share_answer(node)} for name, node in nodes.items()}
        return keep_fields(found)

    def _cohorts(self) -> list[str]:
        """Return the cohorts that are declared, and those that queues name; others are parents by name alone."""
        refused = {name for name, _ in self.start.invalid}
        declared = (one_case.name for one_case in self.case.of("Cohort") if f"Cohort/{one_case.name}" not in refused)
        named = (state.spec.cohort for state in self.world.states.values() if state.spec.cohort)
        return list(dict.fromkeys((*declared, *named)))

    def _workload(self, key: str) -> Answer:
        record = self.controller.records.get(key)
        if record is None:
            return {"outcome": "invalid"}
        simulation, status = self.simulation, record.status
        outcome = self._outcome(record)
        if self.case.mode == NOMINATE and outcome == "pending":
            return self._nominated(record)
        found: Answer = {"outcome": outcome, "evictions": self._evictions(key)}
        found["admissionChecks"] = [f"{check.name}={check.state}" for check in status.checks]
        if status.reserved:
            assert status.admission is not None
            writer = simulation.writer
            found |= {
                "clusterQueue": status.admission.queue,
                "cycle": writer.admitted_in.get(key, 0),
                "borrowing": writer.borrowing.get(key, False),
                "considered": writer.considered.get(key, ""),
                "podSets": [admitted_set(set_) for set_ in status.admission.sets],
            }
            return keep_fields(found)
        return keep_fields(found | self._waiting(record))

    def _waiting(self, record: Record) -> Answer:
        """Tell what is said of a Workload without quota, and what it asks for."""
        workload, status = record.workload, record.status
        queue, exists = self.world.queue_of(workload.namespace, workload.queue)
        queued = exists and record.key in self.world.waiting[queue]
        amounts = record.quota if queued else record.written
        found: Answer = {"clusterQueue": queue if exists else "", "requests": requests(record, amounts)}
        if not status.active:
            found["message"] = "The workload is deactivated"
        condition = status.conditions.get(QUOTA)
        if condition is not None and not condition.true:
            found |= {"reason": condition.reason, "message": condition.message}
        said = self.simulation.messages.get(record.key, set())
        restless = self.simulation.restless.get(record.key, set())
        said = restless if len(restless) > 1 else said
        if len(said) > 1:
            found |= {"message": "", "messages": sorted(said)}
        return found

    def _outcome(self, record: Record) -> str:
        status, evictions = record.status, self.simulation.evictions.get(record.key, [])
        lost = "preempted" if evictions and evictions[-1].reason == BY_PREEMPTION else "evicted"
        if status.finished:
            return "finished"
        if status.reserved:
            if status.evicted:
                return lost
            return "admitted" if status.admitted else "reserved"
        if evictions:
            return lost
        waiting = (self.world.waiting[name] for name in self.world.states if name not in self.world.inactive)
        return "pending" if any(record.key in one_waiting.heap for one_waiting in waiting) else "inadmissible"

    def _evictions(self, key: str) -> list[Answer]:
        return [
            keep_fields(
                {"cycle": eviction.cycle, "reason": eviction.reason, "by": eviction.by, "detail": eviction.detail},
                always=("cycle",),
            )
            for eviction in self.simulation.evictions.get(key, ())
        ]

    def _nominated(self, record: Record) -> Answer:
        """Tell what a Workload would get alone, with the state as it is."""
        queue, _ = self.world.queue_of(record.workload.namespace, record.workload.queue)
        found: Answer = {"clusterQueue": queue, "requests": requests(record, record.quota)}
        state = self.world.active.get(queue)
        refused = self.controller.reconciler.admissibility(record, queue) if state else None
        if state is None:
            nomination: Answer = {"mode": "NoFit", "message": f"ClusterQueue {queue} is not active"}
        elif refused is not None:
            nomination = {"mode": "NoFit", "noFitReason": "Misconfigured", "message": refused}
        else:
            pending = record.pending(queue)
            assignment, targets = self.simulation.scheduler.assignments(pending, state)
            nomination = keep_fields(
                {
                    "mode": str(assignment.mode),
                    "borrowingLevel": assignment.borrowing,
                    "noFitReason": assignment.reason,
                    "message": assignment.message(),
                    "podSets": self._nominated_sets(assignment),
                    "targets": [{"workload": target.held.key, "reason": target.reason} for target in targets],
                }
            )
        return keep_fields(found) | {"nomination": {"borrowingLevel": 0} | nomination}

    def _nominated_sets(self, assignment: Assignment) -> list[Answer]:
        return [
            keep_fields(
                {
                    "name": set_.name,
                    "count": set_.count,
                    "flavors": {resource: choice.flavor for resource, choice in set_.flavors.items()},
                    "attempts": [self._attempt(one) for one in set_.attempts],
                    "topology": place_answer(set_.placement),
                },
                always=("count",),
            )
            for set_ in assignment.sets
        ]

    def _attempt(self, attempt: Attempt) -> Answer:
        return keep_fields(
            {
                "flavor": attempt.flavor,
                "mode": str(attempt.mode),
                "borrow": attempt.borrow,
                "preemption": attempt.possibility,
                "noFitReason": attempt.why if self.case.gates["UnadmittedWorkloadsObservability"] else "",
                "reasons": sorted(attempt.reasons),
            }
        )

    def _queue(self, name: str) -> Answer:
        """Tell the state of a queue, and what it uses and borrows."""
        state = self.world.states[name]
        reason, message = self.world.inactive.get(name, ("", ""))
        usage: dict[str, dict[str, str]] = {}
        borrowed: dict[str, dict[str, str]] = {}
        for group in state.spec.groups:
            for flavor in group.flavors:
                for resource in group.covered:
                    used = state.node.usage.get((flavor, resource), 0)
                    if used:
                        usage.setdefault(flavor, {})[resource] = text_of(resource, used)
                    more = minus(used, state.node.nominal((flavor, resource)))
                    if more > 0 and state.spec.cohort:
                        borrowed.setdefault(flavor, {})[resource] = text_of(resource, more)
        found = {"reason": reason, "message": message, "usage": usage, "borrowed": borrowed}
        fair = {"weightedShare": share_answer(state.node)} if self.fair else {}
        return {"active": name not in self.world.inactive} | keep_fields(found) | fair


def requests(record: Record, amounts: Iterable[Mapping[str, int]]) -> list[Answer]:
    """Return the total requests of each pod set; `amounts` are of one pod."""
    return [
        keep_fields(
            {
                "name": pod_set.name,
                "count": count,
                "total": {name: text_of(name, min(amount * count, UNLIMITED)) for name, amount in quota.items()},
            },
            always=("count",),
        )
        for pod_set, count, quota in zip(record.workload.pod_sets, record.counts(), amounts, strict=True)
    ]


def admitted_set(got: AdmittedSet) -> Answer:
    """Return the flavors, usage and places that a pod set got."""
    usage = {name: got.written.get(name) or text_of(name, amount) for name, amount in got.usage.items()}
    found = {"name": got.name, "count": got.count, "flavors": dict(got.flavors), "usage": usage}
    more = {"topology": place_answer(got.placement), "delayedTopologyRequest": got.delayed}
    return keep_fields(found | more, always=("count",))


def place_answer(placement: Placement | None) -> Answer | None:
    """Return a place."""
    if placement is None:
        return None
    domains = [{"values": list(domain.values), "count": domain.count} for domain in placement.domains]
    return {"levels": list(placement.levels), "domains": domains}


def share_answer(node: QuotaNode) -> float | str:
    """Return a share to six digits; there is no infinity in JSON."""
    value = share(node).weighted
    return "inf" if math.isinf(value) else float(f"{value:.6g}")


def keep_fields(found: Mapping[str, Any], always: Sequence[str] = ()) -> Answer:
    """Return the fields that say something."""
    return {name: answer for name, answer in found.items() if name in always or answer not in (None, "", 0, [], {})}
