"""Runs to which the same happens, told as one: what a program makes together, and what has one cause."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from trainyard.plan.effects import Plan, RunEffect, RunWord

ORDER: tuple[RunWord, ...] = ("returns", "stops", "leaves", "replaces", "moves", "changes", "starts", "keeps")
"""What ends comes first: it is what a reviewer looks for."""

ALIKE = 4
"""So many runs with one cause are told as one."""

MANY = 20
"""Lines about runs of a cluster, above which those are told together that begin or end in the same way."""


@dataclass(frozen=True, slots=True)
class Group:
    """Runs of one cluster that are told in one line."""

    effects: tuple[RunEffect, ...]
    program: str = ""
    """The program that makes all of them."""

    @property
    def first(self) -> RunEffect:
        """One of them, which stands for what they have in common."""
        return self.effects[0]

    @property
    def gpus(self) -> int:
        """GPUs of all of them."""
        return sum(each.amount.gpus for each in self.effects)

    @property
    def never(self) -> int:
        """How many of them never fit."""
        return sum(each.decided == "never fits" for each in self.effects)

    @property
    def may(self) -> int:
        """How many of them find nodes in some orders only."""
        return sum(each.decided == "may fit" for each in self.effects)

    @property
    def gpu_hours(self) -> float | None:
        """The most that they may take together; None where nothing ends one of them, or they have no GPUs."""
        found = [each.amount.gpu_hours for each in self.effects if each.amount.gpus]
        known = [each for each in found if each is not None]
        return sum(known) if known and len(known) == len(found) else None

    @property
    def cost(self) -> float | None:
        """The most that they may cost together; None where that is not known of all of them."""
        known = [each.amount.cost for each in self.effects if each.amount.cost is not None]
        return sum(known) if known and len(known) == len(self.effects) else None

    @property
    def lost_gpu_hours(self) -> float | None:
        """The most work of those which end that is lost or done again; None where that is not known of all of them."""
        known = [each.lost_gpu_hours for each in self.effects if each.lost_gpu_hours is not None]
        return sum(known) if len(known) == len(self.effects) else None


def groups(plan: Plan, cluster: str, *, everything: bool = False) -> list[Group]:
    """Return what happens to the runs of a cluster that do not stay as they are, what ends first; all one by one."""
    if everything:
        return [Group((each,)) for word in ORDER for each in plan.of(word) if each.cluster == cluster and told(each)]
    found = [
        each
        for word in ORDER[:-1]
        for each in folded([effect for effect in plan.of(word) if effect.cluster == cluster])
    ]
    found += [Group((each,)) for each in plan.of("keeps") if each.cluster == cluster and told(each)]
    if len(found) <= MANY:
        return found
    loose = [each for each in found if len(each.effects) == 1]
    rest = [each for each in found if len(each.effects) > 1]
    rest += together(
        (each.first for each in loose), lambda effect: (effect.word, effect.team, effect.queue, effect.lost)
    )
    return sorted(rest, key=lambda each: ORDER.index(each.first.word))


def told(effect: RunEffect) -> bool:
    """Say whether there is anything to say of a run: of one that stays, what its job waives now."""
    return effect.word != "keeps" or bool(effect.marks)


def folded(effects: Sequence[RunEffect]) -> list[Group]:
    """Return runs of one word: a sweep's together, then those that have one cause and lose as much of their work."""
    sweeps = together(effects, lambda effect: effect.spec if effect.spec.endswith(".py") else effect.run)
    found = [Group(each.effects, each.first.spec) for each in sweeps if len(each.effects) > 1]
    single = [each.first for each in sweeps if len(each.effects) == 1]
    for each in together(single, lambda effect: (effect.because, effect.lost) if effect.because else effect.run):
        found += [each] if len(each.effects) >= ALIKE else [Group((effect,)) for effect in each.effects]
    return sorted(found, key=lambda group: (group.first.team, group.first.run))


def together(effects: Iterable[RunEffect], key: Callable[[RunEffect], object]) -> list[Group]:
    """Return runs that have the same key as groups, in order."""
    found: dict[object, list[RunEffect]] = {}
    for each in effects:
        found.setdefault(key(each), []).append(each)
    return [Group(tuple(each)) for each in found.values()]
