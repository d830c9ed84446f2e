"""The roles of a run before anything is derived: what the job says of each, and what its launcher implies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from trainyard.render.sizing import gpus
from trainyard.render.sizing.base import Sized
from trainyard.render.sizing.machines import Available
from trainyard.specs import Job, Pool, Role
from trainyard.specs.models.job import Gpu
from trainyard.specs.run import Run

WORKER = "worker"
"""The role that the job's own fields describe."""


@dataclass(frozen=True, slots=True)
class RoleSpec:
    """One role before anything is derived: what the job says of it, or the launcher where nobody wrote it."""

    name: str
    pool_name: str
    pool: Pool
    nodes: int
    gpus: int
    cpus: int | None
    memory: str | None
    processes: Sized[int]
    """Processes that the launcher starts in one pod."""
    field: str = ""
    """Where the job says it: empty for the worker, else `roles.<name>.`."""
    why: str = ""
    """Why its launcher has it where the job need not write it: then the workers leave it room, and what the job does
    not say of its size the launcher does."""
    trains: bool = True
    """Whether its pods run the program, and so mount the job's volumes and have its containers' environment."""
    anywhere: bool = False
    """Whether its pods run on any pool of the job; else on the one that is named for them."""
    copies: int = 1
    """How many of it run at once, each for itself: the indices of an array."""

    @property
    def pods(self) -> int:
        """How many pods there are at once."""
        return self.nodes * self.copies

    @property
    def ranks(self) -> bool:
        """Whether its pods have ranks: a driver runs the program too, and only tells others what to do."""
        return self.trains and self.processes.value > 0

    @property
    def path(self) -> tuple[str, ...]:
        """Path of the role in the job's file."""
        return ("roles", self.name) if self.field else ()

    @property
    def implied(self) -> bool:
        """Whether the job says nothing of it, and its launcher everything."""
        return bool(self.why) and not self.field

    def source_of(self, job: Job, field: str) -> str:
        """Return the origin of a field of `Role`: the job, or the launcher if the job does not set it."""
        role = job.roles.get(self.name)
        if self.why and (role is None or field not in role.model_fields_set):
            return self.why
        return f"{self.field}{Role.model_fields[field].alias} of the job"


ONE = Sized(1, "1: the role runs no rank")
"""What runs in the pod of a role that nobody writes."""


@dataclass(frozen=True, slots=True)
class Implied:
    """A role that a launcher needs and that nobody has to write; a job may still say how large it is, and where."""

    why: str
    cpus: int
    """Whole CPUs of its one pod."""
    memory: str
    """Bytes, as a quantity."""
    trains: bool = False
    """Whether it runs the program too."""
    processes: Sized[int] = ONE
    """Ranks in its one pod, or the process that stands for none."""


def worker(run: Run, processes: Sized[int]) -> RoleSpec:
    """Return the role that the job's own fields describe."""
    job = run.job
    gpus = job.gpus_per_node or int(job.gpu is not None)
    return RoleSpec(
        WORKER,
        run.pool_name,
        run.pool,
        job.nodes,
        gpus,
        job.cpus_per_node,
        job.memory_per_node,
        processes,
        anywhere=True,
        copies=at_once(job),
    )


def at_once(job: Job) -> int:
    """Return how many indices of a job run at once; one where it is no array."""
    return 1 if job.array is None else job.array.parallel or job.array.of


def written_role(run: Run, name: str, role: Role, processes: Sized[int], implied: Implied | None = None) -> RoleSpec:
    """Return one of the job's roles, on the worker's pool unless it names one; a launcher may know its size."""
    pool = role.pool or run.pool_name
    has, cpus, memory = run.cluster.pools[pool], role.cpus_per_node, role.memory_per_node
    if implied is not None and not role.gpus_per_node:
        cpus, memory = cpus or cores(implied, has), memory or implied.memory
    return RoleSpec(
        name,
        pool,
        has,
        role.nodes,
        role.gpus_per_node,
        cpus,
        memory,
        processes,
        field=f"roles.{name}.",
        why=implied.why if implied else "",
        trains=implied.trains if implied else True,
        anywhere=role.pool is None,
    )


def unwritten_role(run: Run, name: str, implied: Implied, pool: str | None = None) -> RoleSpec:
    """Return a role that nobody writes: one pod without GPUs, beside the workers unless on another pool."""
    where = pool or run.pool_name
    has = run.cluster.pools[where]
    return RoleSpec(
        name,
        where,
        has,
        1,
        0,
        cores(implied, has),
        implied.memory,
        implied.processes,
        why=implied.why,
        trains=implied.trains,
        anywhere=pool is None,
    )


def cores(implied: Implied, pool: Pool) -> int:
    """Return the CPUs of an implied role, in whole cores of the pool."""
    return implied.cpus + -implied.cpus % pool.node.threads_per_core


def neighbour_roles(role: RoleSpec, roles: Iterable[RoleSpec]) -> list[RoleSpec]:
    """Return the roles of the launcher's that must find room on the workers' nodes, whose size leaves it.

    One with GPUs has its own share of a node.
    """
    here = (other for other in roles if other.why and not other.gpus and other.pool_name == role.pool_name)
    return list(here) if role.name == WORKER else []


def wants_rdma(job: Job, role: RoleSpec) -> bool:
    """Whether the role's pods get NICs of the fabric: those with GPUs, and the workers of a job without any."""
    return job.fabric == "rdma" and (role.gpus > 0 or role.name == WORKER)


def share(job: Job, role: RoleSpec, node: Available) -> tuple[Fraction, str]:
    """Return which part of a node one pod is meant to have, and in words why: by GPUs, or else by CPUs."""
    if not role.gpus and role.cpus is not None and node.cpus > 0:
        return min(Fraction(1), role.cpus / node.cpus), f"{role.cpus}/{number(node.cpus)} CPUs"
    if not node.gpus:
        return Fraction(1), "whole node"
    if not role.gpus:
        return Fraction(1, node.gpus), f"1/{node.gpus}, one GPU's share"
    piece = gpus.piece_of(job, role.pool) if role.name == WORKER else Fraction(1)
    part = of_node(role.gpus, piece, node.gpus)
    if piece < 1 and job.gpu is not None:
        return part, f"{piece.numerator}/{piece.denominator} GPU {as_what(job.gpu)}"
    return part, f"{role.gpus}/{node.gpus} GPUs"


@lru_cache(maxsize=1024)
def of_node(gpus: int, piece: Fraction, there: int) -> Fraction:
    """Return the part of a node that so many GPUs or pieces of them are, of so many that are there."""
    return min(Fraction(1), gpus * piece / there)


def as_what(gpu: Gpu) -> str:
    """Return in words which part of a GPU a job asks for."""
    return f"as {gpu.profile}" if gpu.profile else "that is shared"


def number(amount: Fraction) -> str:
    """Write an amount for a sentence: whole numbers as such, others with four digits."""
    return str(amount.numerator) if amount.denominator == 1 else f"{float(amount):.4g}"
