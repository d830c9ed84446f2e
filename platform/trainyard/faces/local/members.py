"""Pods as they run: their containers, which of them have ended, and how long they have to."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainyard.faces.local.kubelet import Container, Resolved
from trainyard.faces.local.spaces.base import Started

GRACE_SECONDS = 30
"""A pod's `terminationGracePeriodSeconds` where none is said."""


@dataclass
class Running:
    """A container of a pod, and how often it has started."""

    container: Container
    started: Started | None = None
    code: int | None = None
    """Of its last end, if it is not to start again."""
    due: float = 0.0
    """When it starts, if it does not run."""
    rest: bytes = b""
    """A line that has no end yet."""


@dataclass
class Member:
    """A pod that has started."""

    resolved: Resolved
    before: list[Running] = field(default_factory=list)
    """Containers that run first, one after another; those that stay are sidecars."""
    beside: list[Running] = field(default_factory=list)
    killed: bool = False
    ending: float | None = None
    """When it was told to end."""

    @property
    def name(self) -> str:
        """The pod's name."""
        return self.resolved.pod.name

    @property
    def all(self) -> list[Running]:
        """All containers."""
        return [*self.before, *self.beside]

    @property
    def alive(self) -> bool:
        """Whether anything in it runs."""
        return any(member.started is not None for member in self.all)

    @property
    def grace(self) -> float:
        """Seconds that it has to end."""
        said = self.resolved.pod.spec.get("terminationGracePeriodSeconds")
        return float(GRACE_SECONDS if said is None else said)


def is_sidecar(container: Container) -> bool:
    """Whether a container that starts first stays."""
    return container.first and container.value.get("restartPolicy") == "Always"
