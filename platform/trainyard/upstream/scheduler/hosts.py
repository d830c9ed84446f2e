"""Nodes with the pods on them: what a kubelet decides on one is decided once for all that are in the same state."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from trainyard.base.labels import HOSTNAME
from trainyard.base.quantities import Quantity
from trainyard.upstream.kubelet import Decision, Kubelet, Refused
from trainyard.upstream.kubelet.features import declared_features
from trainyard.upstream.kubelet.predicates import PORTS, amount_of
from trainyard.upstream.pods.demand import add_amounts
from trainyard.upstream.pods.features import UNFIT
from trainyard.upstream.pods.taints import Taint
from trainyard.upstream.scheduler.releases import RELEASE, decided_as
from trainyard.upstream.scheduler.wanted import Wanted, assumed_amounts


@dataclass(frozen=True, slots=True)
class Step:
    """What becomes of one more pod on a node, and the state of the node with it."""

    decision: Decision
    state: State | None
    """None where the pod does not start."""

    @property
    def against(self) -> list[str]:
        """What the scheduler has against the node, in its words; else what the kubelet has, in ours.

        It looks at ports first, and at resources where these are free.
        """
        if self.state is not None:
            return []
        outcome = self.decision.outcome
        why = outcome.reason if isinstance(outcome, Refused) else type(outcome).__name__.lower()
        said = self.decision.unschedulable
        return [PORTS] if PORTS in said else [*said] or [f"the kubelet refuses the pod ({why})"]


class State:
    """A node whatever its name, with the pods that it has taken in this order."""

    def __init__(self, kubelet: Kubelet, release: str = RELEASE, gates: Collection[str] = ()) -> None:
        """Take a kubelet that nobody else changes, and the release of Kubernetes whose scheduler looks at the node.

        `gates` are those that somebody turned on in the control plane.
        """
        self.kubelet = kubelet
        self.minor = decided_as(release)
        self.gates = frozenset(gates)
        self._steps: dict[str, Step] = {}
        self._free: dict[str, int] = {}
        self.scores: dict[str, int] = {}
        """By the form of pods, what the node counts for one more of them."""

    def take(self, wanted: Wanted) -> Step:
        """Return the outcome of one more pod; the state itself stays as it is."""
        found = self._steps.get(wanted.form)
        if found is None:
            kubelet = self.kubelet.copy()
            decision = kubelet.admit(wanted.manifest)
            starts = decision.admitted and not decision.unschedulable
            found = self._steps[wanted.form] = Step(
                decision, State(kubelet, self.minor, self.gates) if starts else None
            )
        return found

    def unfit(self, wanted: Wanted) -> str | None:
        """Return the scheduler's objection to a node that does not declare what a pod needs; None where it has none."""
        needed = wanted.features(self.minor, self.gates)
        return UNFIT if needed and not declared_features(self.kubelet.configuration.gates).issuperset(needed) else None

    def free(self, resource: str) -> int:
        """Return how much of a resource the node has left, in thousandths of CPUs, bytes or pieces."""
        if resource not in self._free:
            self._free[resource] = self.offered(resource) - amount_of(self.taken, resource)
        return self._free[resource]

    def offered(self, resource: str) -> int:
        """Return how much of a resource the node offers to pods, in the same units."""
        return amount_of(self.kubelet.node.allocatable, resource)

    @cached_property
    def assumed(self) -> tuple[int, int]:
        """The CPUs in thousandths and the bytes that the scheduler thinks the pods on the node use."""
        amounts = [assumed_amounts(pod) for pod in self.kubelet.pods]
        return sum(cpus for cpus, _ in amounts), sum(memory for _, memory in amounts)

    @cached_property
    def taken(self) -> dict[str, Quantity]:
        """What the pods on the node ask for."""
        return add_amounts(pod.asked for pod in self.kubelet.pods)


@dataclass(eq=False)
class Host:
    """One node with its name. Without a state its kubelet does not start, and nothing is said about it."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    state: State | None
    left: dict[str, int] = field(default_factory=dict)
    """What the node has of things that its kubelet does not count, by name."""
    order: int = 0
    pods: list[Wanted] = field(default_factory=list)

    @cached_property
    def kind(self) -> tuple[object, ...]:
        """What nodes have in common that may have the same pods."""
        return frozenset(label for label in self.labels.items() if label[0] != HOSTNAME), self.taints
