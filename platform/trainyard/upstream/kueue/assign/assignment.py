"""What a Workload would get: flavors, places, and what is missing (kueue v0.19.2 flavorassigner.go, Assignment)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trainyard.upstream.kueue.assign.attempts import Attempt
from trainyard.upstream.kueue.assign.modes import Mode
from trainyard.upstream.kueue.assign.reasons import NO_FLAVOR, severity, worse
from trainyard.upstream.kueue.model.amounts import plus
from trainyard.upstream.kueue.model.placements import PlacedPods, Placement
from trainyard.upstream.kueue.model.queues import ClusterQueue, FlavorResource


@dataclass(slots=True, eq=False)
class Choice:
    """A flavor for a resource; `tried` is the place of the last flavor looked at, -1 after all of them."""

    flavor: str
    mode: Mode
    borrow: int = 0
    tried: int = 0


@dataclass(slots=True, eq=False)
class SetAssignment:
    """What one pod set would get. Choices are shared between the sets of a group."""

    name: str
    count: int
    requests: dict[str, int]
    flavors: dict[str, Choice] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    error: str | None = None
    placement: Placement | None = None
    delayed: str | None = None
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def fits(self) -> bool:
        """Whether there is nothing to say against it."""
        return self.error is None and not self.reasons

    @property
    def mode(self) -> Mode:
        """The worst of its resources."""
        if self.fits:
            return Mode.FIT
        if self.error is not None or not self.flavors:
            return Mode.NO_FIT
        return min(flavor.mode for flavor in self.flavors.values())

    def message(self) -> str:
        """Write what is against it."""
        return self.error if self.error is not None else ", ".join(sorted(self.reasons))


@dataclass(slots=True, eq=False)
class Progress:
    """Which flavors were looked at, by pod set and resource, and when."""

    tried: list[dict[str, int]]
    generation: int
    cycle: int
    shape: object | None

    @property
    def pending(self) -> bool:
        """Whether flavors are left to look at."""
        return any(index != -1 for flavors in self.tried for index in flavors.values())

    def next_flavor(self, pod_set: int, resource: str) -> int:
        """Return the place of the flavor to go on with."""
        if pod_set >= len(self.tried) or resource not in self.tried[pod_set]:
            return 0
        return self.tried[pod_set][resource] + 1


@dataclass(slots=True, eq=False)
class Assignment:
    """What all pod sets would get, and how far quota has to come from."""

    progress: Progress
    sets: list[SetAssignment] = field(default_factory=list)
    borrowing: int = 0
    usage: dict[FlavorResource, int] = field(default_factory=dict)
    reason: str = ""
    known: Mode | None = None
    binds: bool = True
    """Whether an error in asking for places makes it not fit; older releases admit it without places."""
    one_flavor: bool = False
    """Whether pods with places get one flavor for all resources, and not only one with a topology."""

    def append(self, assigned: SetAssignment) -> None:
        """Add a pod set, and what it uses."""
        self.sets.append(assigned)
        tried = {}
        for resource, choice in assigned.flavors.items():
            self.borrowing = max(self.borrowing, choice.borrow)
            key = (choice.flavor, resource)
            self.usage[key] = plus(self.usage.get(key, 0), assigned.requests.get(resource, 0))
            tried[resource] = choice.tried
        self.progress.tried.append(tried)

    def of(self, name: str) -> SetAssignment:
        """Return the assignment of a pod set."""
        return next(set_ for set_ in self.sets if set_.name == name)

    @property
    def mode(self) -> Mode:
        """The worst of the pod sets, kept once it was asked for."""
        if not self.sets:
            return Mode.NO_FIT
        if self.known is None:
            self.known = min(set_.mode for set_ in self.sets)
        return self.known

    def set_mode(self, names: list[str], mode: Mode) -> None:
        """Make these pod sets, and with them the whole, as good or bad as said."""
        for name in names:
            for choice in self.of(name).flavors.values():
                choice.mode = mode
            self.known = mode

    def fail(self, name: str, error: str) -> None:
        """Note an error of a pod set; where it does not bind, all is as good as it was."""
        before = self.mode
        self.of(name).error = error
        self.known = None if self.binds else before

    def message(self) -> str:
        """Write what is against it, as Kueue does; an error silences all else."""
        parts = []
        for set_ in self.sets:
            if set_.error is not None:
                return f"failed to assign flavors to pod set {set_.name}: {set_.error}"
            if not set_.fits:
                parts.append(f"couldn't assign flavors to pod set {set_.name}: {set_.message()}")
        return "; ".join(parts)

    def needing(self) -> frozenset[FlavorResource]:
        """Return the resources of flavors that need preemption."""
        return frozenset(
            (choice.flavor, resource)
            for set_ in self.sets
            for resource, choice in set_.flavors.items()
            if choice.mode is Mode.PREEMPT
        )

    def placed(self, amounts: Mapping[str, Mapping[str, int]], flavors: Mapping[str, object]) -> Placed:
        """Return the pods in topologies by flavor, with what one pod of each set asks for."""
        found: Placed = {}
        for set_ in self.sets:
            if set_.placement is None:
                continue
            chosen = sorted({choice.flavor for choice in set_.flavors.values()} & set(flavors))
            if len(chosen) == 1:
                pods = [
                    PlacedPods(domain.values, amounts[set_.name], domain.count) for domain in set_.placement.domains
                ]
                found.setdefault(chosen[0], []).extend(pods)
        return found

    def resolve_reason(self, queue: ClusterQueue) -> None:
        """Find the reason of all: the mildest of a group's flavors, and the worst of groups and pod sets."""
        if self.mode is not Mode.NO_FIT:
            return
        overall = ""
        for set_ in self.sets:
            if set_.mode is Mode.NO_FIT:
                overall = worse(overall, _reason_of(set_, queue))
        self.reason = overall


Placed = dict[str, list[PlacedPods]]


def _reason_of(assigned: SetAssignment, queue: ClusterQueue) -> str:
    if not assigned.attempts:
        return NO_FLAVOR
    mildest: dict[int, str] = {}
    for number, attempt in enumerate(assigned.attempts):
        if attempt.mode is not Mode.NO_FIT:
            continue
        groups = [index for index, group in enumerate(queue.groups) if attempt.flavor in group.flavors]
        for index in groups or [-1 - number]:
            if index not in mildest or severity(attempt.why) < severity(mildest[index]):
                mildest[index] = attempt.why
    found = ""
    for reason in mildest.values():
        found = worse(found, reason)
    return found
