"""Taking CPUs packed: whole sockets and NUMA nodes first, then caches, then cores, then threads.

cm/cpumanager/cpu_assignment.go, 1.35.4.
"""

from collections.abc import Iterable, Iterator, Mapping

from trainyard.upstream.kubelet.machine import Machine
from trainyard.upstream.kubelet.outcomes import Refusal
from trainyard.upstream.kubelet.sets import mask, members
from trainyard.upstream.kubelet.settings import CpuOptions


def take_packed(machine: Machine, available: int, count: int, options: CpuOptions) -> int:
    """Return so many of the available CPUs, as close together as they are free. Raises Refusal for too few."""
    if count < 1:
        return 0
    if count > available.bit_count():
        raise too_few(available, count)
    return _Packing(machine, available, count, options).taken()


def too_few(available: int, count: int) -> Refusal:
    """Return the kubelet's words for more CPUs than are free."""
    return Refusal(
        f"not enough cpus available to satisfy request: requested={count}, available={available.bit_count()}"
    )


class Free:
    """The free CPUs of a machine, in the order in which the kubelet takes them: what is fullest already comes first."""

    def __init__(self, machine: Machine, cpus: int) -> None:
        """Start with a set of free CPUs."""
        self.machine = machine
        self.cpus = cpus
        self._nodes_above_sockets = len(machine.sockets) >= len(machine.cpu_nodes)

    def sorted(self, places: Mapping[int, int], within: int) -> list[int]:
        """Return the places that have free CPUs among the given: those with the fewest free first."""
        found = [(part, cpus & self.cpus) for part, cpus in places.items() if cpus & self.cpus & within]
        return [part for part, _ in sorted(found, key=lambda place: (place[1].bit_count(), place[0]))]

    def nodes(self) -> list[int]:
        """Return NUMA nodes, in the order of their sockets where a socket holds several of them."""
        if self._nodes_above_sockets:
            return self.sorted(self.machine.cpu_nodes, self.cpus)
        return [node for cpus in self._sockets() for node in self.sorted(self.machine.cpu_nodes, cpus)]

    def sockets(self) -> list[int]:
        """Return sockets, in the order of their NUMA nodes where a NUMA node holds several of them."""
        if not self._nodes_above_sockets:
            return self.sorted(self.machine.sockets, self.cpus)
        return [
            socket
            for node in self.nodes()
            for socket in self.sorted(self.machine.sockets, self.machine.cpu_nodes[node])
        ]

    def caches(self) -> list[int]:
        """Return last-level caches, NUMA node by NUMA node."""
        nodes = self.machine.cpu_nodes
        return [cache for node in self.nodes() for cache in self.sorted(self.machine.caches, nodes[node])]

    def cores(self) -> list[int]:
        """Return cores, by sockets or NUMA nodes, whichever is smaller."""
        above: Iterable[int] = (
            self._sockets() if self._nodes_above_sockets else (self.machine.cpu_nodes[node] for node in self.nodes())
        )
        return [core for cpus in above for core in self.sorted(self.machine.cores, cpus)]

    def threads(self) -> Iterator[int]:
        """Yield CPUs core by core."""
        for core in self.cores():
            yield from members(self.machine.cores[core] & self.cpus)

    def spread(self) -> Iterator[int]:
        """Yield CPUs socket by socket, so that the siblings of a core come late."""
        for cpus in self._sockets():
            yield from members(cpus & self.cpus)

    def _sockets(self) -> list[int]:
        return [self.machine.sockets[socket] for socket in self.sockets()]


class _Packing:
    """One request that is being met."""

    def __init__(self, machine: Machine, available: int, count: int, options: CpuOptions) -> None:
        self.machine = machine
        self.free = Free(machine, available)
        self.chosen = 0
        self.needed = count
        self.options = options

    def taken(self) -> int:
        """Return the CPUs, all that were needed."""
        steps = [self._whole_nodes, self._whole_sockets]
        if len(self.machine.sockets) < len(self.machine.cpu_nodes):
            steps.reverse()
        if self.options.prefer_align_by_cache:
            steps.append(self._by_cache)
        if not self.options.distribute_across_cores:
            steps.append(self._whole_cores)
        for step in (*steps, self._single_cpus):
            step()
            if self.needed < 1:
                break
        return self.chosen

    def _take(self, cpus: int) -> None:
        self.chosen |= cpus
        self.free.cpus &= ~cpus
        self.needed -= cpus.bit_count()

    def _take_whole(self, places: list[int], cpus_of: Mapping[int, int], size: int | None = None) -> None:
        """Take each place that is wholly free and no more than needed.

        `size` is what the kubelet thinks a whole one has, the average: of an uneven machine it takes CPUs that are not
        free.
        """
        whole = [
            cpus
            for place in places
            if ((cpus := cpus_of[place]) & self.free.cpus).bit_count() == (size or cpus.bit_count())
        ]
        for cpus in whole:
            if cpus.bit_count() <= self.needed:
                self._take(cpus)

    def _whole_nodes(self) -> None:
        self._take_whole(self.free.nodes(), self.machine.cpu_nodes)

    def _whole_sockets(self) -> None:
        self._take_whole(self.free.sockets(), self.machine.sockets, len(self.machine.cpus) // len(self.machine.sockets))

    def _whole_cores(self) -> None:
        self._take_whole(self.free.cores(), self.machine.cores, self.machine.threads_per_core)

    def _by_cache(self) -> None:
        """Take whole caches while a usual one fits, and the rest from the first cache that holds all of it."""
        usual = len(self.machine.cpus) // len(self.machine.caches)
        for cache in self.free.caches():
            if self.needed >= usual:
                self._take_whole(self.free.caches(), self.machine.caches)
            if self.needed < 1:
                return
            self._part_of_cache(cache)
            if self.needed < 1:
                return

    def _part_of_cache(self, cache: int) -> None:
        """Take all that is needed from one cache, if its lowest cores with free CPUs yield exactly that."""
        threads = self.machine.threads_per_core
        within = self.machine.caches[cache] & self.free.cpus
        cores = [cpus & self.free.cpus for cpus in self.machine.cores.values() if cpus & within]
        found = mask(cpu for cpus in cores[: -(-self.needed // threads)] for cpu in members(cpus))
        if self.needed % 2 and threads > 1 and found.bit_count() > self.needed:
            found ^= 1 << found.bit_length() - 1
        if found.bit_count() == self.needed:
            self._take(found)

    def _single_cpus(self) -> None:
        order = self.free.spread() if self.options.distribute_across_cores else self.free.threads()
        for cpu in list(order)[: self.needed]:
            self._take(1 << cpu)
