"""The search for flavors, pod set by pod set (kueue v0.19.2 pkg/scheduler/flavorassigner/flavorassigner.go)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from trainyard.upstream.kueue.assign.assignment import Assignment, Choice, Progress, SetAssignment
from trainyard.upstream.kueue.assign.attempts import Attempt, merge
from trainyard.upstream.kueue.assign.matching import mismatch
from trainyard.upstream.kueue.assign.modes import BEST, WORST, Grade, Mode, Search, goes_on, is_preferred
from trainyard.upstream.kueue.assign.pending import Pending
from trainyard.upstream.kueue.assign.placing import placements_wanted, take, unsuited_reason
from trainyard.upstream.kueue.assign.reasons import EXCEEDS, NO_FLAVOR, TOPOLOGY, WAITING, worse
from trainyard.upstream.kueue.model.amounts import minus, plus, quota_text, rank, text_of
from trainyard.upstream.kueue.model.flavors import ResourceFlavor
from trainyard.upstream.kueue.model.gates import Gates
from trainyard.upstream.kueue.model.queues import NEVER, FlavorResource, ResourceGroup
from trainyard.upstream.kueue.quota.state import QueueState, failure
from trainyard.upstream.kueue.quota.tree import borrow_level
from trainyard.upstream.pods.resources import PODS

Simulate = Callable[[FlavorResource, int], tuple[Search, int]]
"""Asks what preemption could do for the Workload in its queue, for so much of one flavor and resource."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for all queues: flavors, gates, whether sharing is fair, and what of undeclared resources."""

    flavors: Mapping[str, ResourceFlavor]
    gates: Gates
    fair: bool = False
    ignore_undeclared: bool = False


@dataclass(slots=True)
class Found:
    """What a resource group gave: flavors by resource, what is against them, and what was tried."""

    choices: dict[str, Choice] = field(default_factory=dict)
    reasons: list[str] | None = None
    error: str | None = None
    attempts: list[Attempt] = field(default_factory=list)


class Assigner:
    """Looks for flavors for one Workload in its queue as it is."""

    def __init__(self, pending: Pending, queue: QueueState, rules: Rules, simulate: Simulate, cycle: int) -> None:
        self.pending, self.queue, self.rules, self.simulate, self.cycle = pending, queue, rules, simulate, cycle
        self.observed = rules.gates["UnadmittedWorkloadsObservability"]

    def assign(self, counts: Sequence[int] | None = None) -> Assignment:
        """Return the assignment that the Workload would get, with fewer pods where counts say so."""
        pending, queue = self.pending, self.queue
        assignment = Assignment(
            Progress([], queue.generation, self.cycle, pending.shape),
            binds=self.rules.gates.errors_bind,
            one_flavor=self.rules.gates.one_flavor,
        )
        for members in self._groups(counts):
            if not self._assign_group(members, assignment):
                break
        else:
            if assignment.mode is not Mode.NO_FIT and self.rules.gates["TopologyAwareScheduling"]:
                self._place(assignment)
        if self.observed:
            assignment.resolve_reason(queue.spec)
        return assignment

    def _groups(self, counts: Sequence[int] | None) -> list[list[tuple[int, SetAssignment]]]:
        """Return the pod sets by group, each with what it asks for; groups stand where their first member does."""
        covers_pods = self.queue.spec.group_of(PODS) is not None
        groups: dict[str, list[tuple[int, SetAssignment]]] = {}
        for index, (wanted, pod_set) in enumerate(zip(self.pending.sets, self.pending.workload.pod_sets, strict=True)):
            count = wanted.count if counts is None or wanted.count == 0 else counts[index]
            requests = wanted.requests(count)
            if covers_pods:
                requests[PODS] = count
            group = str(index) if pod_set.group is None else pod_set.group
            assigned = SetAssignment(wanted.name, count, requests)
            self._keep(assigned)
            groups.setdefault(group, []).append((index, assigned))
        return list(groups.values())

    def _keep(self, assigned: SetAssignment) -> None:
        """Take over what a pod set holds already."""
        held = self.pending.held(assigned.name)
        if held is not None and self.rules.gates["TopologyAwareScheduling"]:
            assigned.flavors = {resource: Choice(flavor, Mode.FIT) for resource, flavor in held.flavors.items()}
            assigned.placement, assigned.delayed = held.placement, held.delayed

    def _assign_group(self, members: list[tuple[int, SetAssignment]], assignment: Assignment) -> bool:
        """Assign flavors to the pod sets of a group; returns whether all of them have some."""
        requests: dict[str, int] = {}
        for _, assigned in members:
            for resource, amount in assigned.requests.items():
                requests[resource] = plus(requests.get(resource, 0), amount)
        known = {
            resource: choice for _, set_assignment in members for resource, choice in set_assignment.flavors.items()
        }
        found = self._flavors([index for index, _ in members], requests, assignment.usage, known)
        failed = False
        for index, assigned in members:
            assigned.flavors = self._own(index, assigned, found.choices)
            assigned.reasons, assigned.error = list(found.reasons or ()), found.error
            assigned.attempts = found.attempts
            assignment.append(assigned)
            failed = failed or assigned.error is not None or bool(assigned.requests and not assigned.flavors)
        return not failed

    def _flavors(
        self,
        members: list[int],
        requests: Mapping[str, int],
        used: Mapping[FlavorResource, int],
        known: Mapping[str, Choice],
    ) -> Found:
        """Return the flavors of all resources of a group of pod sets, beginning with those that are known."""
        whole, tried = Found(dict(known), reasons=[]), dict[str, Attempt]()
        for resource in sorted(requests, key=rank):
            if resource in whole.choices:
                continue
            group = self.queue.spec.group_of(resource)
            if group is None and (not requests[resource] or self.rules.ignore_undeclared):
                continue
            if group is None:
                found = Found(reasons=[f"resource {resource} unavailable in ClusterQueue"])
            else:
                found = self._search(members, requests, resource, group, used)
                merge(tried, found.attempts, group, resource)
            if found.error is not None or not found.choices:
                whole = Found(reasons=found.reasons, error=found.error)
                break
            whole.choices.update(found.choices)
            assert whole.reasons is not None
            whole.reasons.extend(found.reasons or ())
        whole.attempts = [tried[flavor] for flavor in sorted(tried)]
        return whole

    def _own(self, index: int, assigned: SetAssignment, choices: Mapping[str, Choice]) -> dict[str, Choice]:
        """Return the choices for what the pod set asks for; one without requests goes with its group's topology."""
        if assigned.requests:
            return {resource: choice for resource, choice in choices.items() if resource in assigned.requests}
        if self.pending.workload.pod_sets[index].group is None:
            return {}
        return {resource: choice for resource, choice in choices.items() if choice.flavor in self.queue.places}

    def _search(
        self,
        members: list[int],
        requests: Mapping[str, int],
        resource: str,
        group: ResourceGroup,
        used: Mapping[FlavorResource, int],
    ) -> Found:
        """Try the flavors of a resource group in their order, from where the last cycle left off."""
        fungible, rule = self.rules.gates["FlavorFungibility"], self.queue.spec.fungibility
        asked = {name: requests[name] for name in sorted(requests, key=rank) if name in group.covered}
        found, best, last = Found(reasons=[]), WORST, -1
        assert found.reasons is not None
        progress = self.pending.progress
        start = progress.next_flavor(members[0], resource) if progress and fungible else 0
        for index in range(start, len(group.flavors)):
            last, flavor = index, group.flavors[index]
            if self._pinned_elsewhere(flavor, members, resource):
                found.reasons.append(
                    f"skipping flavor {flavor} as it is not found in the nomination mapping for resource {resource}"
                )
                continue
            unusable = self._mismatch(flavor, members, group)
            if unusable is not None:
                found.reasons.append(unusable)
                found.attempts.append(Attempt(flavor, Mode.NO_FIT, reasons=(unusable,), why=NO_FLAVOR))
                continue
            choices, grade, attempt = self._grade(flavor, asked, used, found.reasons)
            found.attempts.append(attempt)
            if fungible and not goes_on(grade, rule):
                found.choices, best = choices, grade
                break
            if is_preferred(grade, best, rule) if fungible else grade.search > best.search:
                found.choices, best = choices, grade
                if not fungible and best.search is Search.FIT:
                    break
        if fungible:
            for choice in found.choices.values():
                choice.tried = -1 if last == len(group.flavors) - 1 else last
        if best.search is Search.FIT:
            found.reasons = None
        return found

    def _grade(
        self, flavor: str, asked: Mapping[str, int], used: Mapping[FlavorResource, int], told: list[str]
    ) -> tuple[dict[str, Choice], Grade, Attempt]:
        """Return how good a flavor is for all resources that are asked for."""
        choices: dict[str, Choice] = {}
        worst, farthest, why = BEST, 0, ""
        reasons: list[str] = []
        for resource, amount in asked.items():
            key = (flavor, resource)
            search, borrow, reason, code = self._fits(key, used.get(key, 0), amount)
            if reason is not None:
                reasons.append(reason)
                told.append(reason)
                why = worse(why, code)
            farthest = max(farthest, borrow)
            grade = Grade(search, borrow)
            if is_preferred(worst, grade, self.queue.spec.fungibility):
                worst = grade
            if worst.search is not Search.NO_FIT:
                choices[resource] = Choice(flavor, search.mode, borrow)
        mode, possibility = worst.search.mode, worst.search.possibility
        attempt = Attempt(flavor, mode, farthest, possibility, tuple(sorted(reasons)), why)
        return choices, worst, attempt

    def _fits(self, key: FlavorResource, used: int, amount: int) -> tuple[Search, int, str | None, str]:
        """Return the step that a request needs, its borrowing level, and the reason against it with its code."""
        node, (flavor, resource) = self.queue.node, key
        available, most, total = node.available(key), node.potential(key), plus(used, amount)
        if total > most:
            reason = (
                f"insufficient quota for {resource} in flavor {flavor}, previously considered podsets requests "
                f"({quota_text(resource, used)}) + current podset request ({text_of(resource, amount)}) > "
                f"maximum capacity ({quota_text(resource, most)})"
            )
            return Search.NO_FIT, 0, reason, EXCEEDS
        level, reclaimable = borrow_level(node, key, total)
        if total <= available:
            return Search.FIT, level, None, ""
        missing = quota_text(resource, minus(total, available))
        reason = f"insufficient unused quota for {resource} in flavor {flavor}, {missing} more needed"
        if node.nominal(key) >= total or reclaimable or self._preempts_while_borrowing():
            search, level = self.simulate(key, total)
            return search, level, reason, ""
        return Search.NO_FIT, level, reason, WAITING

    def _preempts_while_borrowing(self) -> bool:
        rule = self.queue.spec.preemption
        return rule.borrow != NEVER or (self.rules.fair and rule.reclaim != NEVER)

    def _pinned_elsewhere(self, flavor: str, members: list[int], resource: str) -> bool:
        pinned, gates = self.pending.pinned, self.rules.gates
        if not pinned or not (
            gates["RecomputeAssignmentUponPreemptionTargetsOverlap"]
            or (gates["TopologyAwareScheduling"] and gates["TASRecomputeAssignmentWithinSchedulingCycle"])
        ):
            return False
        return all(pinned.get(self.pending.sets[index].name, {}).get(resource) != flavor for index in members)

    def _mismatch(self, name: str, members: list[int], group: ResourceGroup) -> str | None:
        """Return why the pods cannot use a flavor, whatever its quota."""
        flavor, gates = self.rules.flavors.get(name), self.rules.gates
        if flavor is None:
            return f"flavor {name} not found"
        for index in members:
            pod_set, wanted = self.pending.workload.pod_sets[index], self.pending.sets[index]
            if gates["TopologyAwareScheduling"]:
                reason = unsuited_reason(pod_set, wanted, flavor, self.queue, None if gates.one_flavor else group)
                if reason is not None:
                    return reason
            if (index, name) not in self.pending.matched:
                self.pending.matched[index, name] = mismatch(wanted.spec, flavor, self._keys(group))
            reason = self.pending.matched[index, name]
            if reason is not None:
                return reason
        return None

    def _keys(self, group: ResourceGroup) -> frozenset[str] | None:
        """Return the label keys of all flavors of the group where they count, None where a flavor's own do."""
        if self.rules.gates.own_keys:
            return None
        known = (self.rules.flavors[name] for name in group.flavors if name in self.rules.flavors)
        return frozenset(key for flavor in known for key in flavor.node_labels)

    def _place(self, assignment: Assignment) -> None:
        """Look for places in topologies; where there are none, ask whether an empty cluster would have some."""
        requests = placements_wanted(assignment, self.pending, self.queue)
        order = [set_.name for set_ in assignment.sets]
        shared = self.rules.gates["TASHandleOverlappingFlavors"]
        lost = self.pending.lost
        if assignment.mode is Mode.FIT:
            found = self.queue.find(requests, shared=shared, losses=self.pending.losses() if lost else None)
            failed = failure(found, order)
            if failed is None:
                take(assignment, found)
            else:
                assignment.of(failed[0]).reasons.append(failed[2])
                assignment.set_mode([failed[0]], Mode.PREEMPT)
        if assignment.mode is Mode.PREEMPT and not lost:
            found = self.queue.find(requests, shared=shared, empty=True)
            failed = failure(found, order)
            if failed is None:
                assignment.set_mode(
                    [placement_request.pod_set.name for every in requests.values() for placement_request in every],
                    Mode.PREEMPT,
                )
                return
            if self.observed:
                self._mark(assignment.of(failed[0]), failed[1])
            assignment.set_mode([failed[0]], Mode.NO_FIT)

    def _mark(self, assigned: SetAssignment, flavor: str) -> None:
        """Say that a flavor has no places; the pod sets of a group share what came of flavors, and all learn of it."""
        assigned.attempts[:] = [
            Attempt(attempt.flavor, Mode.NO_FIT, attempt.borrow, attempt.possibility, attempt.reasons, TOPOLOGY)
            if attempt.flavor == flavor
            else attempt
            for attempt in assigned.attempts
        ]
