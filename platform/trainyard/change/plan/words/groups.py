"""Runs to which the same happens, told as one: what a program makes together, and what has one cause."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from trainyard.change.plan.effects import Plan, RunEffect, RunWord

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
        return sum(effect.amount.gpus for effect in self.effects)

    @property
    def never(self) -> int:
        """How many of them never fit."""
        return sum(effect.decided == "never fits" for effect in self.effects)

    @property
    def may(self) -> int:
        """How many of them find nodes in some orders only."""
        return sum(effect.decided == "may fit" for effect in self.effects)

    @property
    def gpu_hours(self) -> float | None:
        """The most that they may take together; None where nothing ends one of them, or they have no GPUs."""
        found = [effect.amount.gpu_hours for effect in self.effects if effect.amount.gpus]
        known = [item for item in found if item is not None]
        return sum(known) if known and len(known) == len(found) else None

    @property
    def cost(self) -> float | None:
        """The most that they may cost together; None where that is not known of all of them."""
        known = [effect.amount.cost for effect in self.effects if effect.amount.cost is not None]
        return sum(known) if known and len(known) == len(self.effects) else None

    @property
    def lost_gpu_hours(self) -> float | None:
        """The most work of those which end that is lost or done again; None where that is not known of all of them."""
        known = [effect.lost_gpu_hours for effect in self.effects if effect.lost_gpu_hours is not None]
        return sum(known) if len(known) == len(self.effects) else None


def groups(plan: Plan, cluster: str, *, everything: bool = False) -> list[Group]:
    """Return the changed runs of a cluster in groups, stopped runs first; with `everything`, one by one."""
    if everything:
        return [Group((run,)) for word in ORDER for run in plan.of(word) if run.cluster == cluster and has_news(run)]
    found = [
        item for word in ORDER[:-1] for item in fold([effect for effect in plan.of(word) if effect.cluster == cluster])
    ]
    found += [Group((run,)) for run in plan.of("keeps") if run.cluster == cluster and has_news(run)]
    if len(found) <= MANY:
        return found
    loose = [group for group in found if len(group.effects) == 1]
    rest = [group for group in found if len(group.effects) > 1]
    rest += together(
        (group.first for group in loose), lambda effect: (effect.word, effect.team, effect.queue, effect.lost)
    )
    return sorted(rest, key=lambda item: ORDER.index(item.first.word))


def has_news(effect: RunEffect) -> bool:
    """Say whether there is anything to say of a run: of one that stays, what its job waives now."""
    return effect.word != "keeps" or bool(effect.marks)


def fold(effects: Sequence[RunEffect]) -> list[Group]:
    """Return runs of one word: a sweep's together, then those that have one cause and lose as much of their work."""
    sweeps = together(effects, lambda effect: effect.spec if effect.spec.endswith(".py") else effect.run)
    found = [Group(sweep.effects, sweep.first.spec) for sweep in sweeps if len(sweep.effects) > 1]
    single = [sweep.first for sweep in sweeps if len(sweep.effects) == 1]
    for item in together(single, lambda effect: (effect.because, effect.lost) if effect.because else effect.run):
        found += [item] if len(item.effects) >= ALIKE else [Group((effect,)) for effect in item.effects]
    return sorted(found, key=lambda group: (group.first.team, group.first.run))


def together(effects: Iterable[RunEffect], key: Callable[[RunEffect], object]) -> list[Group]:
    """Return runs that have the same key as groups, in order."""
    found: dict[object, list[RunEffect]] = {}
    for effect in effects:
        found.setdefault(key(effect), []).append(effect)
    return [Group(tuple(item)) for item in found.values()]
