"""Workloads of a case with their status, as the queues and the quota see them (kueue v0.19.2 pkg/workload)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from trainyard.base.quantities import Quantity
from trainyard.upstream.kueue.assign.pending import Pending, WantedSet
from trainyard.upstream.kueue.model.amounts import plus, requested_amount, text_of
from trainyard.upstream.kueue.model.gates import Gates
from trainyard.upstream.kueue.model.placements import Domain, PlacedPods, Placement, Surroundings
from trainyard.upstream.kueue.model.queues import FlavorResource
from trainyard.upstream.kueue.model.workloads import Workload
from trainyard.upstream.kueue.preempt.need import WHILE_BORROWING
from trainyard.upstream.kueue.quota.state import Held, HeldSet
from trainyard.upstream.kueue.replay.case import SECOND, Given, nanoseconds
from trainyard.upstream.kueue.replay.status import (
    ADMITTED,
    EVICTED,
    PENDING,
    PREEMPTED,
    QUOTA,
    READY,
    REQUEUED,
    Admission,
    AdmittedSet,
    Check,
    Condition,
    Status,
)
from trainyard.upstream.kueue.requests import adjusted_specs, count_requests, pod_amounts, refusal_of_devices

GATED_BY = "kueue.x-k8s.io/admission-gated-by"
ENCODER = json.JSONEncoder(sort_keys=True, default=str)
SHAPE = (
    *("nodeSelector", "affinity", "tolerations", "runtimeClassName", "priority", "topologySpreadConstraints"),
    *("overhead", "resourceClaims"),
)
"""Fields of a pod that make two Workloads alike, beside what its containers request (pkg/util/pod SpecShape)."""

MILLISECOND = 10**6


@dataclass(slots=True, eq=False)
class Record:
    """A Workload, what its pods ask for once adjusted, and its status. `devices` says why its claims are refused."""

    workload: Workload
    status: Status
    specs: tuple[Mapping[str, Any], ...]
    quota: tuple[Mapping[str, int], ...]
    pods: tuple[Mapping[str, int], ...]
    gates: Gates
    by_eviction: bool = True
    devices: str | None = None
    written: tuple[Mapping[str, int], ...] = ()
    """What its pods ask for as they are written: devices are counted once it is queued."""
    pushed: bool = False
    shape: object | None = field(default=None)

    @property
    def key(self) -> str:
        """Namespace and name."""
        return self.workload.key

    @property
    def gated(self) -> str:
        """What holds the Workload back, by annotation."""
        return self.workload.annotations.get(GATED_BY, "") if self.gates["AdmissionGatedBy"] else ""

    @property
    def admissible(self) -> bool:
        """Whether it may wait in a queue."""
        status = self.status
        return not (self.gated or status.finished or not status.active or status.reserved or self.devices)

    def ordered(self) -> int:
        """Return the time by which the Workload takes its turn, in nanoseconds since 1970."""
        evicted, preempted = self.status.conditions.get(EVICTED), self.status.conditions.get(PREEMPTED)
        if evicted is not None and evicted.true:
            if evicted.reason == "PodsReadyTimeout" and self.by_eviction:
                return evicted.since
            if evicted.reason == "AdmissionCheck":
                return evicted.since
        reclaimed = preempted is not None and preempted.true and preempted.reason == WHILE_BORROWING
        if preempted is not None and reclaimed and not self.gates["PrioritySortingWithinCohort"]:
            return preempted.since + MILLISECOND
        return self.workload.created

    def counts(self) -> list[int]:
        """Return the pods of each set that are still needed."""
        gone = self.status.reclaimable if self.gates["ReclaimablePods"] else {}
        return [pod_set.count - min(gone.get(pod_set.name, 0), pod_set.count) for pod_set in self.workload.pod_sets]

    def ready(self) -> bool:
        """Say whether the Workload may be queued again."""
        requeued = self.status.conditions.get(REQUEUED)
        return requeued is None or requeued.true

    def pending(self, queue: str) -> Pending:
        """Return the Workload as it waits in a queue."""
        sets = [
            WantedSet(pod_set.name, count, spec, quota, pod)
            for pod_set, count, spec, quota, pod in zip(
                self.workload.pod_sets, self.counts(), self.specs, self.quota, self.pods, strict=True
            )
        ]
        pending = Pending(self.workload, queue, sets, self.workload.priority, self.ordered())
        pending.stamp = self.stamp()
        pending.shape = self._shape(sets) if self.gates["SchedulingEquivalenceHashing"] else None
        return pending

    def again(self, iteration: int) -> Pending:
        """Return the Workload as it is looked at a second time, with what it holds."""
        held, status = self.held(), self.status
        names = {set_.name: set_ for set_ in held.sets}
        pending = self.pending(held.queue)
        for wanted in pending.sets:
            holding = names[wanted.name]
            wanted.count = holding.count
            wanted.quota = {name: amount // max(holding.count, 1) for name, amount in holding.requests.items()}
        pending.holding, pending.second = tuple(held.sets), iteration
        pending.lost = status.lost if status.homeless else frozenset()
        pending.updates = tuple(one for check in status.checks if check.state == READY for one in check.updates)
        return pending

    def stamp(self) -> object:
        """Return the state whose change gives a parked Workload another turn."""
        conditions = self.status.conditions
        return conditions.get(EVICTED), conditions.get(REQUEUED), tuple(self.status.reclaimable.items())

    def _shape(self, sets: list[WantedSet]) -> object:
        if self.shape is None:
            parts = []
            for set_, pod_set in zip(sets, self.workload.pod_sets, strict=True):
                spec = {name: set_.spec[name] for name in SHAPE if set_.spec.get(name)}
                for containers in ("initContainers", "containers"):
                    spec[containers] = [
                        [(one.get("resources") or {}).get("requests"), one.get("ports")]
                        for one in set_.spec.get(containers) or ()
                    ]
                requests = sorted(set_.requests(set_.count).items())
                parts.append([set_.name, spec, set_.count, requests, pod_set.min_count, repr(pod_set.topology)])
            self.shape = ENCODER.encode([parts, self.workload.priority])
        return self.shape

    def held(self) -> Held:
        """Return the Workload as it holds quota."""
        admission = self.status.admission
        assert admission is not None
        needed = dict(zip((pod_set.name for pod_set in self.workload.pod_sets), self.counts(), strict=True))
        pods = dict(zip((pod_set.name for pod_set in self.workload.pod_sets), self.pods, strict=True))
        sets = []
        for set_ in admission.sets:
            count, usage = set_.count, dict(set_.usage)
            left = needed.get(set_.name, 0)
            if left < count:
                usage = {name: amount // count * left for name, amount in usage.items()}
                count = left
            held = HeldSet(set_.name, count, usage, dict(set_.flavors), set_.placement, (), set_.delayed)
            if set_.placement is not None and self.gates["TopologyAwareScheduling"]:
                pod = pods.get(set_.name, {})
                held.placed = tuple(PlacedPods(domain.values, pod, domain.count) for domain in set_.placement.domains)
            sets.append(held)
        reserved = self.status.conditions.get(QUOTA)
        since = reserved.since if reserved is not None and reserved.true else None
        evicted = self.status.evicted
        held_one = Held(self.workload, admission.queue, sets, self.workload.priority, self.ordered(), since, evicted)
        held_one.admitted = self.status.admitted
        _sum(held_one)
        return held_one


def _sum(held: Held) -> None:
    usage: dict[FlavorResource, int] = {}
    placed: dict[str, list[PlacedPods]] = {}
    for set_ in held.sets:
        for resource, amount in set_.requests.items():
            key = (set_.flavors.get(resource, ""), resource)
            usage[key] = plus(usage.get(key, 0), amount)
        if set_.placed:
            for flavor in sorted(set(set_.flavors.values())):
                placed.setdefault(flavor, []).extend(set_.placed)
    held.usage, held.placed = usage, placed


def record(workload: Workload, given: Given, around: Surroundings, by_eviction: bool) -> Record:
    """Return a Workload with the status that it came with."""
    specs = adjusted_specs(workload, around)
    status = read_status(given, workload.active)
    quota = count_requests(workload, specs, around)
    pods = tuple(pod_amounts(spec) for spec in specs)
    devices = refusal_of_devices(workload, specs, around)
    claims = around.device_classes or around.claim_templates
    written = (
        count_requests(workload, specs, replace(around, device_classes={}, claim_templates={})) if claims else quota
    )
    return Record(workload, status, specs, quota, pods, around.gates, by_eviction, devices, written)


def read_status(given: Given, active: bool) -> Status:
    """Read a status as it is written."""
    source = given.status
    found = Status(active)
    for condition in source.get("conditions") or ():
        since = nanoseconds(condition["lastTransitionTime"]) if condition.get("lastTransitionTime") else 0
        reason, message = condition.get("reason", ""), condition.get("message", "")
        found.conditions[condition["type"]] = Condition(condition.get("status") == "True", reason, message, since)
    found.checks = tuple(
        Check(
            admission_check["name"],
            admission_check.get("state") or PENDING,
            admission_check.get("message", ""),
            _updates(admission_check),
        )
        for admission_check in source.get("admissionChecks") or ()
    )
    found.lost = frozenset(unhealthy_node["name"] for unhealthy_node in source.get("unhealthyNodes") or ())
    found.reclaimable = {
        reclaimable_pod["name"]: reclaimable_pod["count"] for reclaimable_pod in source.get("reclaimablePods") or ()
    }
    if source.get("admission"):
        found.admission = _admission(source["admission"], given)
        if not found.conditions:
            hold(found, given.created - given.created % SECOND, admitted=True)
    return found


def _updates(check: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    return tuple(check.get("podSetUpdates") or ())


def hold(status: Status, at: int, *, admitted: bool) -> None:
    """Have a Workload hold its admission from a time on."""
    assert status.admission is not None
    queue = status.admission.queue
    status.set(QUOTA, True, "QuotaReserved", f"Quota reserved in ClusterQueue {queue}", at)
    if admitted:
        status.set(ADMITTED, True, "Admitted", "The workload is admitted", at)


def _admission(value: Mapping[str, Any], given: Given) -> Admission:
    counts = {pod_set.get("name") or "main": pod_set.get("count", 1) for pod_set in given.spec.get("podSets") or ()}
    sets = []
    for pod_set_assignment in value.get("podSetAssignments") or ():
        name = pod_set_assignment.get("name") or "main"
        used = pod_set_assignment.get("resourceUsage") or {}
        usage = {resource: requested_amount(resource, amount) for resource, amount in used.items()}
        count = counts.get(name, 0) if pod_set_assignment.get("count") is None else pod_set_assignment["count"]
        placement = _placement(pod_set_assignment.get("topologyAssignment"))
        delayed = pod_set_assignment.get("delayedTopologyRequest")
        texts = {resource: Quantity.parse(amount).canonical() for resource, amount in used.items()}
        written = {resource: text for resource, text in texts.items() if text != text_of(resource, usage[resource])}
        sets.append(
            AdmittedSet(name, count, pod_set_assignment.get("flavors") or {}, usage, placement, delayed, written)
        )
    return Admission(value["clusterQueue"], tuple(sets))


def _placement(value: Mapping[str, Any] | None) -> Placement | None:
    """Read a topology assignment, which is packed in slices (v1beta2 TopologyAssignment)."""
    if value is None:
        return None
    domains = []
    for slice_ in value.get("slices") or ():
        size = slice_["domainCount"]
        columns = [_unpacked(level, size) for level in slice_["valuesPerLevel"]]
        pods = slice_["podCounts"]
        counts = [pods["universal"]] * size if pods.get("universal") is not None else pods["individual"]
        domains += [Domain(*pair) for pair in zip(zip(*columns, strict=True), counts, strict=True)]
    return Placement(tuple(value["levels"]), tuple(domains))


def _unpacked(level: Mapping[str, Any], size: int) -> list[str]:
    if level.get("universal") is not None:
        return [level["universal"]] * size
    packed = level["individual"]
    before, after = packed.get("commonPrefix") or "", packed.get("commonSuffix") or ""
    return [f"{before}{root}{after}" for root in packed["roots"]]
