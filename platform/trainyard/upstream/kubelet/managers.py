"""A kubelet's managers together: the topology manager asks the others for hints, merges them and has them give.

cm/topologymanager, 1.35.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from trainyard.upstream.kubelet.cpus.state import Cpus
from trainyard.upstream.kubelet.devices import Devices, Ids
from trainyard.upstream.kubelet.hints import Affinity, Merge, Opinion
from trainyard.upstream.kubelet.machine import Machine
from trainyard.upstream.kubelet.memory import Memory, Reusable
from trainyard.upstream.kubelet.merge import Merger
from trainyard.upstream.kubelet.outcomes import (
    Admitted,
    Crashed,
    Exploded,
    Explosion,
    Given,
    Outcome,
    Panic,
    Refusal,
    Refused,
)
from trainyard.upstream.kubelet.settings import Settings
from trainyard.upstream.kubelet.whole import IN_CONTAINER, IN_POD, is_whole
from trainyard.upstream.pods.demand import Container
from trainyard.upstream.pods.pod import Pod

MOST_PERMUTATIONS = 1 << 24
"""More than so many keep a kubelet from taking pods for 16 to 25 seconds a pod (measured at 1 to 1.5 µs each)."""

MOST_MASKS = 1 << 16
"""More sets of NUMA nodes than this are walked through for each resource of each pod."""


Opinions = Iterator[tuple[str, Opinion]]
"""Resources and where they fit."""

MISALIGNED = ("TopologyAffinityError", "Resources cannot be allocated with Topology locality")
"""Reason and message of the topology manager itself (cm/topologymanager/topology_manager.go)."""


@dataclass
class Managers:
    """The managers of a kubelet and all that they have given; `copy` is cheap."""

    machine: Machine
    settings: Settings
    devices: Devices
    cpus: Cpus
    memory: Memory
    merger: Merger

    @staticmethod
    def start(machine: Machine, settings: Settings) -> Managers:
        """Return the managers of an empty machine."""
        devices, cpus, memory = (
            Devices(machine, settings.narrow_hints),
            Cpus(machine, settings),
            Memory.start(machine, settings),
        )
        return Managers(machine, settings, devices, cpus, memory, Merger(machine, settings))

    def copy(self) -> Managers:
        """Return others that have given the same."""
        devices, cpus, memory = self.devices.copy(), self.cpus.copy(), self.memory.copy()
        return Managers(self.machine, self.settings, devices, cpus, memory, self.merger)

    def admit(self, pod: Pod) -> Outcome:
        """Give the pod what it asks for, or say why not; what a refused pod had been given goes back."""
        admission = _Admission(self, pod)
        try:
            admission.run()
        except Refusal as refusal:
            self.forget(pod.uid)
            return Refused(refusal.reason, refusal.message, tuple(admission.merges))
        except Explosion as explosion:
            return replace(explosion.outcome, merges=tuple(admission.merges))
        except Panic as panic:
            return Crashed(f"panic: {panic}", tuple(admission.merges))
        return Admitted(tuple(admission.given()), tuple(admission.merges))

    def started(self, pod: Pod) -> None:
        """Note that all containers of an admitted pod have started, one after the other."""
        self.memory.started(pod)

    def forget(self, pod: str) -> None:
        """Take back what the pod of a UID had."""
        self.devices.forget(pod)
        self.cpus.forget(pod)
        self.memory.forget(pod)


@dataclass
class _Admission:
    """One pod on its way in; `devices`, `cpus` and `memory` are what its init containers leave to its later ones."""

    managers: Managers
    pod: Pod
    merges: list[Merge] = field(default_factory=list)
    devices: Ids = field(default_factory=dict)
    cpus: int = 0
    memory: Reusable = field(default_factory=dict)
    affinities: dict[str, Affinity] = field(default_factory=dict)

    def run(self) -> None:
        """Align and give, container by container. Raises Refusal, Explosion, Panic."""
        settings = self.managers.settings
        aligns = settings.topology_policy != "none"
        if aligns and settings.pod_scope:
            affinity = self._merged("", self._pod_opinions())
        if aligns and settings.pod_scope and is_whole(self.pod, settings):
            self.affinities = dict.fromkeys((container.name for container in self.pod.containers), affinity)
            self.managers.cpus.allocate_pod(self.pod, affinity.nodes)
            self.managers.memory.allocate_pod(self.pod, affinity)
            return
        for container in self.pod.containers:
            if not aligns:
                affinity = Affinity()
            elif not settings.pod_scope:
                affinity = self._merged(container.name, self._container_opinions(container))
            self.affinities[container.name] = affinity
            self._allocate(container, affinity)

    def given(self) -> Iterator[Given]:
        """Yield the devices, CPUs and memory that each container got."""
        uid, managers = self.pod.uid, self.managers
        for container in self.pod.containers:
            name, affinity = container.name, self.affinities[container.name]
            blocks = managers.memory.given.get(uid, {}).get(name, {})
            yield Given(
                name,
                affinity.nodes,
                affinity.preferred,
                managers.cpus.given.get(uid, {}).get(name, 0),
                next(iter(blocks.values())).nodes if blocks else 0,
                managers.devices.given.get(uid, {}).get(name, {}),
            )

    def _merged(self, container: str, opinions: Opinions) -> Affinity:
        merger, hints = self.managers.merger, dict(opinions)
        permutations = merger.permutations(hints.values())
        self.merges.append(Merge(container, permutations, hints))
        if permutations > MOST_PERMUTATIONS:
            raise Explosion(Exploded(permutations=permutations))
        affinity = merger.merge(hints.values())
        if merger.strict and not affinity.preferred:
            words = (IN_CONTAINER if container else IN_POD) if is_whole(self.pod, merger.settings) else MISALIGNED[1]
            raise Refusal(words, MISALIGNED[0])
        return affinity

    def _pod_opinions(self) -> Opinions:
        for manager in (self.managers.devices, self.managers.cpus, self.managers.memory):
            _check_masks(manager.walks(self.pod))
            yield from manager.pod_hints(self.pod)

    def _container_opinions(self, container: Container) -> Opinions:
        managers, pod = self.managers, self.pod
        _check_masks(managers.devices.walks(pod))
        yield from managers.devices.container_hints(container, self.devices)
        _check_masks(managers.cpus.walks(pod))
        yield from managers.cpus.container_hints(pod, container, self.cpus)
        _check_masks(managers.memory.walks(pod))
        yield from managers.memory.container_hints(pod, container, self.memory)

    def _allocate(self, container: Container, affinity: Affinity) -> None:
        managers = self.managers
        self.devices = managers.devices.allocate(self.pod, container, affinity.nodes, self.devices)
        self.cpus = managers.cpus.allocate(self.pod, container, affinity.nodes, self.cpus)
        self.memory = managers.memory.allocate(self.pod, container, affinity, self.memory)


def _check_masks(nodes: int) -> None:
    """Raise Explosion for more sets of NUMA nodes than a kubelet walks through in good time."""
    if 1 << nodes > MOST_MASKS:
        raise Explosion(Exploded(masks=1 << nodes))
