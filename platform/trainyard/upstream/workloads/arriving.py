"""Containers that a kind's operator adds to the pods that it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Added:
    """A container that an operator adds."""

    name: str
    among: Literal["containers", "initContainers"] = "containers"
    fields: Mapping[str, Any] = field(default_factory=dict)
    """What else it says: resources, a security context."""
    remedy: str | None = None
    """How it gets a security context; None where it has that of the pod's first container."""
    replaced: bool = False
    """Whether the operator's own settings may put other containers in its place."""

    @property
    def value(self) -> dict[str, Any]:
        """The container as it is written in a pod."""
        return {"name": self.name, **self.fields}


Arriving = Callable[[Mapping[str, Any], str], Iterator[Added]]
"""Of an object and the name of one of its pod sets."""
