"""All nodes of a cluster with what is on them: each pod goes to one that takes it, or to the one named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from trainyard.upstream.kubelet import Admitted, Given
from trainyard.upstream.scheduler.choice import SCHEDULERS, Choice
from trainyard.upstream.scheduler.hosts import Host, State, Step
from trainyard.upstream.scheduler.neighbours import Neighbours
from trainyard.upstream.scheduler.scores import of_nodes
from trainyard.upstream.scheduler.wanted import Wanted


@dataclass(frozen=True, slots=True)
class Placed:
    """A pod on its node, with what its kubelet gives to each container."""

    host: str
    containers: tuple[Given, ...] = ()


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A pod that no node takes: what speaks against how many of them; of nodes that it may use at all, if there are."""

    against: Mapping[str, int]
    hosts: tuple[str, ...] = ()
    """The nodes that it may use at all."""


@dataclass(eq=False)
class Group:
    """Nodes of one kind in one state, of which the first is known."""

    state: State | None
    members: dict[str, Host] = field(default_factory=dict)
    heap: list[tuple[int, str]] = field(default_factory=list)

    def add(self, host: Host) -> None:
        """Take a node in."""
        self.members[host.name] = host
        heappush(self.heap, (host.order, host.name))

    def first(self) -> Host:
        """Return its first node."""
        while self.heap[0][1] not in self.members:
            heappop(self.heap)
        return self.members[self.heap[0][1]]


class Nodes:
    """Nodes of a cluster. What was placed can be taken back, the last first."""

    def __init__(self, hosts: Iterable[Host], shared: Mapping[str, int] | None = None) -> None:
        """Take nodes, in the order in which equal ones are chosen, and what all of them have together, by name."""
        self.hosts = {host.name: host for host in hosts}
        self.shared = dict(shared or {})
        self._kinds: dict[str, int] = {}
        self._groups: dict[tuple[int, int], Group] = {}
        kinds: dict[tuple[object, ...], int] = {}
        self._suits: dict[tuple[int, str], str | None] = {}
        self._log: list[tuple[Host, State | None, Wanted]] = []
        self._averse = self._wishing = 0
        self._soft = any(taint.effect == "PreferNoSchedule" for host in self.hosts.values() for taint in host.taints)
        for number, host in zip(count(), self.hosts.values()):
            host.order = number
            self._kinds[host.name] = kinds.setdefault(host.kind, len(kinds))
            self._group(host).add(host)

    def place(self, wanted: Wanted, only: str | None = None, choice: Choice = SCHEDULERS) -> Placed | Unplaced:
        """Put a pod on a node, and say on which; or say what speaks against all of them, and change nothing."""
        for name, amount in wanted.takes.items():
            if self.shared.get(name, amount) < amount:
                return Unplaced({f"no {name} left": len(self.hosts)})
        social = wanted.social or self._averse > 0
        wishes = (
            not (choice.fullest or choice.anything)
            and only is None
            and (wanted.choosy or self._soft or self._wishing > 0)
        )
        neighbours = Neighbours(wanted, self.hosts.values()) if social else None
        against: Counter[str] = Counter()
        free: list[tuple[Host, Step | None]] = []
        for host, number in self._tried(wanted, only, choice, each=social or wishes):
            found = self._asked(wanted, host, neighbours)
            if isinstance(found, list):
                against.update(dict.fromkeys(found, number))
                continue
            free.append((host, found))
            if not wishes:
                break
        if free:
            return self._take(wanted, *self._best(wanted, free))
        usable = self.usable(wanted)
        if only is None and not usable:
            against = Counter(str(self._bar(wanted, host)) for host in self.hosts.values())
        return Unplaced(dict(against), tuple(usable) if only is None else (only,))

    def usable(self, wanted: Wanted) -> list[str]:
        """Return the nodes that a pod may use at all, whatever is on them."""
        return [host.name for host in self.hosts.values() if self._bar(wanted, host) is None]

    def mark(self) -> int:
        """Return how much has been placed."""
        return len(self._log)

    def back(self, mark: int) -> None:
        """Take back what was placed since."""
        while len(self._log) > mark:
            host, state, wanted = self._log.pop()
            host.pods.pop()
            self._averse -= bool(wanted.averse)
            self._wishing -= bool(wanted.wishes or wanted.affine)
            self._count(host, wanted, 1)
            self._regroup(host, state)

    def _tried(self, wanted: Wanted, only: str | None, choice: Choice, *, each: bool) -> Iterator[tuple[Host, int]]:
        """Yield the nodes to be asked, and for how many an answer stands: all in one state are alike."""
        if only is not None:
            yield from ([(self.hosts[only], 1)] if only in self.hosts else [])
            return
        groups = [one for one in self._groups.values() if one.members]
        if not wanted.by_name:
            groups = [one for one in groups if self._suit(wanted, next(iter(one.members.values()))) is None]
        single = each or wanted.by_name or any(name not in self.shared for name in wanted.takes)
        rank = choice.ranks(len(self._log))
        for group in sorted(groups, key=lambda one: (choice.of(one.state, wanted), rank(one.first()))):
            if single:
                yield from ((host, 1) for host in sorted(group.members.values(), key=rank))
            else:
                yield group.first(), len(group.members)

    def _best(self, wanted: Wanted, free: Sequence[tuple[Host, Step | None]]) -> tuple[Host, Step | None]:
        """Return the node of the highest score, the first of equals."""
        if len(free) == 1:
            return free[0]
        scores = of_nodes(wanted, [*self.hosts.values()], [host for host, _ in free])
        return free[scores.index(max(scores))]

    def _take(self, wanted: Wanted, host: Host, step: Step | None) -> Placed:
        self._move(host, step.state if step else None, wanted)
        outcome = step.decision.outcome if step else None
        return Placed(host.name, outcome.containers if isinstance(outcome, Admitted) else ())

    def _asked(self, wanted: Wanted, host: Host, neighbours: Neighbours | None) -> Step | list[str] | None:
        """Return the step to a node with the pod, or what speaks against it; None where nothing is known of it.

        Filters are asked in the scheduler's order (pkg/scheduler/apis/config/v1/default_plugins.go), the kubelet last.
        """
        unfit = self._suit(wanted, host)
        if unfit:
            return [unfit]
        step = None if host.state is None else host.state.take(wanted)
        if step is not None and step.decision.unschedulable:
            return step.against
        unfit = neighbours.against(host) if neighbours else None
        unfit = unfit or self._unfit(wanted, host)
        lacks = [f"no {name} left" for name, amount in wanted.takes.items() if host.left.get(name, amount) < amount]
        if unfit or lacks:
            return [unfit] if unfit else lacks
        return step if step is None else step.against or step

    def _bar(self, wanted: Wanted, host: Host) -> str | None:
        """Return why a pod can never go to a node, whoever leaves it."""
        return self._suit(wanted, host) or self._unfit(wanted, host)

    def _unfit(self, wanted: Wanted, host: Host) -> str | None:
        return host.state.unfit(wanted) if host.state else None

    def _suit(self, wanted: Wanted, host: Host) -> str | None:
        """Return the scheduler's objection to a node, whatever pods are on it."""
        if wanted.by_name:
            return wanted.against(host.name, host.labels, host.taints)
        key = self._kinds[host.name], wanted.filter
        if key not in self._suits:
            self._suits[key] = wanted.against(host.name, host.labels, host.taints)
        return self._suits[key]

    def _move(self, host: Host, state: State | None, wanted: Wanted) -> None:
        self._log.append((host, host.state, wanted))
        host.pods.append(wanted)
        self._averse += bool(wanted.averse)
        self._wishing += bool(wanted.wishes or wanted.affine)
        self._count(host, wanted, -1)
        self._regroup(host, state)

    def _count(self, host: Host, wanted: Wanted, sign: int) -> None:
        for name, amount in wanted.takes.items():
            for where in (host.left, self.shared):
                if name in where:
                    where[name] += sign * amount

    def _regroup(self, host: Host, state: State | None) -> None:
        del self._group(host).members[host.name]
        host.state = state
        self._group(host).add(host)

    def _group(self, host: Host) -> Group:
        key = self._kinds[host.name], id(host.state)
        if key not in self._groups:
            self._groups[key] = Group(host.state)
        return self._groups[key]
