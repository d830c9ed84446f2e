"""What a job says about its pods, role by role, before anything is derived from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from trainyard.quantities import Quantity
from trainyard.sizing.node import Available
from trainyard.specs import Job, Pool, Role
from trainyard.specs.run import Run

WORKER = "worker"
"""The role that the job's own fields describe."""

SIDECAR = {"cpu": "100m", "memory": "128Mi"}
"""What a container of the job's own gets that asks for nothing: so Kueue counts it and the pod stays Guaranteed."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a job says about one role."""

    name: str
    pool_name: str
    pool: Pool
    nodes: int
    gpus: int
    cpus: int | None
    memory: str | None
    field: str
    """Where the job says it: empty for the worker, else `roles.<name>.`."""


def wishes(run: Run) -> list[Wish]:
    """Return the worker's wish and then one for each of the job's roles."""
    job, pools = run.job, run.cluster.pools
    gpus = job.gpus_per_node or int(job.gpu is not None)
    worker = Wish(WORKER, job.pool, pools[job.pool], job.nodes, gpus, job.cpus_per_node, job.memory_per_node, "")
    return [worker, *(of_role(run, name, role) for name, role in job.roles.items())]


def of_role(run: Run, name: str, role: Role) -> Wish:
    """Return the wish of one of the job's roles, which stands on the worker's pool unless it names one."""
    pool = role.pool or run.job.pool
    wanted = (role.nodes, role.gpus_per_node, role.cpus_per_node, role.memory_per_node)
    return Wish(name, pool, run.cluster.pools[pool], *wanted, field=f"roles.{name}.")


def wants_rdma(job: Job, wish: Wish) -> bool:
    """Whether the role's pods get NICs of the fabric: those with GPUs, and the workers of a job without any."""
    return job.fabric == "rdma" and (wish.gpus > 0 or wish.name == WORKER)


def share(job: Job, wish: Wish, node: Available) -> tuple[Fraction, str]:
    """Return which part of a node one pod is meant to have, and in words why: by GPUs, or else by CPUs."""
    if not wish.gpus and wish.cpus is not None and node.cpus > 0:
        return min(Fraction(1), wish.cpus / node.cpus), f"{wish.cpus}/{number(node.cpus)} CPUs"
    if not node.gpus:
        return Fraction(1), "whole node"
    if not wish.gpus:
        return Fraction(1, node.gpus), f"1/{node.gpus}, one GPU's share"
    piece = piece_of(job, wish.pool)
    part = min(Fraction(1), wish.gpus * piece / node.gpus)
    if piece < 1 and job.gpu is not None:
        return part, f"{piece.numerator}/{piece.denominator} GPU as {job.gpu.profile}"
    return part, f"{wish.gpus}/{node.gpus} GPUs"


def piece_of(job: Job, pool: Pool) -> Fraction:
    """Return the part of a GPU that one device is: `1g.10gb` is a seventh where the node counts whole GPUs."""
    gpus = pool.node.gpus
    match = re.match(r"([1-7])g\.", (job.gpu.profile if job.gpu else None) or "")
    counted = gpus is not None and gpus.resource == gpu_resource(job, pool)
    return Fraction(int(match[1]), 7) if match and not counted else Fraction(1)


def gpu_resource(job: Job, pool: Pool) -> str:
    """Return the resource that a job's GPUs, or parts of GPUs, are requested as.

    NVIDIA k8s-device-plugin v0.20.0: `nvidia.com/mig-1g.10gb` under strategy mixed, `nvidia.com/gpu.shared` with
    renameByDefault; AMD's device plugin names a partition `amd.com/cpx_nps4`.
    """
    gpus = pool.node.gpus
    if gpus is None:
        return "nvidia.com/gpu"
    vendor = gpus.resource.partition("/")[0]
    if job.gpu and job.gpu.profile and not gpus.resource.endswith(job.gpu.profile):
        return f"{vendor}/{'mig-' if gpus.vendor == 'nvidia' else ''}{job.gpu.profile}"
    if job.gpu and job.gpu.shared and not gpus.resource.endswith(".shared"):
        return f"{gpus.resource}.shared"
    return gpus.resource


def companions(job: Job) -> list[Mapping[str, Any]]:
    """Return the job's own containers that run beside the training one; others have ended when it begins."""
    sidecars = [each for each in job.init_containers if each.get("restartPolicy") == "Always"]
    return [*job.containers, *sidecars]


def resources(container: Mapping[str, Any]) -> dict[str, Any]:
    """Return the limits of a container of the job's own, CPU and memory filled in; requests are made equal.

    What is no quantity stays, for the API's verdict to name it.
    """
    given = container.get("resources")
    given = given if isinstance(given, Mapping) else {}
    merged: dict[str, Any] = dict(SIDECAR)
    for name in ("requests", "limits"):
        part = given.get(name)
        merged |= part if isinstance(part, Mapping) else {}
    return {name: text(value) for name, value in merged.items()}


def text(value: Any) -> Any:
    """Return a quantity's canonical text, or the value itself where it is none."""
    found = parsed(value)
    return value if found is None else found.canonical()


def taken(containers: list[Mapping[str, Any]], resource: str) -> Fraction:
    """Return how much of a resource containers take together; what is no quantity takes nothing."""
    found = [parsed(resources(each)[resource]) for each in containers]
    return sum((Fraction(each.amount) for each in found if each), Fraction(0))


def parsed(value: Any) -> Quantity | None:
    """Return a value of a free-form container as a quantity, or None where it is none."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        return Quantity.parse(value)
    except ValueError:
        return None


def number(amount: Fraction) -> str:
    """Write an amount for a sentence: whole numbers as such, others with four digits."""
    return str(amount.numerator) if amount.denominator == 1 else f"{float(amount):.4g}"
