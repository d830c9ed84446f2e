"""Training programs that many people use: by which options they are told their folders, as data with its source."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from trainyard.base.documents import load
from trainyard.base.errors import SpecError


@dataclass(frozen=True, slots=True)
class Trainer:
    """One training program, or a family of them; names are without dashes in front and with `_` for `-`."""

    title: str
    source: str
    """Repository, release and file of the options."""
    saves: tuple[str, ...] = ()
    """Options that name a folder into which it saves."""
    reads: tuple[str, ...] = ()
    """Options that name a folder or a file that has to be there."""


@cache
def trainers() -> tuple[Trainer, ...]:
    """Return all that are known, by the name of their file."""
    files = sorted(resources.files(__name__).iterdir(), key=lambda file: file.name)
    return tuple(read(file.name, file.read_bytes()) for file in files if file.name.endswith(".yaml"))


def read(name: str, content: bytes) -> Trainer:
    """Return the trainer in a file; raises SpecError where it cannot be read."""
    documents, findings = load(content, file=name)
    if findings:
        raise SpecError(f"trainer {name!r} cannot be read: {findings[0].message}")
    value: dict[str, Any] = documents[0].value
    if unknown := value.keys() - Trainer.__slots__:
        raise SpecError(f"trainer {name!r} cannot be read: {min(unknown)} is unknown")
    try:
        return Trainer(value["title"], value["source"], tuple(value.get("saves", ())), tuple(value.get("reads", ())))
    except KeyError as error:
        raise SpecError(f"trainer {name!r} cannot be read: {error.args[0]} is missing") from error


@cache
def saving() -> frozenset[str]:
    """Return the options of all trainers that name where they save."""
    return frozenset(option for trainer in trainers() for option in trainer.saves)


@cache
def reading() -> frozenset[str]:
    """Return the options of all trainers that name what they read, and nowhere where one saves."""
    return frozenset(option for trainer in trainers() for option in trainer.reads) - saving()
