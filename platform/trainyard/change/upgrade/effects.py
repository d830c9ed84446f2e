"""What an upgrade does, as data: text and JSON are made from these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trainyard.change.upgrade.definitions import Definitions
from trainyard.change.upgrade.moves import Move
from trainyard.judge.admission.outcomes import Word

ObjectWord = Literal["adds", "changes", "removes"]


@dataclass(frozen=True, slots=True)
class Written:
    """A field of a file that gets another release."""

    file: str
    line: int | None
    operator: str
    before: str
    after: str
    clusters: tuple[str, ...]
    """Clusters whose release changes with it: more than one where the file is the base of others."""


@dataclass(frozen=True, slots=True)
class JobTurn:
    """A job whose verdict changes."""

    cluster: str
    job: str
    before: Word
    after: Word
    detail: str
    """The witness or the reason after the upgrade."""


@dataclass(frozen=True, slots=True)
class ObjectTurn:
    """An object that is no run's, and that changes."""

    word: ObjectWord
    cluster: str
    folder: str
    object: str
    fields: tuple[str, ...] = ()
    """Fields that change, `spec.source.targetRevision: 0.18.6 → 0.19.2`; the first few."""
    more: int = 0
    driver: bool = False
    """Whether nodes get another driver by it, once somebody syncs it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One operator that moves, and what follows on a cluster."""

    move: Move
    definitions: Definitions
    before: tuple[str, ...] = ()
    """What has to be done first."""
    changes: tuple[str, ...] = ()
    """What the new release decides otherwise."""
    restarts: tuple[str, ...] = ()
    """Deployments and daemons whose pods are replaced."""
    left: tuple[str, ...] = ()
    """Objects that the new chart does not make, and that somebody deletes."""
    meanwhile: str = ""
    running: str = ""
    """What becomes of running jobs."""
    drains: tuple[str, ...] = ()
    """Pools whose nodes are drained once somebody syncs `hardware/`."""
    permanent: tuple[str, ...] = ()
    """What cannot be undone."""
    runs: int = 0
    """Runs in `generated/` that the operator looks after, on all clusters of the upgrade."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Nodes that are taken out for one reason."""

    what: str
    pools: tuple[str, ...]
    nodes: int
    who: str
    at_a_time: int | None
    when: str


@dataclass(frozen=True, slots=True)
class Upgrade:
    """Everything that an upgrade does."""

    cluster: str
    written: tuple[Written, ...]
    steps: tuple[Step, ...]
    judged: int
    """Jobs that have a verdict."""
    jobs: tuple[JobTurn, ...]
    reworded: int
    """Jobs with the same verdict on other nodes, or for another reason."""
    objects: tuple[ObjectTurn, ...]
    outages: tuple[Taken, ...] = ()
    """Nodes of the cluster that are taken out once somebody syncs `hardware/`."""
    decided_as: tuple[str, ...] = ()
    """Which schedulers are decided as another release."""
    together: bool = False
    """Whether two of the operators need each other's new release."""
