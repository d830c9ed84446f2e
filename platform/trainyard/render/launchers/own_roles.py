"""Roles beside the workers: what each of them runs, and what its pods are told of all others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainyard.render.sizing import WORKER, RoleSize, Sized
from trainyard.specs import Job, Role

STARTS = ("program", "module", "command")

ROLE, INDEX = "ROLE", "ROLE_INDEX"
"""Which role a pod is of, and which of its pods, from 0."""


@dataclass(frozen=True, slots=True)
class Start:
    """What the pods of a role run: one of a program, a module and a command, and its arguments."""

    program: str | None
    module: str | None
    command: tuple[str, ...] | None
    args: tuple[str, ...]


def start(job: Job, role: str) -> Start:
    """Return the start of a role: its own, or else the job's; a role's own start has its own arguments."""
    said = job.roles.get(role)
    if said is None or role == WORKER:
        return Start(job.program, job.module, job.command, job.args)
    if start_field(said) is None:
        return Start(job.program, job.module, job.command, job.args if said.args is None else said.args)
    return Start(said.program, said.module, said.command, said.args or ())


def start_field(role: Role) -> str | None:
    """Return the field by which a role says what it runs; None where it runs what the job does."""
    return next((name for name in STARTS if getattr(role, name) is not None), None)


def variables(job: Job) -> frozenset[str]:
    """Return the variables by which pods of a job with roles are told of each other."""
    if not job.roles:
        return frozenset()
    return frozenset({ROLE, INDEX, hosts_of(WORKER), *map(hosts_of, job.roles)})


def named_variables(job: Job) -> Iterator[tuple[tuple[str, ...], Iterable[str]]]:
    """Yield every field of a job that names variables, with their names."""
    yield ("env",), job.env
    yield ("secrets",), job.secrets
    for name, role in job.roles.items():
        yield ("roles", name, "env"), role.env


def hosts_of(role: str) -> str:
    """Return the variable with the addresses of a role's pods."""
    return f"{role.replace('-', '_').upper()}_HOSTS"


def peer_variables(sizes: Sequence[RoleSize], host: Callable[[str, int], str], role: str) -> Mapping[str, Sized[str]]:
    """Return the variables of a role's pods: the role, and the addresses of all pods, role by role, with commas."""
    if len(sizes) == 1:
        return {}
    found = {ROLE: Sized(role, "the pod's own role")}
    for size in sizes:
        hosts = ",".join(host(size.name, index) for index in range(size.nodes.value))
        found[hosts_of(size.name)] = Sized(hosts, f"the {size.nodes.value} pods of role {size.name}, by index")
    return found
