"""Which CPUs are free, and what containers and pods get of them (cm/cpumanager/policy_static.go, 1.35.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from trainyard.upstream.kubelet.cpus import take
from trainyard.upstream.kubelet.hints import Hints, Opinion
from trainyard.upstream.kubelet.machine import Machine
from trainyard.upstream.kubelet.outcomes import Refusal
from trainyard.upstream.kubelet.sets import members, subset_sums
from trainyard.upstream.kubelet.settings import Settings
from trainyard.upstream.kubelet.whole import check_shared_cpus, has_own_part, is_served, is_whole, whole_cpus
from trainyard.upstream.pods.demand import Container, at_one_time
from trainyard.upstream.pods.pod import Pod
from trainyard.upstream.pods.resources import CPU


@dataclass
class Cpus:
    """The CPU manager: `shared` are the CPUs that no container has alone.

    Reserved ones are among them unless they are strictly reserved.
    """

    machine: Machine
    settings: Settings
    shared: int = -1
    given: dict[str, dict[str, int]] = field(default_factory=dict)
    pods: dict[str, int] = field(default_factory=dict)
    """The CPUs of pods as a whole, which their containers share."""

    def __post_init__(self) -> None:
        """Start with every CPU shared."""
        if self.shared < 0:
            strict = self.settings.cpu_options.strict_reservation
            self.shared = self.machine.all_cpus & ~(self.settings.reserved_cpus if strict else 0)

    def copy(self) -> Cpus:
        """Return another one with the same containers."""
        given = {pod: dict(cpus) for pod, cpus in self.given.items()}
        return Cpus(self.machine, self.settings, self.shared, given, dict(self.pods))

    @property
    def allocatable(self) -> int:
        """Return the CPUs that containers may get alone on an empty machine."""
        return self.machine.all_cpus & ~self.settings.reserved_cpus

    @property
    def free(self) -> int:
        """Return the CPUs that containers may still get alone."""
        return self.shared & ~self.settings.reserved_cpus

    def walks(self, pod: Pod) -> int:
        """Return the number of NUMA nodes all of whose sets the kubelet walks through for the pod."""
        return len(self.machine.cpu_nodes) if self.settings.static_cpus and pod.guaranteed else 0

    def container_hints(self, pod: Pod, container: Container, reusable: int) -> Iterator[tuple[str, Opinion]]:
        """Yield where the container's CPUs fit, if it gets any alone."""
        yield from self._hints(self._exclusive(pod, container), reusable)

    def pod_hints(self, pod: Pod) -> Iterator[tuple[str, Opinion]]:
        """Yield where the pod's CPUs fit, as many as it has at one time."""
        if not is_whole(pod, self.settings):
            own = at_one_time(pod.containers, lambda container: {CPU: self._exclusive(pod, container)})
            yield from self._hints(own.get(CPU, 0), 0)
        elif total := self._of_pod(pod):
            try:
                check_shared_cpus(pod, total, self._of_containers(pod))
            except Refusal:
                yield CPU, Hints()
            else:
                yield from self._hints(total, 0)

    def allocate(self, pod: Pod, container: Container, nodes: int | None, reusable: int) -> int:
        """Give the container its CPUs and return what later ones of its pod may use again. Raises Refusal."""
        count = self._exclusive(pod, container)
        if not count:
            return reusable
        if self.settings.cpu_options.full_pcpus_only:
            self._check_whole_cores(count)
        chosen = self._choose(count, nodes, self.free | reusable)
        self.given.setdefault(pod.uid, {})[container.name] = chosen
        return reusable | chosen if container.init and not container.restartable else reusable & ~chosen

    def allocate_pod(self, pod: Pod, nodes: int | None) -> None:
        """Give a pod its CPUs as a whole, and its containers their parts of them. Raises Refusal."""
        total = self._of_pod(pod)
        if not total:
            return
        own = self._of_containers(pod)
        check_shared_cpus(pod, total, own)
        if self.settings.cpu_options.full_pcpus_only:
            self._check_whole_cores(total)
        left = self.pods[pod.uid] = self._choose(total, nodes, self.free)
        given = self.given[pod.uid] = {}
        for container in pod.containers:
            name, ends = container.name, container.init and not container.restartable
            if own[name]:
                given[name] = self._take(left, own[name])
            elif ends:
                given[name] = left
            if own[name] and not ends:
                left &= ~given[name]
        for container in pod.containers:
            given.setdefault(container.name, left)

    def forget(self, pod: str) -> None:
        """Take back what a pod and its containers had."""
        self.shared |= self.pods.pop(pod, 0)
        for cpus in self.given.pop(pod, {}).values():
            self.shared |= cpus

    def _exclusive(self, pod: Pod, container: Container) -> int:
        """Return how many CPUs a container gets alone: whole ones, of a Guaranteed pod."""
        if not self.settings.static_cpus or not is_served(pod, self.settings):
            return 0
        if is_whole(pod, self.settings) and not has_own_part(container):
            return 0
        return whole_cpus(container.requests)

    def _of_containers(self, pod: Pod) -> dict[str, int]:
        return {container.name: self._exclusive(pod, container) for container in pod.containers}

    def _of_pod(self, pod: Pod) -> int:
        """Return how many CPUs a pod gets as a whole."""
        return whole_cpus(pod.requests) if self.settings.static_cpus and pod.guaranteed else 0

    def _choose(self, count: int, nodes: int | None, available: int) -> int:
        """Take CPUs away from all, those of the NUMA nodes first. Raises Refusal."""
        chosen = 0
        if nodes is not None:
            aligned = self._aligned(nodes, available)
            chosen = self._take(aligned, min(count, aligned.bit_count()))
        chosen |= self._take(available & ~chosen, count - chosen.bit_count())
        self.shared &= ~chosen
        return chosen

    def _hints(self, count: int, reusable: int) -> Iterator[tuple[str, Opinion]]:
        """Yield sets of NUMA nodes with enough CPUs that hold all that are to be used again; nothing for no CPUs."""
        if not count:
            return
        nodes = self.machine.cpu_nodes
        has = subset_sums({node: cpus.bit_count() for node, cpus in nodes.items()})
        left = subset_sums(
            {node: (cpus & self.free).bit_count() + (cpus & reusable).bit_count() for node, cpus in nodes.items()}
        )
        least = min((mask.bit_count() for mask, cpus in has.items() if cpus >= count), default=len(nodes))
        needed = sum(1 << node for node, cpus in nodes.items() if cpus & reusable)
        fits = [mask for mask, cpus in left.items() if cpus >= count and not needed & ~mask]
        yield CPU, Hints.sorted(fits, lambda nodes: nodes.bit_count() == least or self._fills_sockets(nodes, least))

    def _fills_sockets(self, nodes: int, least: int) -> bool:
        """Tell whether `align-by-socket` prefers the set: it touches no more sockets than so many nodes need."""
        per_socket = len(self.machine.cpu_nodes) // len(self.machine.sockets)
        if not self.settings.cpu_options.align_by_socket or not per_socket:
            return False
        return len(self._sockets_of(nodes)) == -(-least // per_socket)

    def _sockets_of(self, nodes: int) -> list[int]:
        """Return the CPUs of each socket that has a part in the NUMA nodes."""
        within = self._cpus_of(nodes)
        return [cpus for cpus in self.machine.sockets.values() if cpus & within]

    def _cpus_of(self, nodes: int) -> int:
        return sum(self.machine.cpu_nodes.get(node, 0) for node in members(nodes))

    def _aligned(self, nodes: int, available: int) -> int:
        """Return the available CPUs of the NUMA nodes, or of all their sockets where those count."""
        if self.settings.cpu_options.align_by_socket:
            return available & sum(self._sockets_of(nodes))
        return available & self._cpus_of(nodes)

    def _take(self, available: int, count: int) -> int:
        return take(self.machine, available, count, self.settings.cpu_options)

    def _check_whole_cores(self, count: int) -> None:
        """Raise Refusal where `full-pcpus-only` cannot be kept."""
        threads = self.machine.threads_per_core
        if count % threads:
            words = f"SMT Alignment Error: requested {count} cpus not multiple cpus per core = {threads}"
            raise Refusal(words, "SMTAlignmentError")
        touched = sum(cpus for cpus in self.machine.cores.values() if cpus & self.settings.reserved_cpus)
        whole = (self.shared & ~touched).bit_count()
        if count > whole:
            words = f"not enough free physical CPUs: available physical CPUs = {whole}, requested CPUs = {count}"
            raise Refusal(f"SMT Alignment Error: {words}, CPUs per core = {threads}", "SMTAlignmentError")
