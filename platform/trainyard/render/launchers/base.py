"""What a launcher is: what it needs of a kind, which roles it implies, and what a job may tell it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.render.launchers import own_roles
from trainyard.render.launchers.commands import OWN, program, started_by
from trainyard.render.launchers.launch import Launch, Wiring
from trainyard.render.sizing import WORKER, Implied, RoleSpec, Sized, Sizing
from trainyard.render.sizing import roles as of_run
from trainyard.specs import Job
from trainyard.specs.run import Run

NEEDS: Mapping[str, str] = {
    "rank": "every pod knows its index in its role",
    "master": "the first worker has an address that every pod can resolve",
    "hosts": "every pod of every role has an address that every pod can resolve",
    "ssh": "one pod has SSH keys and a list of all others",
    "ray": "a Ray cluster to which the program is submitted",
    "array": "independent pods, each with an index and its own retries; a limited number runs at a time",
    "elastic": "the job may start with fewer pods, and lost pods are recreated one by one",
}
"""What launchers can need of a kind and kinds can give; a launcher or kind of one's own may add words."""

ROLES = Rule(
    id="run/roles",
    title="Every role of a job is known to its launcher and its kind.",
    why="nothing starts a program in pods of an unknown role, or the pods are not created",
    fix="use a role that both know, or remove it",
    source="docs/launchers.md",
    layer="run",
)
ELASTIC = Rule(
    id="run/elastic",
    title="Jobs with minNodes have an elastic launcher and kind.",
    why="other launchers fail when a node is lost, and other kinds never shrink",
    fix="remove minNodes, or use an elastic launcher and kind",
    source="docs/launchers.md",
    layer="run",
)
PROCESSES = Rule(
    id="run/processes",
    title="A launcher of one process per pod is used without processesPerNode above 1.",
    why="the other processes do not start, and ranks that wait for them hang",
    fix="use a launcher that starts many, such as torchrun, or remove processesPerNode",
    source="docs/launchers.md",
    layer="run",
)
ONE_POD = Rule(
    id="run/one-pod",
    title="A role that starts or coordinates the others has one pod.",
    why="the operator never starts an MPIJob with two launchers, and TensorFlow refuses a cluster with two chiefs",
    fix="remove nodes from the role",
    source="mpi-operator v0.8.2 pkg/apis/kubeflow/validation; tensorflow v2.21 python/distribute/multi_worker_util.py",
    layer="run",
)
START = Rule(
    id="run/start",
    title="A job sets what its launcher starts: a Python program, or a command.",
    why="Python would read an executable as a script, and a script without Python in front may not start",
    fix="set program, module or command as the launcher needs, or use another launcher",
    source="docs/launchers.md",
    layer="run",
)
IN_COMMAND = Rule(
    id="run/launcher-in-command",
    title="A command does not start a launcher without ranks.",
    why="a launcher that gets no ranks starts the same training once on every node",
    fix="set launcher to it, or pass NNODES, NODE_RANK and MASTER_ADDR as $(NAME)",
    source="pytorch v2.9 torch/distributed/run.py; docs/launchers.md",
    layer="run",
    severity=Severity.WARNING,
)
VARIABLES = Rule(
    id="run/env",
    title="A job sets no variable that its launcher, its kind or Trainyard sets.",
    why="Kubernetes uses the last of two variables with one name, and ignores the other silently",
    fix="remove the variable",
    source="kubernetes v1.35 pkg/apis/core/types.go EnvVar; docs/launchers.md",
    layer="run",
)


class Launcher(ABC):
    """A way to start the processes of a job; one module each, found by its name in this folder."""

    name: ClassVar[str]
    needs: ClassVar[frozenset[str]] = frozenset()
    """What it needs of a kind where a run has several pods."""
    alone: ClassVar[frozenset[str]] = frozenset()
    """What it needs of a kind for a single pod too."""
    role_names: ClassVar[frozenset[str]] = frozenset()
    """Roles beside the workers that it knows."""
    any_role: ClassVar[bool] = False
    """Whether it starts pods of any other role too, with what the job says that they run."""
    single: ClassVar[frozenset[str]] = frozenset()
    """Those of them of which there is one pod."""
    own_end: ClassVar[int] = 0
    """Seconds that it takes to end itself once its processes have ended; they have as much less to save in."""
    begins_together: ClassVar[bool] = False
    """Whether workers start their processes by themselves, all at each start of the run: then a check comes first."""
    elastic: ClassVar[bool] = False
    """Whether its processes go on with fewer nodes."""
    takes: ClassVar[frozenset[str]] = frozenset({"program", "module"})
    """Fields of a job by any of which it can be told what to start."""

    @abstractmethod
    def launch(self, run: Run, sizing: Sizing, wiring: Wiring) -> Launch:
        """Return the commands of each role's pods; the roles are those of the sizing."""

    def implied(self, _run: Run) -> Mapping[str, Implied]:
        """Return the roles that are there though nobody writes them, by name."""
        return {}

    def processes(self, run: Run, role: str, gpus: int) -> Sized[int]:
        """Return how many processes it starts in each pod of a role."""
        if run.job.processes_per_node is not None and role == WORKER:
            return Sized(run.job.processes_per_node, "processesPerNode of the job")
        return Sized(gpus, "one per GPU") if gpus else Sized(1, "1: the pod has no GPUs")

    def wants(self, run: Run, roles: Sequence[RoleSpec]) -> frozenset[str]:
        """Return the features that the launcher needs of the kind for this run."""
        several = sum(role.nodes for role in roles) > 1
        apart = {"hosts"} if self.any_role and len(roles) > 1 else set()
        many = {"array"} if run.job.array is not None else set()
        shrinks = {"elastic"} if run.job.min_nodes is not None and self.elastic else set()
        return frozenset({*self.alone, *(self.needs if several else ()), *apart, *many, *shrinks})

    def ports(self, wiring: Wiring) -> Mapping[int, str]:
        """Return the ports that its processes listen on where there are several pods, each with what is there."""
        return {wiring.port: "ranks meet"}

    def ending(self, _run: Run, _grace: int) -> int:
        """Return the seconds of a pod's grace that its processes do not have."""
        return self.own_end

    def check(self, run: Run) -> Iterator[Finding]:
        """Yield fields of the job that mean nothing to this launcher."""
        yield from self.check_start(run)
        for name in (role for role in run.job.roles if not self.knows(role)):
            known = did_you_mean(name, self.role_names) if self.role_names else "remove it"
            if name == WORKER:
                known = "set the job's own fields for its workers"
            yield ROLES.at(run.source, ("roles", name), f"launcher {self.name!r} has no role {name!r}; {known}")
        for name, role in run.job.roles.items():
            if name in self.single and role.nodes > 1:
                message = f"role {name!r} has {role.nodes} nodes, but only one pod is possible; remove nodes"
                yield ONE_POD.at(run.source, ("roles", name, "nodes"), message)
        if run.job.min_nodes is not None and not self.elastic:
            message = f"minNodes is {run.job.min_nodes}, but launcher {self.name!r} is not elastic; remove it"
            yield ELASTIC.at(run.source, ("minNodes",), message)
        taken = self.variables | (own_roles.variables(run.job) if self.any_role else frozenset())
        for path, names in own_roles.named_variables(run.job):
            for name in sorted(taken & set(names)):
                message = f"{'.'.join(path)} sets {name}, which launcher {self.name!r} sets itself; remove it"
                yield VARIABLES.at(run.source, (*path, name), message)
        yield from self.check_roles(run)

    def check_sized(self, _run: Run, _sizing: Sizing) -> Iterator[Finding]:
        """Yield the findings on pods of a size that the launcher cannot start."""
        yield from ()

    def knows(self, role: str) -> bool:
        """Whether it starts pods of a role beside the workers."""
        return role in self.role_names or (self.any_role and role != WORKER)

    def check_roles(self, run: Run) -> Iterator[Finding]:
        """Yield the findings on roles that the launcher does not start, or whose pods run its own program."""
        implied = self.implied(run)
        for name, role in run.job.roles.items():
            own = own_roles.start_field(role)
            if name in implied and not implied[name].trains and (own is not None or role.args is not None):
                field_ = own or "args"
                message = f"launcher {self.name!r} starts role {name!r} itself; remove {field_}"
                yield START.at(run.source, ("roles", name, field_), message)
            elif own is not None and own not in self.takes and not self.any_role:
                able = " or ".join(sorted(self.takes))
                message = f"role {name!r} has a {own}, but launcher {self.name!r} starts only {able}; use that"
                yield START.at(run.source, ("roles", name, own), message)
            elif self.any_role and not name[0].isalpha():
                message = f"role {name!r} must begin with a letter, since variables are named after it; rename it"
                yield ROLES.at(run.source, ("roles", name), message)

    def check_start(self, run: Run) -> Iterator[Finding]:
        """Yield the findings on a start that the launcher cannot make, and on a command that is a launcher itself."""
        job = run.job
        given = next(name for name in ("program", "module", "command") if getattr(job, name) is not None)
        if given not in self.takes and given == "command":
            message = f"launcher {self.name!r} starts Python programs; write program or module, or launcher: exec"
            yield START.at(run.source, (given,), message)
        elif given not in self.takes:
            message = (
                f"launcher {self.name!r} starts a command, not a Python program; use command: [python, …], or "
                "launcher: python"
            )
            yield START.at(run.source, (given,), message)
        words = (*(job.command or ("python", *program(run))), *(job.args if job.command else ()))
        first = started_by(words)
        if first is not None and OWN[first] == self.name:
            message = f"{given} starts {first!r}, which launcher {self.name!r} already does; remove it"
            yield IN_COMMAND.at(run.source, (given,), message)
        elif first is not None and job.nodes > 1 and not any("$(" in word for word in words):
            message = f"{given} starts {first!r} separately on each of {job.nodes} nodes; use launcher: {OWN[first]}"
            yield IN_COMMAND.at(run.source, (given,), message)

    @property
    def variables(self) -> frozenset[str]:
        """Variables that the launcher sets, so that a job must not."""
        return frozenset()

    def roles(self, run: Run) -> tuple[RoleSpec, ...]:
        """Return the roles of a run: the workers, those that the job writes, and those that nobody has to write."""
        job, implied = run.job, self.implied(run)
        gpus = job.gpus_per_node or int(job.gpu is not None)
        found = [of_run.worker(run, self.processes(run, WORKER, gpus))]
        for name, role in job.roles.items():
            processes = self.processes(run, name, role.gpus_per_node)
            found.append(of_run.written_role(run, name, role, processes, implied.get(name)))
        found += (of_run.unwritten_role(run, name, role) for name, role in implied.items() if name not in job.roles)
        return tuple(found)

    def starts(self, roles: Sequence[RoleSpec]) -> tuple[RoleSpec, ...]:
        """Return the roles that it starts: a kind need not carry one that the job names and the launcher refuses."""
        return tuple(role for role in roles if not role.field or self.knows(role.name))


def one_process(launcher: Launcher, run: Run) -> Iterator[Finding]:
    """Yield numbers of processes of a job whose launcher starts one a pod."""
    processes = run.job.processes_per_node
    if processes is not None and processes > 1:
        message = (
            f"processesPerNode is {processes}, but launcher {launcher.name!r} starts one process per pod; remove it"
        )
        yield PROCESSES.at(run.source, ("processesPerNode",), message)


def bounds(job: Job) -> tuple[int, int]:
    """Return the fewest and the most nodes with which a job goes on; both are `nodes` where it is not elastic."""
    return job.min_nodes or job.nodes, job.max_nodes or job.nodes
