"""Queues and cohorts, with their quota and their policies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

FlavorResource = tuple[str, str]
"""A flavor and a resource, which quota is given for."""

NEVER, ANY, LOWER, LOWER_OR_NEWER = "Never", "Any", "LowerPriority", "LowerOrNewerEqualPriority"
TRY_NEXT, MAY_STOP = "TryNextFlavor", "MayStopSearch"
STRICT, BEST_EFFORT = "StrictFIFO", "BestEffortFIFO"
RUN, DRAIN = "None", "HoldAndDrain"

PROVISIONING = "kueue.x-k8s.io/provisioning-request"
MULTIKUEUE = "kueue.x-k8s.io/multikueue"
"""Controllers of checks that Kueue treats in a way of their own."""


@dataclass(frozen=True, slots=True)
class Quota:
    """What a queue or a cohort has of a resource in a flavor."""

    nominal: int
    borrowing: int | None = None
    lending: int | None = None


@dataclass(frozen=True, slots=True)
class ResourceGroup:
    """Resources that get one flavor together, and the flavors in the order in which they are tried."""

    covered: tuple[str, ...]
    flavors: tuple[str, ...]
    quotas: Mapping[FlavorResource, Quota]


@dataclass(frozen=True, slots=True)
class Preemption:
    """Who may be preempted: in the own queue, beyond it, and while borrowing."""

    within: str = NEVER
    reclaim: str = NEVER
    borrow: str = NEVER
    threshold: int | None = None


@dataclass(frozen=True, slots=True)
class Fungibility:
    """When the next flavor is tried instead of borrowing or preempting in this one."""

    borrow: str = MAY_STOP
    preempt: str = TRY_NEXT
    preference: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ClusterQueue:
    """A queue that holds quota. `selector` says which namespaces may use it; None is none."""

    name: str
    cohort: str = ""
    groups: tuple[ResourceGroup, ...] = ()
    selector: Mapping[str, Any] | None = None
    strategy: str = BEST_EFFORT
    stop: str = RUN
    preemption: Preemption = field(default_factory=Preemption)
    fungibility: Fungibility = field(default_factory=Fungibility)
    weight: float = 1.0
    checks: Mapping[str, frozenset[str]] = field(default_factory=dict)
    usage_based: bool = False

    def group_of(self, resource: str) -> ResourceGroup | None:
        """Return the group that covers a resource."""
        return next((group for group in self.groups if resource in group.covered), None)

    @property
    def flavors(self) -> frozenset[str]:
        """Every flavor that the queue names."""
        return frozenset(flavor for group in self.groups for flavor in group.flavors)


@dataclass(frozen=True, slots=True)
class Cohort:
    """Queues and cohorts that lend each other quota, and what the cohort adds of its own."""

    name: str
    parent: str = ""
    groups: tuple[ResourceGroup, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class LocalQueue:
    """A namespace's way into a queue.

    `consumed` is what it used, until a time in nanoseconds since 1970, where admission goes by usage.
    """

    namespace: str
    name: str
    queue: str
    stop: str = RUN
    weight: float = 1.0
    consumed: Mapping[str, str] | None = None
    consumed_until: int = 0

    @property
    def key(self) -> str:
        """Namespace and name."""
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class AdmissionCheck:
    """Something else that must agree before a Workload starts."""

    name: str
    controller: str
    active: bool
