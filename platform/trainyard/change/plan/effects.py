"""The effects of a change, as data: every report of a plan is made from these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trainyard.base.findings import Finding, ObjectRef, Skipped
from trainyard.judge.admission.outcomes import Word

RunWord = Literal["starts", "returns", "replaces", "moves", "leaves", "stops", "changes", "keeps"]
ObjectWord = Literal["adds", "changes", "removes"]


@dataclass(frozen=True, slots=True)
class Changed:
    """One field that differs, as it may be shown: None on a side that has it not, or of which nothing may be shown."""

    field: str
    before: str | None = None
    after: str | None = None


MarkWord = Literal["patch", "waiver", "outside", "security", "unread"]
Was = Literal["new", "as before", "gone", "unknown"]


@dataclass(frozen=True, slots=True)
class Mark:
    """What a reviewer has to see of a run: a patch, a waiver, what is outside of our containers, loosened security."""

    word: MarkWord
    what: str
    reason: str = ""
    """In the words of who wrote it."""
    was: Was = "new"
    """Whether the run before had it; unknown where a program made its job."""


Lost = Literal["nothing", "some", "all"]


@dataclass(frozen=True, slots=True)
class Amount:
    """What a run holds and for how long; hours are None where nothing ends it."""

    pods: int = 0
    gpus: int = 0
    hours: float | None = None
    price: float | None = None
    """Of all its GPUs for an hour, where its pools state one."""

    @property
    def gpu_hours(self) -> float | None:
        """The most that it may take; None where nothing ends it, or it has no GPUs."""
        return None if self.hours is None or not self.gpus else self.gpus * self.hours

    @property
    def cost(self) -> float | None:
        """The most that it may cost."""
        return None if self.hours is None or self.price is None else self.price * self.hours


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
    because: tuple[Changed, ...] = ()
    """Fields of the job that changed; of a job that a program makes, those of its objects."""
    state: str = ""
    """What it begins with, or what stays behind, in words."""
    lost: Lost = "nothing"
    """How much of the work of the run that ends is lost or repeated."""
    lost_gpu_hours: float | None = None
    """Of that, the most that has to be done again; None where nobody knows."""
    queue: str = ""
    pools: tuple[str, ...] = ()
    amount: Amount = Amount()
    spec: str = ""
    """The file that its job comes from."""
    folder: str = ""
    """Where its files are, in the repository."""
    marks: tuple[Mark, ...] = ()
    twin: str = ""
    """A job that ends and is the same as that of a run which starts, but for its name."""
    decided: Word | None = None
    """What becomes of it; None of what ends, and where nobody was asked."""
    links: tuple[tuple[str, str], ...] = ()
    """Pages at which people look at it, each with its address."""
    costs: tuple[str, ...] = ()
    """What a lost node costs a new run, and its check before each start, in words."""


Sync = Literal["in place", "replace", "refuse", "by hand", "never", "create", "prune", "keep"]
"""What Argo CD does with an object: it waits for a person where that is by hand, and keeps what nobody deletes."""


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
    sync: Sync = "in place"
    spec: str = ""
    """The file of specs that it comes from."""
    told: bool = False
    """Whether a change of the specs says the same in its own words."""


@dataclass(frozen=True, slots=True)
class SpecChange:
    """A change of the platform in the words of its specs."""

    file: str
    clusters: tuple[str, ...]
    """Those that it is about."""
    what: str
    reach: str = ""
    """What it does to runs, those there are and those to come."""
    danger: str = ""
    """Why a reviewer should stop here: what is loosened, drained, ended or goes back."""
    in_objects: bool = False
    """Whether the objects that follow from it tell the same danger."""


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One resource of one pool in one queue: its quota, and what all active runs ask of it, before and after."""

    cluster: str
    queue: str
    pool: str
    unit: str
    quota_before: float | None
    """None where the queue was not there."""
    quota_after: float | None
    asked_before: float = 0
    asked_after: float = 0
    fit: int = 0
    """How many of the runs that ask for it fit, may fit, wait, never fit, and of how many nobody knows."""
    alone: int = 0
    """How many would start with the queue to themselves; Volcano decides which are first."""
    may: int = 0
    wait: int = 0
    never: int = 0
    unknown: int = 0
    held: bool = False
    """Whether the queue admits nothing, by its stop policy."""


@dataclass(frozen=True, slots=True)
class Victim:
    """A run that stops for another one, and queues again."""

    team: str
    job: str
    run: str
    lost: Lost
    """How much of its work it repeats."""
    lost_gpu_hours: float | None = None
    """Of that, the most; None where nobody knows."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What Kueue decides about a run that the change starts, or about another one to which it makes a difference."""

    cluster: str
    team: str
    job: str
    run: str
    before: Word | None
    """None of a run that the change starts."""
    after: Word
    detail: str = ""
    """Where it goes, and whose quota it takes, or Kueue's reason."""
    victims: tuple[Victim, ...] = ()
    rule: str = ""
    """The rule that it breaks, of which `trainyard rule` says why; empty where it breaks none."""
    perhaps: str = ""
    """What it may wait for even alone, as the scheduler chooses nodes; nothing where it finds some in any case."""


@dataclass(frozen=True, slots=True)
class NextRun:
    """What becomes of the next run of a job, as it would be rendered now, alone on its cluster.

    The run that is there stays as it is.
    """

    cluster: str
    team: str
    job: str
    run: str
    """The run that is there."""
    before: Word
    """What would have become of the next one as it would have been rendered before the change."""
    after: Word
    detail: str = ""
    """Where it goes, or why it does not."""
    rule: str = ""
    """The rule that it breaks; empty where it breaks none."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A run that ends when its nodes are taken out, and then starts again."""

    team: str
    run: str
    gpus: int
    state: str
    """What it starts again with, in words."""
    lost: Lost
    lost_gpu_hours: float | None
    """The most that it repeats each time; None where nobody knows."""
    hours: float | None
    """Its deadline; None where it has none."""
    stuck: tuple[str, ...] = ()
    """Why it holds its node up, in words."""


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Nodes that are taken out by a change, for one reason, and the runs on them."""

    cluster: str
    pools: tuple[str, ...]
    nodes: int
    what: str
    """What the nodes get."""
    by: str
    how: str
    at_a_time: int | None
    """Nodes that are out at the same time; None: a person decides."""
    rounds: int | None
    """How often some nodes are out until all were."""
    begins: str
    """What starts it, and when that cannot be."""
    runs: tuple[Interrupted, ...] = ()
    hold: str = ""
    """How no run is interrupted."""


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
    compared: str = ""
    """The same commit with the branch that led to it, in words."""
    switched: Switch | None = None
    """Whether the change turns `live` on or off."""
    told: Told = "disk"
    runs: tuple[RunEffect, ...] = ()
    objects: tuple[ObjectEffect, ...] = ()
    platform: tuple[SpecChange, ...] = ()
    queues: tuple[QueueRow, ...] = ()
    decisions: tuple[Decision, ...] = ()
    decided_as: tuple[str, ...] = ()
    """Of clusters in whose verdicts something changes, the schedulers that are decided as another release."""
    next_runs: tuple[NextRun, ...] = ()
    """Of jobs whose runs stay, where the next one comes to something else."""
    maintenance: tuple[Maintenance, ...] = ()
    """Nodes that are taken out, and the runs that end with it."""
    dangers: tuple[str, ...] = ()
    """What is loosened or drained, told from the objects."""
    findings: tuple[Finding, ...] = ()
    rebuild: Rebuild | None = None
    skipped: tuple[Skipped, ...] = ()
    """What was not judged, since something is wrong with it."""

    @property
    def refused(self) -> bool:
        """Whether an error stands, so that the change cannot be merged as it is."""
        return any(finding.is_error for finding in self.findings)

    def of(self, *words: RunWord) -> tuple[RunEffect, ...]:
        """Return the effects of some sorts."""
        return tuple(effect for effect in self.runs if effect.word in words)

    @property
    def touched(self) -> frozenset[str]:
        """The clusters on which the change does anything."""
        runs = {run.cluster for run in self.runs if run.word != "keeps"}
        declared = {name for change in self.platform for name in change.clusters}
        objects, queues = {obj.cluster for obj in self.objects}, {queue.cluster for queue in self.queues}
        return frozenset(runs | declared | objects | queues)
