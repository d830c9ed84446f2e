"""What a picture of a cluster's hosts shows, as plain values: drawing looks at nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Change = Literal["starts", "replaces", "stays", "ends"]
"""What the change at hand does with a job; `replaces`, its run ends and another begins."""

State = Literal["placed", "waits", "not judged"]


@dataclass(frozen=True, slots=True)
class Job:
    """One job: of those that end, what they held."""

    name: str
    change: Change
    state: State
    gpus: int = 0
    """Whole GPUs that it holds, or asks for while it waits."""
    parts: int = 0
    """As many parts of GPUs, or places on shared ones."""
    hosts: int = 0
    was: State | None = None
    """Of a job that stays, its state before the change."""
    tag: str = ""
    """What it is called on hosts; nothing for those that are on none."""
    colour: int = 0
    why: str = ""
    """What it waits for, why it never fits, or why nobody is asked."""
    never: bool = False
    """Of one that waits, whether it waits for ever."""
    perhaps: str = ""
    """Of one that is placed, what it waits for where kube-scheduler takes other nodes; nothing where it fits so too."""

    @property
    def begins(self) -> bool:
        """Whether it is on its hosts only after the change."""
        fresh = self.change in {"starts", "replaces"} or (self.change == "stays" and self.was not in {None, "placed"})
        return fresh and self.state == "placed"

    @property
    def stuck(self) -> bool:
        """Whether it holds hosts and waits all the same, since not all of its pods find one."""
        return self.state == "waits" and self.change != "ends" and self.hosts > 0

    @property
    def gone(self) -> bool:
        """Whether it is on no host any more: what it had before the change is given back."""
        return self.change == "ends" or not self.hosts

    @property
    def displaced(self) -> bool:
        """Whether it had its hosts before the change, and waits after it, though it is as it was."""
        return self.change == "stays" and self.was == "placed" and self.state != "placed"

    @property
    def touched(self) -> bool:
        """Whether the change does anything to it."""
        return self.change != "stays" or self.begins or self.displaced


@dataclass(frozen=True, slots=True)
class Host:
    """One node. Numbers are those of jobs in the scene."""

    name: str
    numa: tuple[tuple[int | None, ...], ...] = ()
    """By NUMA node, who has each GPU or part of one: a job that ends has left it free; None, nobody had it."""
    shares: tuple[tuple[int, float], ...] = ()
    """Jobs with pods here, each with the share of the CPUs that it holds."""


@dataclass(frozen=True, slots=True)
class Rack:
    """The hosts of a pool that stand together; without a name where the cluster tells of no such place."""

    block: str
    name: str
    hosts: tuple[Host, ...]


@dataclass(frozen=True, slots=True)
class Pool:
    """Equal nodes."""

    name: str
    gpus: int
    """GPUs or parts of all hosts together."""
    parts: bool
    """Whether they are parts of GPUs, or places on shared ones."""
    before: int
    after: int
    """How many are in use, before and after the change."""
    quota: bool
    """Whether any queue or cohort has quota of it."""
    chosen: bool
    """Whether Kueue chooses the hosts, by a topology."""
    racks: tuple[Rack, ...]

    @property
    def hosts(self) -> int:
        """How many hosts it has."""
        return sum(len(rack.hosts) for rack in self.racks)


@dataclass(frozen=True, slots=True)
class Scene:
    """A cluster with all jobs that are declared for it."""

    cluster: str
    compared: bool
    """Whether there is a state before."""
    pools: tuple[Pool, ...]
    jobs: tuple[Job, ...]
    homeless: int = 0
    """Pods that have quota, and for which these nodes have no room."""
    decided: bool = True
    """Whether Kueue admits jobs of the cluster at all."""

    idle: int = 0
    """Programs that make jobs, of this cluster or others, and were not run."""
    gangs: int = 0
    """Jobs that Volcano starts."""

    @property
    def whole_gpus(self) -> tuple[int, int, int]:
        """Whole GPUs in use before the change, after it, and all there are."""
        mine = [pool for pool in self.pools if not pool.parts]
        return sum(pool.before for pool in mine), sum(pool.after for pool in mine), sum(pool.gpus for pool in mine)

    @property
    def outside(self) -> int:
        """Whole GPUs that nobody gives, since no queue has quota of them; others may use them."""
        return sum(pool.gpus - pool.after for pool in self.pools if not pool.parts and not pool.quota)

    @property
    def touched(self) -> list[Job]:
        """The jobs to which the change does something."""
        return [job for job in self.jobs if job.touched]

    @property
    def waiting(self) -> list[Job]:
        """The jobs that get no quota or no nodes, those that the change brings first."""
        return [job for job in self.jobs if job.state == "waits" and job.change != "ends"]

    @property
    def doubtful(self) -> list[Job]:
        """The jobs that may fit, and may not, those that the change brings first."""
        return [job for job in self.jobs if job.perhaps and job.change != "ends"]
