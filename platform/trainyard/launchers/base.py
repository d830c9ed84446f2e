"""What a launcher answers, and what it must know of the kind that carries its processes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from trainyard.documents import Path, format_path
from trainyard.findings import Finding, Severity
from trainyard.sizing import RoleSize, Sized, Sizing
from trainyard.specs.run import Run

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
    injected: frozenset[str] = frozenset()
    """Variables that the operator sets; where a launcher sets them too, the kind leaves the launcher's out."""

    @property
    def master(self) -> str:
        """Address of the first worker."""
        return self.host("worker", 0)


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
        """`worker`, or a name of the job's `roles`."""
        return self.size.name

    @property
    def pods(self) -> int:
        """How many there are."""
        return self.size.nodes.value


class Launcher(ABC):
    """A way to start the processes of a job; one module each, found by its name in this folder."""

    name: ClassVar[str]
    role_names: ClassVar[frozenset[str]] = frozenset()
    """Roles beside the workers that it knows."""
    elastic: ClassVar[bool] = False
    """Whether its processes go on with fewer nodes."""

    @abstractmethod
    def roles(self, run: Run, sizing: Sizing, wiring: Wiring) -> tuple[Role, ...]:
        """Return what each role's pods run; the first is the worker."""

    def check(self, run: Run) -> Iterator[Finding]:
        """Yield fields of the job that mean nothing to this launcher."""
        unknown = [name for name in run.job.roles if name not in self.role_names]
        if unknown:
            known = f"it knows: {', '.join(sorted(self.role_names))}" if self.role_names else "remove it"
            message = f"launcher {self.name!r} has no role {unknown[0]!r}; {known}"
            yield problem(run, "run/roles", message, ("roles", unknown[0]))
        if run.job.min_nodes is not None and not self.elastic:
            message = (
                f"minNodes is {run.job.min_nodes}, but launcher {self.name!r} cannot go on with fewer nodes; remove it"
            )
            yield problem(run, "run/elastic", message, ("minNodes",))
        for name in sorted(self.variables & (set(run.job.env) | set(run.job.secrets))):
            field_ = "env" if name in run.job.env else "secrets"
            message = f"{field_} has {name}, which launcher {self.name!r} sets itself; remove it"
            yield problem(run, "run/env", message, (field_, name))

    @property
    def variables(self) -> frozenset[str]:
        """Variables that the launcher sets, so that a job must not."""
        return frozenset()


def program(run: Run) -> tuple[str, ...]:
    """Return the program or module as Python takes it, and its arguments."""
    start = ("-m", run.job.module) if run.job.module else (run.job.program or "",)
    return (*start, *run.job.args)


def threads(cpus: int, processes: int) -> Sized[str]:
    """Return OMP_NUM_THREADS: the CPUs divided among processes; torchrun says 1 where nobody says anything."""
    count = max(1, cpus // processes)
    return Sized(str(count), f"{count} = floor({cpus} CPUs / {processes} processes)")


def problem(run: Run, rule: str, message: str, path: Path, *, severity: Severity = Severity.ERROR) -> Finding:
    """Return a finding at a field of the job's file."""
    return Finding(rule, "run", message, run.source.location(path), severity=severity, path=format_path(path))
