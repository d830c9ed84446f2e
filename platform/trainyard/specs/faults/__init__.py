"""Faults of hardware that a node's kernel log shows: the line of each, and whether it lasts until the node restarts."""

from __future__ import annotations

from functools import cache
from typing import Literal

from pydantic import Field, StrictBool

from trainyard.specs.facts import read_facts
from trainyard.specs.models.base import Spec, Text


class Fault(Spec):
    """One fault."""

    pattern: Text
    """Expression in RE2's syntax that ends with the line, without `pid` and whatever else differs each time."""
    lasting: StrictBool = False
    """Whether the node needs a repair: it becomes a condition of the node. Others are events alone."""
    what: Text
    """Sentence without a full stop."""
    source: Text


class Hardware(Spec):
    """Faults of one kind of hardware."""

    title: Text
    vendor: Literal["nvidia", "amd"] | None = None
    """Vendor of the GPUs that it is about; default: other hardware, which every node may have."""
    condition: Text | None = None
    """Condition of the node that lasting faults set."""
    healthy: Text = ""
    """Message of the condition while there is no fault."""
    faults: dict[Text, Fault] = Field(min_length=1)
    """Faults by the reason that condition and events name."""


@cache
def hardware() -> dict[str, Hardware]:
    """Return the hardware with known faults, by name; raises SpecError where a file is damaged."""
    return read_facts(__name__, Hardware, "hardware with faults")


@cache
def reasons() -> tuple[str, ...]:
    """Return the names of all known faults, sorted."""
    return tuple(sorted({reason for kind in hardware().values() for reason in kind.faults}))
