"""The effects of a change, as data: every report of a plan is made from these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trainyard.findings import Finding, ObjectRef

RunWord = Literal["starts", "returns", "replaces", "moves", "leaves", "stops", "changes", "keeps"]
ObjectWord = Literal["adds", "changes", "removes"]


@dataclass(frozen=True, slots=True)
class RunEffect:
    """What happens to one run.

    `replaces` and `moves` name the run that ends as `before`; of a move, `leaves` is the same on the cluster that the
    job leaves, with the new run as `before`. `changes` is a run whose files change under the same name, and `returns`
    one whose name was used up: in a live repository both are refused.
    """

    word: RunWord
    cluster: str
    team: str
    job: str
    run: str
    shape: str = ""
    """What the run is: kind, pods, devices, pool and queue, in words."""
    before: str | None = None
    before_cluster: str | None = None
    because: tuple[str, ...] = ()
    """Fields of the job that changed."""
    state: str = ""
    """What it begins with, or what stays behind, in words."""


@dataclass(frozen=True, slots=True)
class ObjectEffect:
    """What happens to one object that is no run's."""

    word: ObjectWord
    cluster: str
    folder: str
    object: ObjectRef
    fields: tuple[str, ...] = ()
    """Fields that change, `spec.numVfs: 4 -> 8`; the first few."""
    more: int = 0
    """How many other fields change."""
    kept: bool = False
    """Whether what is removed here stays in the cluster, protected from pruning."""


@dataclass(frozen=True, slots=True)
class Rebuild:
    """What would train if the clusters were empty."""

    runs: int
    gpus: int


Told = Literal["disk", "synth", "refused"]
"""Which tree a plan is told of.

`disk` is the one at hand, which is what a synth would write. `synth` is what a synth would write, which is not at hand
yet. `refused` is the one at hand, though what a merge would do is not known, since a synth refuses to write.
"""

Switch = Literal["on", "off"]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a change does."""

    base: str | None
    """The commit that it is compared with."""
    live: bool
    """Whether clusters sync the repository, before the change or after it."""
    switched: Switch | None = None
    """Whether the change turns `live` on or off."""
    told: Told = "disk"
    runs: tuple[RunEffect, ...] = ()
    objects: tuple[ObjectEffect, ...] = ()
    findings: tuple[Finding, ...] = ()
    rebuild: Rebuild | None = None

    @property
    def refused(self) -> bool:
        """Whether an error stands, so that the change cannot be merged as it is."""
        return any(finding.is_error for finding in self.findings)

    def of(self, word: RunWord) -> tuple[RunEffect, ...]:
        """Return the effects of one sort."""
        return tuple(effect for effect in self.runs if effect.word == word)
