"""What a controller does when a container or a pod of its job ends: nothing, another try, or the end of the run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from trainyard.faces.local.controllers.base import Object, Objects, Pod

KILLED = 137
"""Exit code of a container that got SIGKILL."""


@dataclass(frozen=True, slots=True)
class Exit:
    """How a container, and so its pod, ended."""

    code: int
    container: str = ""
    disrupted: bool = False
    """Whether its pod was deleted while it ran, as by a drain, rather than that it ended itself or was killed."""

    @property
    def well(self) -> bool:
        """Whether it did what it was to do."""
        return self.code == 0 and not self.disrupted


@dataclass(frozen=True, slots=True)
class Step:
    """What follows, beside what runs on."""

    start: tuple[str, ...] = ()
    """Pods to start, by name: for the first time, or anew in their place."""
    all_again: bool = False
    """Whether every pod is ended, and all begin again."""
    over: bool | None = None
    """Whether the run has ended, and whether well."""
    why: str = ""


GO_ON = Step()


def ended(*, well: bool, why: str) -> Step:
    """Return the end of the run."""
    return Step(over=well, why=why)


@dataclass
class Life(ABC):
    """One job's life, told of every end in the order in which they come."""

    stays: ClassVar[bool] = True
    """Whether a container whose pod always restarts does so after a good end too."""
    pods: Sequence[Pod]
    succeeded: set[str] = field(default_factory=set)
    failures: int = 0
    """Of pods."""

    @property
    def names(self) -> list[str]:
        """Names of all pods."""
        return [pod.name for pod in self.pods]

    def begin(self) -> Iterable[str]:
        """Return the pods to start with: all of them."""
        return self.names

    def restarted(self, _pod: Pod, _restarts: int) -> Step:
        """Return the step after the kubelet restarted a container in its pod, given the restarts in all pods."""
        return GO_ON

    def read_line(self, _pod: Pod, _line: str) -> None:  # noqa: B027 - only some learn from what is written
        """Learn from a line that a pod writes."""

    def spared(self, _pod: Pod) -> str:
        """Return in words what more than the death of its containers the pod's deletion would do; empty: nothing."""
        return ""

    @abstractmethod
    def finished(self, pod: Pod, exit_: Exit) -> Step:
        """Return the step after a pod ended that the kubelet does not restart."""

    def again(self) -> None:
        """Forget what was before all began again."""
        self.succeeded.clear()


Make = Callable[[Sequence[Pod], Object, Objects], Life]
"""Of the pods of a job, the job itself, and all objects."""


@dataclass
class UntilAll(Life):
    """The run has ended well when some pods have, and badly when one fails that is not replaced."""

    def needed(self) -> set[str]:
        """Return the pods whose good end is the run's."""
        return set(self.names)

    def finished(self, pod: Pod, exit_: Exit) -> Step:
        """Count it, or fail."""
        if not exit_.well:
            self.failures += 1
            return ended(well=False, why=f"{pod.role}-{pod.index} exited with code {exit_.code}")
        self.succeeded.add(pod.name)
        if self.needed() <= self.succeeded:
            return ended(well=True, why="all pods that it waits for have succeeded")
        return GO_ON
