"""A kubelet that takes pods: its managers, then its predicates, in the order of the real one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from trainyard.base.labels import HOSTNAME
from trainyard.base.quantities import Quantity
from trainyard.upstream.kubelet.configuration import Configuration, Invalid, check
from trainyard.upstream.kubelet.features import refused_features, unknown_features
from trainyard.upstream.kubelet.machine import Machine
from trainyard.upstream.kubelet.managers import Managers
from trainyard.upstream.kubelet.outcomes import Admitted, Crashed, Exploded, Outcome, Refused
from trainyard.upstream.kubelet.predicates import Lack, Node, failures, foreign_system, known_here
from trainyard.upstream.kubelet.preemption import NoneToEnd, pods_to_end
from trainyard.upstream.kubelet.releases import RELEASE, minor_of
from trainyard.upstream.kubelet.settings import Settings
from trainyard.upstream.kubelet.start import start
from trainyard.upstream.pods.pod import Pod, QoS

WELL_KNOWN = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
"""Labels that every node has beside its name."""


@dataclass(frozen=True)
class Decision:
    """What becomes of a pod that arrives at a node."""

    outcome: Outcome
    qos: QoS
    unschedulable: tuple[str, ...] = ()
    """What the scheduler has against the pod on this node; it would not have sent it."""
    preempted: tuple[str, ...] = ()
    """Pods that are ended for it."""

    @property
    def admitted(self) -> bool:
        """Whether the pod runs."""
        return isinstance(self.outcome, Admitted)

    @property
    def stuck(self) -> bool:
        """Whether the kubelet takes no other pod any more."""
        return isinstance(self.outcome, (Exploded, Crashed))


@dataclass
class Kubelet:
    """A started kubelet and the pods on its node. `copy` is cheap, so that one can ask what would be."""

    machine: Machine
    configuration: Configuration
    settings: Settings
    node: Node
    managers: Managers
    pods: list[Pod] = field(default_factory=list)
    """The pods that run, in order of arrival."""
    _arrivals: Counter[str] = field(default_factory=Counter)

    @staticmethod
    def start(
        machine: Machine,
        configuration: Mapping[str, Any] | Configuration,
        *,
        name: str = "node",
        labels: Mapping[str, str] | None = None,
        storage: Quantity | None = None,
        release: str = RELEASE,
    ) -> Kubelet | Invalid:
        """Start a kubelet on a machine, or return why it does not start.

        `release` is that of Kubernetes. `storage` is the capacity of the file system of its pods; without it the node
        offers no ephemeral storage.
        """
        checked = configuration if isinstance(configuration, Configuration) else check(configuration, minor_of(release))
        if isinstance(checked, Invalid):
            return checked
        started = start(machine, checked, storage)
        if isinstance(started, Invalid):
            return started
        own = {**WELL_KNOWN, HOSTNAME: name, **(labels or {})}
        node = Node(name, own, started.allocatable)
        return Kubelet(machine, checked, started.settings, node, Managers.start(machine, started.settings))

    def copy(self) -> Kubelet:
        """Return another kubelet in the same state."""
        return replace(self, managers=self.managers.copy(), pods=list(self.pods), _arrivals=Counter(self._arrivals))

    def admit(self, pod: Mapping[str, Any] | Pod) -> Decision:
        """Decide on a pod that arrives; an admitted one stays, with all its containers started unless it is Pending.

        A manifest is taken to be one that the API server took.
        """
        arrived = pod if isinstance(pod, Pod) else self._named(pod)
        whole = arrived.pod_level and not self.configuration.gates.on("PodLevelResources")
        judged = replace(arrived, requests={}, limits={}, pod_level=False) if whole else arrived
        against = sorted(failure.said for failure in failures(judged, self.node, self.pods))
        outcome, ended = self._decide(judged)
        if isinstance(outcome, Admitted) and whole and arrived.asks_as_a_whole:
            refused = Refused("PodLevelResourcesNotSupported", "PodLevelResources feature gate is disabled")
            self.managers.forget(judged.uid)
            outcome = replace(refused, merges=outcome.merges)
        lacking = refused_features(judged, self.configuration.gates)
        if isinstance(outcome, Admitted) and lacking is not None:
            self.managers.forget(judged.uid)
            outcome = replace(lacking, merges=outcome.merges)
        if isinstance(outcome, Admitted):
            self.pods.append(judged)
            if not judged.pending:
                self.managers.started(judged)
        return Decision(outcome, judged.qos, tuple(against), tuple(one_pod.name for one_pod in ended))

    def waits_for_runtime(self, pod: Pod) -> bool:
        """Whether the container runtime decides on a pod: it says which features the node has, and no file does."""
        return bool(unknown_features(pod, self.configuration.gates))

    def remove(self, name: str) -> None:
        """End all pods of a name; the name of none changes nothing."""
        for pod in [one_pod for one_pod in self.pods if one_pod.name == name]:
            self._end(pod)

    def _named(self, value: Mapping[str, Any]) -> Pod:
        """Return the pod of a manifest; where it has no UID, pods of one name are told apart by their number."""
        name = (value.get("metadata") or {}).get("name") or ""
        self._arrivals[name] += 1
        return Pod.read(value, uid=f"{name}/{self._arrivals[name]}", release=self.configuration.gates.minor)

    def _decide(self, pod: Pod) -> tuple[Outcome, list[Pod]]:
        outcome = self.managers.admit(pod)
        if not isinstance(outcome, Admitted):
            return outcome, []
        refused, ended = foreign_system(pod), list[Pod]()
        if refused is None:
            refused, ended = self._room(pod)
        if refused is None:
            return outcome, ended
        self.managers.forget(pod.uid)
        return replace(refused, merges=outcome.merges), ended

    def _room(self, pod: Pod) -> tuple[Refused | None, list[Pod]]:
        """Return the refusal of a pod that the managers accept, and the pods that give way to it."""
        against = list(failures(known_here(pod, self.node), self.node, self.pods))
        if not against:
            return None, []
        lacks = [refusal for refusal in against if isinstance(refusal, Lack)]
        others = [refusal for refusal in against if not isinstance(refusal, Lack)]
        if not pod.critical:
            return against[0].refused(), []
        if others:
            return others[0].refused(), []
        try:
            ended = pods_to_end(pod, self.pods, lacks)
        except NoneToEnd as error:
            start_of = "Unexpected error while attempting to recover from admission failure"
            said = f"{start_of}: preemption: error finding a set of pods to preempt: {error}"
            return Refused("UnexpectedAdmissionError", said), []
        for one_pod in ended:
            self._end(one_pod)
        return None, ended

    def _end(self, pod: Pod) -> None:
        self.managers.forget(pod.uid)
        self.pods = [one_pod for one_pod in self.pods if one_pod.uid != pod.uid]
