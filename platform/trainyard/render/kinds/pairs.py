"""Which launcher runs in which kind, and what a run would be in another kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trainyard.render.kinds.base import Kind, Resolved
from trainyard.render.launchers import NEEDS, Launcher


@dataclass(frozen=True, slots=True)
class Pair:
    """A launcher and a kind: what of the launcher's the kind can carry."""

    launcher: Launcher
    kind: Kind

    @property
    def lacks(self) -> tuple[str, ...]:
        """What a run of several pods would lack, in the words of `NEEDS`; nothing where they go together."""
        return tuple(sorted((self.launcher.needs | self.launcher.alone) - self.kind.gives))

    @property
    def missing(self) -> tuple[str, ...]:
        """Roles that the kind insists on and the launcher never starts."""
        return tuple(sorted(self.kind.required - self.launcher.role_names))

    @property
    def one_pod(self) -> bool:
        """Whether a run of a single pod works, whatever several would lack."""
        return not self.missing and self.launcher.alone <= self.kind.gives

    @property
    def elastic(self) -> bool:
        """Whether a run may shrink and grow."""
        return not self.lacks and not self.missing and self.launcher.elastic and "elastic" in self.kind.gives

    @property
    def word(self) -> str:
        """Return one word for a table."""
        if not self.lacks and not self.missing:
            return "elastic" if self.elastic else "yes"
        return "one pod" if self.one_pod else "no"

    @property
    def why(self) -> str:
        """Return why they do not go together, in words; empty where they do."""
        roles = (f"the launcher has no role {role!r}" for role in self.missing)
        return "; ".join([*(f"no {word}: {NEEDS.get(word, word)}" for word in self.lacks), *roles])


def pairs(launchers: Sequence[Launcher], kinds: Sequence[Kind]) -> list[list[Pair]]:
    """Return a row for each launcher."""
    return [[Pair(launcher, kind) for kind in kinds] for launcher in launchers]


@dataclass(frozen=True, slots=True)
class Difference:
    """A value that another kind changes; None where one of them has none."""

    name: str
    before: str | None
    after: str | None


def differences(before: Resolved, after: Resolved) -> Iterator[Difference]:
    """Yield the differences between a run and the same run in another kind: objects, values and behaviour.

    Values that differ by the run's name alone are the same.
    """
    yield Difference("objects", *(", ".join(sorted(run.kind.objects)) for run in (before, after)))
    was, now = values(before), values(after)
    for name in [*was, *(name for name in now if name not in was)]:
        if name != "kind" and was.get(name) != now.get(name):
            yield Difference(name, was.get(name), now.get(name))
    for (question, old), (_, new) in zip(before.kind.behaviour.answers(), after.kind.behaviour.answers(), strict=True):
        if old != new:
            yield Difference(question, old, new)


def values(run: Resolved) -> dict[str, str]:
    """Return every value that follows from a run, as text without its name."""
    said = {name: sized.value for name, sized in run.facts()}
    said |= {f"{role.name}.command": " ".join((*role.command, *role.args)) for role in run.roles}
    return {name: as_text(value).replace(run.run.name, "<run>") for name, value in said.items()}


def as_text(value: object) -> str:
    """Return a value as `explain` writes it; of a topology, the mode and the node label."""
    label, mode = getattr(value, "label", None), getattr(value, "mode", None)
    return f"{mode} {label}" if label else str(value)
