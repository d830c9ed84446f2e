"""The memory manager with its Static policy: the NUMA nodes that a container's memory and huge pages come from.

cm/memorymanager/policy_static.go, 1.35.4. NUMA nodes that give to one container together are tied: as long as they
give, they give only together. A node that gives alone gives only alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from trainyard.base.quantities import Format, Quantity
from trainyard.upstream.kubelet.demand import amounts_of, bytes_of
from trainyard.upstream.kubelet.hints import Affinity, Hints, Opinion
from trainyard.upstream.kubelet.machine import Machine
from trainyard.upstream.kubelet.outcomes import Panic, Refusal
from trainyard.upstream.kubelet.sets import members, subset_sums, subsets
from trainyard.upstream.kubelet.settings import Settings
from trainyard.upstream.kubelet.whole import check_shared_memory, has_own_part, is_served, is_whole
from trainyard.upstream.pods.demand import Container, at_one_time
from trainyard.upstream.pods.pod import Pod
from trainyard.upstream.pods.resources import HUGE_PAGES, MEMORY

Amounts = Mapping[str, int]
"""Bytes by resource."""

Reusable = Mapping[tuple[int, str], int]
"""What init containers leave to their pod's later ones: bytes by NUMA nodes and resource."""

UINT64 = 1 << 64
"""The kubelet counts bytes in unsigned numbers: a node that keeps more than it has seems to have nearly 16Ei."""


@dataclass(frozen=True, slots=True)
class Block:
    """Bytes of one resource that a container holds on NUMA nodes."""

    nodes: int
    size: int


@dataclass
class NodeMemory:
    """What a NUMA node has, in bytes by resource; `tied` are the nodes that it gives together with, and itself."""

    allocatable: Amounts
    free: dict[str, int]
    tied: int
    blocks: int = 0

    def copy(self) -> NodeMemory:
        """Return another one with the same blocks."""
        return NodeMemory(self.allocatable, dict(self.free), self.tied, self.blocks)


@dataclass
class Memory:
    """The memory manager: what each NUMA node has left, and the blocks of each pod's containers by resource."""

    machine: Machine
    nodes: dict[int, NodeMemory] = field(default_factory=dict)
    given: dict[str, dict[str, dict[str, Block]]] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    pods: dict[str, dict[str, Block]] = field(default_factory=dict)
    """The memory of pods as a whole, which their containers share."""

    @staticmethod
    def start(machine: Machine, settings: Settings) -> Memory:
        """Return the memory manager of an empty machine; without the Static policy it has no nodes."""
        memory = Memory(machine, settings=settings)
        for node in machine.numa if settings.static_memory else ():
            reserved = settings.reserved_memory.get(node.id, {})
            pages = {HUGE_PAGES + _size(size): amount for size, amount in node.huge_pages.items()}
            amounts = {name: (amount - reserved.get(name, 0)) % UINT64 for name, amount in pages.items()}
            amounts[MEMORY] = (node.memory - sum(pages.values()) - reserved.get(MEMORY, 0)) % UINT64
            memory.nodes[node.id] = NodeMemory(amounts, dict(amounts), 1 << node.id)
        return memory

    def copy(self) -> Memory:
        """Return another one with the same containers."""
        given = {
            pod: {name: dict(blocks) for name, blocks in containers.items()} for pod, containers in self.given.items()
        }
        nodes = {number: node.copy() for number, node in self.nodes.items()}
        return Memory(self.machine, nodes, given, self.settings, dict(self.pods))

    def walks(self, pod: Pod) -> int:
        """Return the number of NUMA nodes all of whose sets the kubelet walks through for the pod."""
        return len(self.nodes) if pod.guaranteed else 0

    def container_hints(self, pod: Pod, container: Container, reusable: Reusable) -> Iterator[tuple[str, Opinion]]:
        """Yield where the container's memory fits, the same for each kind. Raises Panic as `_hints` does."""
        yield from self._opinions(pod, lambda: self._bytes_of(pod, container), reusable)

    def pod_hints(self, pod: Pod) -> Iterator[tuple[str, Opinion]]:
        """Yield where the pod's memory fits. Raises Panic as `_hints` does."""
        if not is_whole(pod, self.settings):
            yield from self._opinions(pod, lambda: _together(pod), {})
        elif self.nodes and pod.guaranteed:
            yield from self._opinions_of_whole(pod)

    def _opinions_of_whole(self, pod: Pod) -> Iterator[tuple[str, Opinion]]:
        """Yield where the memory of a pod with resources of its own fits: nowhere if its containers leave nothing."""
        try:
            total = amounts_of(pod.requests)
        except Refusal:
            return
        try:
            check_shared_memory(pod, total, self._of_containers(pod))
        except Refusal:
            yield from ((name, Hints()) for name in total)
            return
        yield from self._opinions(pod, lambda: total, {})

    def allocate(self, pod: Pod, container: Container, affinity: Affinity, reusable: Reusable) -> Reusable:
        """Give the container its memory and return what later ones of its pod may use again.

        Raises Refusal, or Panic as `_hints` does.
        """
        if not self.nodes or not is_served(pod, self.settings):
            return reusable
        requested = self._bytes_of(pod, container)
        if not requested and self.settings.skips_empty:
            return reusable
        nodes = self._chosen(requested, affinity, reusable)
        for name, size in requested.items():
            self._take(nodes, name, max(0, size - reusable.get((nodes, name), 0)))
        blocks = {name: Block(nodes, size) for name, size in requested.items()}
        self.given.setdefault(pod.uid, {})[container.name] = blocks
        self._shrink_init_blocks(pod, container, blocks)
        return _left(reusable, blocks, container)

    def allocate_pod(self, pod: Pod, affinity: Affinity) -> None:
        """Give a pod its memory as a whole, and its containers their parts of it.

        Raises Refusal, or Panic as `_hints` does.
        """
        if not self.nodes or not pod.guaranteed:
            return
        try:
            total = amounts_of(pod.requests)
        except Refusal:
            return
        own = self._of_containers(pod)
        check_shared_memory(pod, total, own)
        nodes = self._chosen(total, affinity, {})
        for name, size in total.items():
            self._take(nodes, name, size)
        self.pods[pod.uid] = {name: Block(nodes, size) for name, size in total.items()}
        left, given = dict(total), self.given.setdefault(pod.uid, {})
        for container in pod.containers:
            mine, ends = own[container.name], container.init and not container.restartable
            if mine or ends:
                parts = mine or {name: size for name, size in left.items() if size}
                given[container.name] = {name: Block(nodes, size) for name, size in parts.items()}
            if mine and not ends:
                left = {name: size - mine.get(name, 0) for name, size in left.items()}
        for container in pod.containers:
            given.setdefault(container.name, {name: Block(nodes, size) for name, size in left.items() if size})

    def started(self, pod: Pod) -> None:
        """Take back what init containers had: each is over when the next container starts.

        What a pod has as a whole it keeps until its last container is gone.
        """
        for container in pod.init_containers if pod.uid not in self.pods else ():
            if not container.restartable:
                self._release(self.given.get(pod.uid, {}).pop(container.name, {}))

    def forget(self, pod: str) -> None:
        """Take back what a pod and its containers had."""
        blocks = self.given.pop(pod, {}).values()
        for block in [self.pods.pop(pod)] if pod in self.pods else blocks:
            self._release(block)

    def _bytes_of(self, pod: Pod, container: Container) -> dict[str, int]:
        """Return the memory that a container gets alone. Raises Refusal as `bytes_of` does."""
        return {} if is_whole(pod, self.settings) and not has_own_part(container) else bytes_of(container)

    def _of_containers(self, pod: Pod) -> dict[str, dict[str, int]]:
        return {container.name: self._bytes_of(pod, container) for container in pod.containers}

    def _opinions(self, pod: Pod, measure: Callable[[], Amounts], reusable: Reusable) -> Iterator[tuple[str, Opinion]]:
        """Yield hints by kind; none for what fits nowhere or cannot be measured, which is refused later."""
        if not self.nodes or not is_served(pod, self.settings):
            return
        try:
            requested = measure()
        except Refusal:
            return
        if not requested:
            return
        hints = self._hints(requested, reusable)
        if hints.masks:
            yield from ((name, hints) for name in requested)

    def _hints(self, requested: Amounts, reusable: Reusable) -> Hints:
        """Return sets of NUMA nodes with enough of everything.

        Raises Panic for huge pages of a size that the machine does not know.
        """
        able = subsets(self.machine.numa_nodes)
        for name, size in requested.items():
            has = subset_sums({number: _of(node.allocatable, name) for number, node in self.nodes.items()})
            able = tuple(nodes for nodes in able if has[nodes] % UINT64 >= size)
        least = min((nodes.bit_count() for nodes in able), default=len(self.nodes))
        fits = [nodes for nodes in able if self._open(nodes)]
        for name, size in requested.items():
            free = subset_sums({number: node.free[name] for number, node in self.nodes.items()})
            fits = [nodes for nodes in fits if (free[nodes] + reusable.get((nodes, name), 0)) % UINT64 >= size]
        return Hints.sorted(fits, lambda nodes: nodes.bit_count() == least)

    def _open(self, nodes: int) -> bool:
        """Tell whether no node of the set is tied otherwise."""
        if nodes.bit_count() == 1:
            return self.nodes[nodes.bit_length() - 1].tied == nodes
        return all(self.nodes[number].tied == nodes for number in members(nodes) if self.nodes[number].blocks)

    def _chosen(self, requested: Amounts, affinity: Affinity, reusable: Reusable) -> int:
        """Return the NUMA nodes to give from: the affinity's, or more where those have too little. Raises Refusal."""
        nodes = self._wide_enough(requested, affinity, reusable)
        if nodes.bit_count() > 1 and not self._open(nodes):
            raise Refusal("[memorymanager] preferred hint violates NUMA node allocation")
        return nodes

    def _wide_enough(self, requested: Amounts, affinity: Affinity, reusable: Reusable) -> int:
        nodes, preferred = affinity.nodes, affinity.preferred
        if nodes is None:
            hints = self._hints(requested, reusable)
            if not hints.masks or not requested:
                words = "[memorymanager] failed to get the default NUMA affinity"
                raise Refusal(f"{words}, no NUMA nodes with enough memory is available")
            if preferred and not hints.preferred:
                raise Refusal("[memorymanager] failed to find the default preferred hint")
            nodes, preferred = _narrowest(hints), bool(hints.preferred)
        if self._has_free(nodes, requested):
            return nodes
        hints = self._hints(requested, reusable)
        wider = Hints(*(tuple(mask for mask in kind if not nodes & ~mask) for kind in (hints.preferred, hints.other)))
        if not wider.masks:
            raise Refusal("[memorymanager] failed to find NUMA nodes to extend the current topology hint")
        if preferred and not wider.preferred:
            raise Refusal("[memorymanager] failed to find the extended preferred hint")
        return _narrowest(wider)

    def _has_free(self, nodes: int, requested: Amounts) -> bool:
        """Tell whether the nodes have all of it. Raises Panic as `_hints` does."""
        within = [self.nodes[number] for number in members(nodes)]
        return all(sum(_of(node.free, name) for node in within) % UINT64 >= size for name, size in requested.items())

    def _take(self, nodes: int, name: str, size: int) -> None:
        """Take bytes from the nodes, from the lowest first."""
        for number in members(nodes):
            node = self.nodes[number]
            node.blocks += 1
            node.tied = nodes
            part = min(size, node.free[name])
            node.free[name] -= part
            size -= part

    def _release(self, blocks: Mapping[str, Block]) -> None:
        """Give bytes back, to the lowest nodes first, whoever took them there."""
        for name, block in blocks.items():
            size = block.size
            for number in members(block.nodes):
                node = self.nodes[number]
                node.blocks -= 1
                if not node.blocks:
                    node.tied = 1 << number
                part = min(size, node.allocatable[name] - node.free[name])
                node.free[name] += part
                size -= part

    def _shrink_init_blocks(self, pod: Pod, container: Container, blocks: Mapping[str, Block]) -> None:
        """Count what a container uses again as its own, no longer as that of the init containers before it."""
        held = self.given[pod.uid]
        for name, block in blocks.items():
            size = block.size
            for earlier in pod.init_containers:
                if earlier.name == container.name:
                    break
                own = held.get(earlier.name, {}).get(name)
                if earlier.restartable or own is None or own.nodes != block.nodes:
                    continue
                part = min(size, own.size)
                held[earlier.name][name] = Block(own.nodes, own.size - part)
                size -= part


def _left(reusable: Reusable, blocks: Mapping[str, Block], container: Container) -> Reusable:
    """Return the memory that a pod's later containers may use again."""
    left = dict(reusable)
    for name, block in blocks.items():
        before = left.get((block.nodes, name), 0)
        ends = container.init and not container.restartable
        left[block.nodes, name] = max(before, block.size) if ends else max(0, before - block.size)
    return left


def _narrowest(hints: Hints) -> int:
    return min(hints.preferred or hints.other, key=lambda nodes: (nodes.bit_count(), nodes))


def _together(pod: Pod) -> Amounts:
    """Return the most bytes that the pod holds at one time, of the kinds that its app containers ask for."""
    kinds = {name for container in pod.app_containers for name in bytes_of(container)}
    return {name: size for name, size in at_one_time(pod.containers, bytes_of).items() if name in kinds}


def _of(amounts: Amounts, name: str) -> int:
    """Return an amount. Raises Panic where there is none, as Go does."""
    if name not in amounts:
        raise Panic("runtime error: invalid memory address or nil pointer dereference")
    return amounts[name]


def _size(size: int) -> str:
    return Quantity(Decimal(size), Format.BINARY_SI).canonical()
