"""What every shape is: a value that is looked into as Python, and a condition in CEL."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.base.findings import Path
from trainyard.render.tenancy.allowance import Allowance

YES = "true"
"""The condition of what may be anything."""


@dataclass(frozen=True, slots=True)
class Breach:
    """What is not allowed: what it is about, where it is, and a sentence."""

    subject: str
    path: Path
    message: str


@dataclass(frozen=True, slots=True)
class About:
    """Whose object is looked at: what its team may do, and what object and run are called."""

    allowance: Allowance
    name: str
    run: str

    @property
    def own(self) -> Mapping[str, str]:
        """What the object says of itself, by the words that shapes use."""
        allowance = self.allowance
        return {"name": self.name, "run": self.run, "team": allowance.team, "namespace": allowance.namespace}


OWN = {
    "name": "object.metadata.name",
    "run": "object.metadata.name",
    "team": "ownTeam()",
    "namespace": "object.metadata.namespace",
}
"""The same in CEL; every object of a run is called as the run.

A policy's text has `ownTeam()` until its cluster is known.
"""


class Shape(ABC):
    """What a value may be."""

    @abstractmethod
    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Yield the parts of a value that are not allowed; `subject` is the subject of the field around it."""

    @abstractmethod
    def cel(self, x: str, depth: int = 0) -> str:
        """Return the condition that an expression's value is allowed."""


def field_of(path: Path) -> str:
    """Return the name of a field for a message."""
    names = [str(part) for part in path if isinstance(part, str)]
    return names[-1][:63] if names else "the object"


def show(value: Any) -> str:
    """Return a value for a message: as YAML has it, or that there is something."""
    if isinstance(value, str):
        return repr(value[:63])
    if isinstance(value, (bool, int, float)) or value is None:
        return json.dumps(value)
    return "set"
