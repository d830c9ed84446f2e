"""Whether Volcano starts a gang that has its cluster to itself: what its queue has room for, and which nodes it takes.

Source: volcano v1.14.1, as its chart configures it: pkg/scheduler/actions/enqueue, actions/allocate/allocate.go,
plugins/proportion, plugins/gang, api/job_info.go; pkg/controllers/job/job_controller_util.go CalcPGMinResources. Its
predicates are kube-scheduler's filters. Which of several nodes it takes follows from scores that are not restated here,
and those of chance among equals, so that every one counts that would do.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainyard.upstream.scheduler.choice import SCHEDULERS, Choice
from trainyard.upstream.scheduler.nodes import Nodes, Placed, Unplaced
from trainyard.upstream.scheduler.together import FEWEST, FULLEST, MOST, TRIES, may_share
from trainyard.upstream.scheduler.wanted import Wanted

Room = Mapping[str, int]
"""The most of resources that a queue gives, in thousandths of CPUs, bytes or pieces; others are not bounded."""


@dataclass(frozen=True, slots=True)
class Task:
    """Pods of a gang that are alike."""

    name: str
    wanted: Wanted
    replicas: int
    least: int
    """How many of them there have to be."""


@dataclass(frozen=True, slots=True)
class Gang:
    """The pods of a job that start together."""

    tasks: tuple[Task, ...]
    least: int
    """How many pods there have to be, whichever."""

    @property
    def by_task(self) -> bool:
        """Whether it is looked at how many of each task there are."""
        return self.least >= sum(task.least for task in self.tasks)

    def ready(self, there: Mapping[int, int]) -> bool:
        """Whether it may start with so many pods of its tasks, by their numbers."""
        enough = all(there.get(number, 0) >= task.least for number, task in enumerate(self.tasks))
        return sum(there.values()) >= self.least and (enough or not self.by_task)

    def asked(self, resource: str) -> int:
        """Return how much of a resource the pods ask for that have to be there, which a queue has to have room for."""
        amounts = (task.wanted.amount(resource) for task in self.tasks)
        return sum(count * amount for count, amount in zip(self.counts, amounts, strict=True))

    @property
    def counts(self) -> list[int]:
        """How many pods of each task are asked for at the least."""
        firsts = [task.least if self.by_task else task.replicas for task in self.tasks]
        found, left = [], self.least
        for count in firsts:
            found.append(min(count, left))
            left -= found[-1]
        for number, task in enumerate(self.tasks):
            more = min(left, task.replicas - found[number])
            found[number], left = found[number] + more, left - more
        return found


@dataclass(frozen=True, slots=True)
class Start:
    """What becomes of a gang: nothing is placed where it does not start."""

    placed: tuple[tuple[int, Placed], ...] = ()
    """By the number of their task, the nodes of its pods."""
    missing: tuple[tuple[int, Unplaced], ...] = ()
    """By the number of its task, a pod that has no node."""
    full: int | None = None
    """The number of a task for whose pods the queue has no room beside those that came first."""

    @property
    def starts(self) -> bool:
        """Whether it starts."""
        return bool(self.placed)


def lacking_resources(gangs: Sequence[Gang], room: Room) -> Iterator[tuple[str, int, int]]:
    """Yield resources of which a queue has no room for gangs at one time, devices first: what they need, what there is.

    A job for which there is none stays Pending, and its pods are never made (`enqueue`).
    """
    for name in sorted(room, key=lambda name_: "/" not in name_):
        asked = sum(gang.asked(name) for gang in gangs)
        if asked > room[name]:
            yield name, asked, room[name]


def room(
    capability: Mapping[str, int], total: Mapping[str, int], own: Mapping[str, int], all_: Mapping[str, int]
) -> Room:
    """Return the most that a queue gives of all that nodes have, less the guarantees of others.

    `own` is guaranteed to the queue, `all_` to all queues. CPUs and memory of nothing are no bound.
    """
    found = {name: max(0, amount - all_.get(name, 0)) + own.get(name, 0) for name, amount in total.items()}
    bounds = {name: amount for name, amount in capability.items() if amount or name not in ("cpu", "memory")}
    return {name: min(found.get(name, 0), bounds.get(name, found.get(name, 0))) for name in {**found, **bounds}}


def prospects(nodes: Nodes, gang: Gang, room: Room) -> Iterator[Start]:
    """Yield the likely start of a gang, then other possible ones; nodes stay as they are."""
    mark = nodes.mark()
    for choice, seed in ways(nodes, gang):
        found = put(nodes, gang, room, choice, seed)
        nodes.back(mark)
        yield found


def ways(nodes: Nodes, gang: Gang) -> Iterator[tuple[Choice, int | None]]:
    """Yield ways to choose nodes, and chances by which pods of several tasks follow each other."""
    yield SCHEDULERS, None
    wanted = [task.wanted for task in gang.tasks]
    if len(wanted) == 1 and not wanted[0].social:
        return
    if any(one_wanted.social for one_wanted in wanted) or may_share(nodes, wanted) or not gang.by_task or elastic(gang):
        yield FULLEST, None
        count = min(MOST, max(FEWEST, TRIES // max(1, gang.least)))
        for seed in range(count):
            yield Choice(seed=seed, anything=bool(seed % 3), fullest=seed % 3 == 1), seed


def elastic(gang: Gang) -> bool:
    """Whether fewer pods of a task than it may have will do."""
    return any(task.least < task.replicas for task in gang.tasks)


def order(gang: Gang, seed: int | None) -> list[int]:
    """Return the tasks of pods as they come: the first of each, then the second, and so on.

    Of those of one number the older one is first, then chance decides (pkg/controllers/job/helpers CompareTask).
    """
    dice = random.Random(seed)  # noqa: S311 - the same for the same seed
    found: list[int] = []
    for index in range(max((task.replicas for task in gang.tasks), default=0)):
        mine = [number for number, task in enumerate(gang.tasks) if index < task.replicas]
        if seed is not None:
            dice.shuffle(mine)
        found += mine
    return found


def put(nodes: Nodes, gang: Gang, room: Room, choice: Choice, seed: int | None) -> Start:
    """Put a gang on nodes, or nothing of it where it does not start."""
    there, failed = Counter[int](), dict[int, Unplaced]()
    placed: list[tuple[int, Placed]] = []
    mark, begun, full = nodes.mark(), False, list[int]()
    refused: dict[int, set[str]] = {number: set() for number in range(len(gang.tasks))}
    needs = [{name: amount for name in room if (amount := task.wanted.amount(name)) > 0} for task in gang.tasks]
    left = dict(room)
    for number in order(gang, seed):
        wanted = gang.tasks[number].wanted
        if number in failed:
            continue
        if any(amount > left[name] for name, amount in needs[number].items()):
            full.append(number)
            continue
        found = (
            asked_once(nodes, wanted, choice, refused[number])
            if wanted.near_others
            else nodes.place(wanted, None, choice)
        )
        if isinstance(found, Placed):
            there[number] += 1
            placed.append((number, found))
            left |= {name: left[name] - amount for name, amount in needs[number].items()}
            begun = begun or gang.ready(there)
            continue
        failed[number] = found
        if not begun and not goes_on(gang, there, failed):
            break
    if begun:
        return Start(tuple(placed))
    nodes.back(mark)
    return Start(missing=tuple(failed.items()), full=full[0] if full and not failed else None)


def asked_once(nodes: Nodes, wanted: Wanted, choice: Choice, refused: set[str]) -> Placed | Unplaced:
    """Put a pod on a node that has refused none of its task before: such a node is not asked again.

    So it is even where another pod would let it take one by now (pkg/scheduler/util/predicate_helper.go).
    """
    against, free = Counter[str](), list[str]()
    for name in nodes.hosts:
        mark = nodes.mark()
        found = nodes.place(wanted, name) if name not in refused else Unplaced({"refused another pod of this task": 1})
        nodes.back(mark)
        if isinstance(found, Placed):
            free.append(name)
        else:
            refused.add(name)
            against.update(found.against)
    rank = choice.ranks(nodes.mark())
    hosts = sorted((nodes.hosts[name] for name in free), key=lambda host: (choice.of(host.state, wanted), rank(host)))
    return nodes.place(wanted, hosts[0].name) if hosts else Unplaced(dict(against), tuple(nodes.usable(wanted)))


def goes_on(gang: Gang, there: Mapping[int, int], failed: Mapping[int, Unplaced]) -> bool:
    """Whether pods of other tasks are still tried (NeedContinueAllocating)."""
    if gang.least == sum(task.replicas for task in gang.tasks):
        return False
    if gang.by_task:
        return all(there.get(number, 0) >= gang.tasks[number].least for number in failed)
    left = sum(task.replicas for number, task in enumerate(gang.tasks) if number not in failed)
    return left + sum(there.get(number, 0) for number in failed) >= gang.least
