"""What a run is made of beside one gang of workers: pods of other roles, or independent indices."""

from __future__ import annotations

from pydantic import model_validator

from trainyard.specs.models.base import Amount, Count, Name, Room, Spec, VariableName, VariableValue, validation_error
from trainyard.specs.models.start import Command, Module, Program


class Role(Spec):
    """Pods beside the workers: parameter servers, a launcher, a head; the launcher names the roles it knows."""

    nodes: Count = 1
    """How many pods."""
    gpus_per_node: Amount = 0
    """Whole GPUs of each pod."""
    cpus_per_node: Count | None = None
    """Whole CPUs of each pod; default as for the workers."""
    memory_per_node: Room | None = None
    """Bytes of each pod; default as for the workers."""
    pool: Name | None = None
    """Default: the job's."""
    program: Program | None = None
    """What it runs instead of what the job names, as a script, a `module` or a `command`."""
    module: Module | None = None
    """A Python module, instead of `program`."""
    command: Command | None = None
    """Any executable, instead of `program`."""
    args: tuple[VariableValue, ...] | None = None
    """Its arguments; default: the job's, unless it runs something of its own."""
    env: dict[VariableName, VariableValue] = {}
    """Variables of its pods, beside the job's and before them."""

    @model_validator(mode="after")
    def one_start(self) -> Role:
        """Refuse a role that starts several things."""
        if sum(start is not None for start in (self.program, self.module, self.command)) > 1:
            raise validation_error("one-of", "should have at most one of: program, module, command")
        return self


class Array(Spec):
    """Independent indices of one job: each runs the program for itself, and is tried again for itself."""

    of: Count
    """How many indices there are, numbered from 0."""
    parallel: Count | None = None
    """How many of them run at once; default: all."""
