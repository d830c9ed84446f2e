"""The hardware that a kubelet finds: CPUs in cores, caches, sockets and NUMA nodes, memory, and plugins' devices."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from trainyard.upstream.kubelet.sets import mask, union


@dataclass(frozen=True, slots=True)
class Cpu:
    """A CPU as Linux numbers it (a hardware thread), and where it sits.

    `core` is the lowest CPU number of its core, as the kubelet names cores; `cache` is the number of its last-level
    cache, or that of its socket where the machine reports none (cm/cpumanager/topology/topology.go, 1.35.4).
    """

    id: int
    core: int
    socket: int
    numa: int
    cache: int


@dataclass(frozen=True, slots=True)
class NumaNode:
    """A NUMA node, with memory in bytes.

    `memory` includes huge pages; `huge_pages` are bytes by page size in bytes, with each size that the machine knows;
    `distances` are those to the machine's NUMA nodes, in their order.
    """

    id: int
    memory: int
    huge_pages: Mapping[int, int] = field(default_factory=dict)
    distances: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Device:
    """A device of a plugin; `numa` are the NUMA nodes that the plugin reports, None where it reports no topology."""

    id: str
    numa: tuple[int, ...] | None = None
    healthy: bool = True


@dataclass(frozen=True)
class Machine:
    """A node's hardware.

    `devices` are by resource name, in the order in which a plugin that is asked prefers them; the plugins of
    `unadvised` resources offer no such advice. The kubelet then takes what a Go map yields, and we the first.
    """

    numa: tuple[NumaNode, ...]
    cpus: tuple[Cpu, ...]
    devices: Mapping[str, tuple[Device, ...]] = field(default_factory=dict)
    unadvised: frozenset[str] = frozenset()

    @cached_property
    def numa_nodes(self) -> int:
        """Return the set of all NUMA nodes."""
        return mask(node.id for node in self.numa)

    @cached_property
    def all_cpus(self) -> int:
        """Return the set of all CPUs."""
        return mask(cpu.id for cpu in self.cpus)

    @cached_property
    def cores(self) -> dict[int, int]:
        """Return the CPUs of each core."""
        return self._cpus_by(lambda cpu: cpu.core)

    @cached_property
    def caches(self) -> dict[int, int]:
        """Return the CPUs of each last-level cache."""
        return self._cpus_by(lambda cpu: cpu.cache)

    @cached_property
    def sockets(self) -> dict[int, int]:
        """Return the CPUs of each socket."""
        return self._cpus_by(lambda cpu: cpu.socket)

    @cached_property
    def cpu_nodes(self) -> dict[int, int]:
        """Return the CPUs of each NUMA node that has any."""
        return self._cpus_by(lambda cpu: cpu.numa)

    def share_socket(self, nodes: Iterable[int]) -> bool:
        """Say whether the CPUs of these NUMA nodes are all in one socket."""
        cpus = union(self.cpu_nodes[node] for node in nodes)
        return any(cpus & ~socket == 0 for socket in self.sockets.values())

    @property
    def threads_per_core(self) -> int:
        """Return CPUs per core, rounded down where cores differ, as the kubelet counts."""
        return len(self.cpus) // len(self.cores)

    def _cpus_by(self, place: Callable[[Cpu], int]) -> dict[int, int]:
        found: dict[int, int] = defaultdict(int)
        for cpu in self.cpus:
            found[place(cpu)] |= 1 << cpu.id
        return dict(sorted(found.items()))
