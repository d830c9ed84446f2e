"""Roles of a job's own, which no launcher knows: each pod is told which one it is, and where all others are."""

from __future__ import annotations

from dataclasses import replace

from trainyard.render.launchers import own_roles
from trainyard.render.launchers.commands import start_command, threads
from trainyard.render.launchers.launch import Launch, Role, Wiring
from trainyard.render.sizing import WORKER, RoleSize, Sized, Sizing
from trainyard.specs.run import Run


def launch(run: Run, sizing: Sizing, wiring: Wiring, worker: Role) -> Launch:
    """Return the workers and the job's other roles; the workers' end is the run's, the others serve."""
    if len(sizing.roles) == 1:
        return Launch((worker,))
    others = (companion_role(run, wiring, size) for size in sizing.roles if size.name != WORKER)
    return Launch(tuple(introduce_peers(role, sizing, wiring) for role in (worker, *others)), (WORKER,))


def companion_role(run: Run, wiring: Wiring, size: RoleSize) -> Role:
    """Return the role of pods beside the workers; they have no ranks, but may look for the first worker."""
    command, *args = start_command(run, size.name)
    env = {
        "OMP_NUM_THREADS": threads(size.cpus.value, size.processes.value),
        "MASTER_ADDR": Sized(wiring.master, "the first worker's name"),
        "MASTER_PORT": Sized(str(wiring.port), "the port of torch.distributed"),
    }
    return Role(size, (command,), tuple(args), env)


def introduce_peers(role: Role, sizing: Sizing, wiring: Wiring) -> Role:
    """Return a role whose pods are told of all others."""
    told = own_roles.peer_variables(sizing.roles, wiring.host, role.name)
    index = {own_roles.INDEX: wiring.rank_field} if wiring.rank_field is not None else {}
    return replace(role, env={**role.env, **told}, fields={**index, **role.fields})
