"""Taking CPUs evenly from NUMA nodes, the option `distribute-cpus-across-numa`.

cm/cpumanager/cpu_assignment.go takeByTopologyNUMADistributed, 1.35.4 and 1.37.2.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainyard.upstream.kubelet.cpus.packed import Free, take_packed, too_few
from trainyard.upstream.kubelet.machine import Machine
from trainyard.upstream.kubelet.outcomes import Exploded, Explosion, Refusal
from trainyard.upstream.kubelet.settings import CpuOptions


@dataclass(frozen=True, slots=True)
class _Slice:
    """A combination as the kubelet keeps it: a Go slice, whose memory the search goes on writing.

    With four and more nodes the last ones of a combination that is kept become those of a later one. So it is read when
    the search is over.
    """

    memory: list[int]
    length: int

    @property
    def now(self) -> list[int]:
        """Return the present items of the slice."""
        return self.memory[: self.length]


@dataclass(frozen=True, slots=True)
class _Split:
    """A way to spread a request: the same from each of `nodes`, and what is left in groups from `extra`."""

    balance: float = math.inf
    nodes: _Slice | None = None
    extra: _Slice | None = None


def take_distributed(machine: Machine, available: int, count: int, options: CpuOptions) -> int:
    """Return so many of the available CPUs, evenly from as few NUMA nodes as can give them, packed where none can.

    Raises Refusal where there are too few, and Explosion as `_after` does.
    """
    group = machine.threads_per_core if options.full_pcpus_only else 1
    if count < 1:
        return 0
    if count % group == 0:
        if count > available.bit_count():
            raise too_few(available, count)
        nodes = Free(machine, available).nodes()
        free = {node: machine.cpu_nodes[node] & available for node in nodes}
        for size in _sizes(machine, len(nodes), count, group):
            search = _Search(machine, {node: cpus.bit_count() for node, cpus in free.items()}, count, group, options)
            split = search.best(nodes, size)
            if split.nodes is not None:
                extra = split.extra.now if split.extra else []
                return _Taking(machine, free, group, options).taken(split.nodes.now, extra, count)
    return take_packed(machine, available, count, options)


def _sizes(machine: Machine, nodes: int, count: int, group: int) -> range:
    """Return from how many NUMA nodes to try to take."""
    needed = _up(count, group)
    per_node = _up(_up(len(machine.cpus), group), len(machine.cpu_nodes))
    return range(_up(needed, per_node), min(needed, nodes) + 1)


@dataclass(frozen=True, slots=True)
class _Search:
    """The search for the NUMA nodes to take so many CPUs from; `free` are the CPUs that each has."""

    machine: Machine
    free: Mapping[int, int]
    count: int
    group: int
    options: CpuOptions

    @property
    def by_socket(self) -> bool:
        """Whether nodes of one socket come before others."""
        return self.options.align_by_socket and self.options.spread_in_sockets

    def best(self, nodes: list[int], size: int) -> _Split:
        """Return the split over so many nodes that leaves the machine's nodes most evenly used."""
        best, inside = _Split(), False
        for combination in _slices(nodes, size):
            if best.balance == 0 and (not self.by_socket or inside):
                break
            split = self._split(combination.now)
            if split is None:
                continue
            together = self.by_socket and self.machine.share_socket(combination.now)
            if together if together != inside else split.balance < best.balance:
                best, inside = _Split(split.balance, combination, split.extra), together
        return best

    def _split(self, chosen: list[int]) -> _Split | None:
        """Return how these nodes give the CPUs, None where they cannot."""
        if sum(self.free[node] // self.group for node in chosen) * self.group < self.count:
            return None
        each = self.count // len(chosen) // self.group * self.group
        if self.by_socket:
            each = _bounded(each, [self.free[node] for node in chosen], self.group)
        if any(self.free[node] < each for node in chosen):
            return None
        left = {node: cpus - each * (node in chosen) for node, cpus in self.free.items()}
        givers = [node for node in chosen if left[node] >= self.group]
        return _with_rest(left, givers, self.count - each * len(chosen), self.group)


def _bounded(each: int, free: list[int], group: int) -> int:
    """Return as many CPUs of each node as the one with the fewest has in whole groups."""
    return min([each, *(cpus // group * group for cpus in free)])


def _with_rest(left: Mapping[int, int], givers: list[int], rest: int, group: int) -> _Split:
    """Return from which nodes the rest comes at best, rather from many than from few."""
    if rest == 0:
        return _Split(_deviation(list(left.values())))
    best = _Split()
    for size in range(len(givers), 0, -1):
        for subset in _slices(givers, size):
            if sum(left[node] for node in subset.now) < rest:
                continue
            balance = _deviation(list(_after(left, subset.now, rest, group).values()))
            if balance < best.balance:
                best = _Split(balance, extra=subset)
    return best


def _after(left: Mapping[int, int], subset: Sequence[int], rest: int, group: int) -> dict[int, int]:
    """Return the CPUs that remain on the nodes once the rest is taken in turn from the subset.

    Raises Explosion where none has a whole group left: the kubelet goes on for ever (cores with one thread reserved).
    """
    after = dict(left)
    while rest > 0:
        before = rest
        for node in subset:
            if rest > 0 and after[node] >= group:
                after[node] -= group
                rest -= group
        if rest == before:
            raise Explosion(Exploded(endless=True))
    return after


class _Taking:
    """CPUs that are being taken from NUMA nodes."""

    def __init__(self, machine: Machine, free: dict[int, int], group: int, options: CpuOptions) -> None:
        self.machine = machine
        self.free = free
        self.group = group
        self.options = options
        self.chosen = 0

    def taken(self, nodes: Sequence[int], extra: Sequence[int], count: int) -> int:
        """Return the CPUs.

        Raises Refusal where a node stands in the list twice and cannot give twice, or Explosion as `_after` does.
        """
        cpus_each = count // len(nodes) // self.group * self.group
        if self.options.spread_in_sockets:
            cpus_each = _bounded(cpus_each, [self.free[node].bit_count() for node in nodes], self.group)
        for node in nodes:
            self._take(node, cpus_each)
        rest = count - cpus_each * len(nodes)
        while rest > 0:
            givers = [node for node in extra if self.free[node].bit_count() >= self.group]
            if not givers:
                raise Explosion(Exploded(endless=True))
            for node in givers[: rest // self.group]:
                self._take(node, self.group)
                rest -= self.group
        missing = count - self.chosen.bit_count()
        if missing:
            kind = "not enough" if missing > 0 else "too many"
            raise Refusal(f"accounting error, {kind} CPUs allocated, remaining: {missing}")
        return self.chosen

    def _take(self, node: int, count: int) -> None:
        if count > self.free[node].bit_count():
            return
        cpus = take_packed(self.machine, self.free[node], count, self.options)
        self.chosen |= cpus
        self.free[node] &= ~cpus


def _slices(items: Sequence[int], size: int) -> Iterator[_Slice]:
    """Yield all combinations in order, in memory that is used as Go's append does it.

    There is room for 1, 2, 4, 8, ... numbers; where room is left it is written in place, so that combinations with the
    same beginning share it.
    """

    def extended(start: int, part: list[int], length: int) -> Iterator[_Slice]:
        if length == size:
            yield _Slice(part, length)
            return
        for index in range(start, len(items) - (size - length) + 1):
            longer = part if length < len(part) else part + [0] * max(1, length)
            longer[length] = items[index]
            yield from extended(index + 1, longer, length + 1)

    if size > 0:
        yield from extended(0, [], 0)


def _deviation(amounts: list[int]) -> float:
    """Return the standard deviation, mean and result rounded to thousandths as the kubelet does."""
    mean = _thousandths(sum(amounts) / len(amounts))
    return _thousandths(math.sqrt(sum((amount - mean) ** 2 for amount in amounts) / len(amounts)))


def _thousandths(number: float) -> float:
    return math.floor(number * 1000 + 0.5) / 1000


def _up(amount: int, step: int) -> int:
    return -(-amount // step)
