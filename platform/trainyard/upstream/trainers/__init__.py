"""Training programs that many people use: the options for their folders, and for what they save, with sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
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
    inside: tuple[str, ...] = ()
    """Of the options with which it saves, those whose folder is within another one."""
    marks: tuple[str, ...] = ()
    """Options by which its command line is known: hardly any other program has them."""
    unsaved: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Options with the values at which it saves no checkpoint."""
    anew: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Options with the values at which it begins anew after a restart."""
    partial: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Options with the values at which its checkpoints lack the optimizer, without which no training goes on."""
    pins: Mapping[str, str] = field(default_factory=dict)
    """Options with a pattern of the values that name one checkpoint, from which it begins at every start."""
    timed: tuple[str, ...] = ()
    """Options that end it with 0 after some minutes, however much is left to train."""
    caught: tuple[str, ...] = ()
    """Options with which all of its ranks end with 0 once one of them gets SIGTERM."""
    ratio: tuple[str, ...] = ()
    """Options that say after how many steps it saves, or, below 1, after which part of all steps."""
    every: Mapping[str, str] = field(default_factory=dict)
    """Options that say after how many steps it saves, each with the option for the number of all steps."""
    resumes: tuple[str, ...] = ()
    """Options of which it needs one to go on from what it has saved; none where it does so by itself."""


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
    if missing := {"title", "source"} - value.keys():
        raise SpecError(f"trainer {name!r} cannot be read: {min(missing)} is missing")
    return Trainer(**{item.name: plain(value[item.name]) for item in fields(Trainer) if item.name in value})


def plain(value: Any) -> Any:
    """Return a value of a file with lists as tuples."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    return tuple(value) if isinstance(value, list) else value


@cache
def saving() -> frozenset[str]:
    """Return the options of all trainers that name where they save."""
    return frozenset(option for trainer in trainers() for option in trainer.saves)


@cache
def reading() -> frozenset[str]:
    """Return the options of all trainers that name what they read, and nowhere where one saves."""
    return frozenset(option for trainer in trainers() for option in trainer.reads) - saving()


@cache
def within_others() -> frozenset[str]:
    """Return the options of all trainers whose folder is within another one."""
    return frozenset(option for trainer in trainers() for option in trainer.inside)


@cache
def marking() -> frozenset[str]:
    """Return the options by which trainers are known."""
    return frozenset(option for trainer in trainers() for option in trainer.marks)
