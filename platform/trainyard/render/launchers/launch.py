"""How a run starts: how its pods find each other, as its kind says, and what each of them runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from trainyard.render.sizing import WORKER, RoleSize, Sized

PORT = 29500
"""Where rank 0 listens; torch.distributed's own default (pytorch v2.9 torch/distributed/run.py)."""


@dataclass(frozen=True, slots=True)
class Wiring:
    """How pods of a run find each other, as the kind sets it up."""

    host: Callable[[str, int], str]
    """Address of a pod in the namespace: of its role and index."""
    rank: str
    """Variable with the pod's index in its role, which arguments may use as `$(NAME)`."""
    rank_field: str | None
    """The same as a field of the pod, for variables: arguments see all variables, a variable only those before it.

    None where the operator sets RANK itself.
    """
    port: int = PORT
    fields: Mapping[str, str] = field(default_factory=dict)
    """Variables from fields of the pod that the kind needs itself, such as one for `rank`: name to fieldPath."""
    sets: frozenset[str] = frozenset()
    """Variables that the operator works out for a launcher, which then need not."""
    keys: str = ""
    """Folder with `id_rsa` and `authorized_keys` for pods to reach each other by ssh; empty where there is none."""
    hostfile: str = ""
    """File with the workers' addresses and slots, as MPI reads it; empty where there is none."""
    submits: bool = False
    """Whether the operator submits the launch's entrypoint by itself."""

    @property
    def master(self) -> str:
        """Address of the first worker."""
        return self.host(WORKER, 0)


@dataclass(frozen=True, slots=True)
class Role:
    """Equal pods of a run: what they ask for and what their container runs."""

    size: RoleSize
    command: tuple[str, ...]
    args: tuple[str, ...] = ()
    env: Mapping[str, Sized[str]] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    """Variables from the pod's own fields: name to fieldPath."""

    @property
    def name(self) -> str:
        """`worker`, or another role's name."""
        return self.size.name

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text of its command line and its variables."""
        return (*self.command, *self.args, *(sized.value for sized in self.env.values()))

    @property
    def pods(self) -> int:
        """How many there are."""
        return self.size.nodes.value

    @property
    def processes(self) -> int:
        """How many processes the launcher starts in each."""
        return self.size.processes.value


@dataclass(frozen=True, slots=True)
class Launch:
    """How a run starts: what each role's pods run, and what is for all of them."""

    roles: tuple[Role, ...]
    """The first is the worker."""
    ends: tuple[str, ...] = ()
    """Roles whose end is the run's; empty: all. The others serve, and are ended with it."""
    led: bool = False
    """Whether the first worker alone ends the run: it waits for the others, and late ones find nobody."""
    entrypoint: tuple[str, ...] = ()
    """Command line of the program where the kind submits it by itself, as to a Ray cluster."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Small files of the launcher's own, by name, which every pod finds in `parts.storage.LAUNCH_FOLDER`."""
