"""What a run is made of beside one gang of workers: pods of other roles, or independent indices."""

from __future__ import annotations

from pydantic import model_validator

from trainyard.specs.models.base import Amount, Count, Name, Room, Spec, VariableName, VariableValue, validation_error
from trainyard.specs.models.start import Command, Module, Program


class Role(Spec):
    """Pods in addition to the workers, in a role that the launcher defines, such as `ps` or `head`."""

    nodes: Count = 1
    """Number of pods."""
    gpus_per_node: Amount = 0
    """Whole GPUs of each pod."""
    cpus_per_node: Count | None = None
    """Whole CPUs of each pod; default: as for the workers."""
    memory_per_node: Room | None = None
    """Memory of each pod in bytes; default: as for the workers."""
    pool: Name | None = None
    """Pool of the pods; default: the job's."""
    program: Program | None = None
    """Path of the role's script; default: the job's `program`, `module` or `command`."""
    module: Module | None = None
    """Python module of the role, instead of `program`."""
    command: Command | None = None
    """Executable of the role with its first arguments, instead of `program`."""
    args: tuple[VariableValue, ...] | None = None
    """Arguments of the role; default: the job's, unless the role has its own program, module or command."""
    env: dict[VariableName, VariableValue] = {}
    """Environment variables of the role's pods; they override the job's."""

    @model_validator(mode="after")
    def one_start(self) -> Role:
        """Refuse a role that starts several things."""
        if sum(start is not None for start in (self.program, self.module, self.command)) > 1:
            raise validation_error("one-of", "must have at most one of: program, module, command")
        return self


class Array(Spec):
    """Independent copies of one job, numbered from 0; each runs the program alone and retries alone."""

    of: Count
    """Number of copies."""
    parallel: Count | None = None
    """Number of copies that run at the same time; default: all."""
