"""A kind: which API object carries a run, what it gives to launchers, and what is true of it on a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from trainyard.base.findings import Finding, count_of
from trainyard.render.kinds import checked
from trainyard.render.kinds.behaviour import Behaviour
from trainyard.render.launchers import Launch, Launcher, Role, Wiring
from trainyard.render.parts import ceph_buckets, contract, gang, pods, security, tracking
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing import WORKER, RoleSpec, Sized, Sizing, saving, staging
from trainyard.specs import Cluster, Scheduler
from trainyard.specs.run import Run, left_out
from trainyard.upstream.workloads import Carrier, carrier

NOT_WORTH_A_RETRY = (2, 126, 127)
"""Exit codes that the next attempt repeats: wrong arguments (Python's argparse), not executable, not found (shells).

Of the program itself they come through launchers that are replaced by it: torchrun ends with 1 whatever its processes
end with (torch 2.15, seen), so there they mean torchrun's own arguments. What a runtime cannot start ends with 128
(containerd 2.1 internal/cri/server/container_start.go), which may be the node's fault and is tried again.
"""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A run with everything that follows from it: made once, and read by checks, explain and rendering alike."""

    run: Run
    kind: Kind
    launcher: Launcher
    specs: tuple[RoleSpec, ...]
    """The roles as the job and its launcher ask for them."""
    sizing: Sizing
    wiring: Wiring
    launch: Launch

    @property
    def roles(self) -> tuple[Role, ...]:
        """What each role's pods ask for and run; the first is the worker."""
        return self.launch.roles

    def facts(self) -> Iterator[tuple[str, Sized[Any]]]:
        """Yield every value that follows from the job and the cluster, by its name, with its origin."""
        given = self.run.job.kind
        why = "kind of the job" if given else "the cluster's first kind that the launcher can use"
        yield "kind", Sized(self.kind.name, why)
        others = left_out(self.run.job, self.run.cluster)
        if len(self.run.pools) > 1 or others:
            chosen = "pool" if self.run.job.gpu_memory is None else "gpuMemory"
            why = f"{chosen} of the job"
            if len(self.run.pools) > 1:
                why += f"; Kueue takes one of them, in the order of queue {self.run.job.queue}"
            if others:
                vendors = " and ".join(sorted(self.run.job.gpu_vendors))
                why += f"; not {' or '.join(others)}: the image is for GPUs of {vendors}"
            yield "pools", Sized(" or ".join(self.run.pools), why)
        yield from self.kind.facts(self.run)
        yield from self.sizing.facts()
        yield from saving.facts(self.run)
        yield from staging.facts(self.run, self.pods_that_train)
        yield from checked.facts(self.run)
        if self.run.job.array is not None:
            yield "array", Sized(f"{self.run.job.array.of}, {self.specs[0].copies} at once", "array of the job")
        yield from security.who(self.run).facts()
        training = [role for role in self.roles if role.size.ranks and not self.is_companion(role)]
        parts = " + ".join(
            f"{count_of(role.pods, f'{role.name} pod')} × {count_of(role.processes, 'process', 'processes')}"
            for role in training
        )
        yield "world_size", Sized(sum(role.pods * role.processes for role in training), parts)
        meeting = {
            "master": Sized(self.wiring.master, f"the first worker, as {self.kind.name} names its pods"),
            "port": Sized(str(self.wiring.port), "where the first worker listens"),
            "rendezvous_id": Sized(self.run.name, "name of the run"),
        }
        said = {part for role in self.roles for text in role.texts for part in text.rpartition("=")[2].split(":")}
        yield from ((name, sized) for name, sized in meeting.items() if sized.value in said)
        for role in self.roles:
            env = {**self.contract(role), **role.env}
            keys = {**tracking.secret_origins(self.run), **ceph_buckets.secret_origins(self.run)}
            keys = keys if role.size.trains else {}
            yield from ((f"{role.name}.env.{name}", sized) for name, sized in {**env, **keys}.items())

    @property
    def pods_that_train(self) -> int:
        """How many pods mount the job's volumes at once."""
        return sum(role.pods for role in self.specs if role.trains)

    def is_companion(self, role: Role) -> bool:
        """Whether a role is one that the launcher does not know: its pods serve the workers, and have no ranks."""
        return self.launcher.any_role and role.size.name != WORKER

    def contract(self, role: Role) -> dict[str, Sized[str]]:
        """Return the variables of the run contract; nothing where a role does not run the program."""
        launcher = self.launcher
        ending = launcher.ending(self.run, self.sizing.grace.value)
        told = contract.environment(self.run, self.sizing, launcher=launcher.name, own_end=ending)
        return told if role.size.trains else {}


class Kind(ABC):
    """An API kind that carries training; one module each, found in this folder. Every fact has its source there."""

    name: ClassVar[str]
    """The kind, as jobs write it."""
    group: ClassVar[str]
    version: ClassVar[str]
    api_kind: ClassVar[str] = ""
    """The kind as objects write it, where another kind is known here by that name; else its name."""
    scheduler: ClassVar[Scheduler] = "kueue"
    """Who admits its jobs where the choice of its operator says nothing: a queue of another scheduler never would."""
    gives: ClassVar[frozenset[str]]
    """What it gives to launchers, in the words of `launchers.NEEDS`."""
    replicas: ClassVar[Mapping[str, str] | None] = {WORKER: ""}
    """The roles that it carries, each with what the kind calls it; None: any, under their own names."""
    required: ClassVar[frozenset[str]] = frozenset()
    """Roles without which the operator refuses an object."""
    container: ClassVar[str] = "trainer"
    """Name of the container that trains; some operators insist on one."""
    suffix: ClassVar[int] = 0
    """Characters that the operator appends to a host name to name the pod, and counts in its length limit."""
    objects: ClassVar[frozenset[str]]
    """Every kind of object that a run may consist of, as `group/Kind`."""
    inner: ClassVar[frozenset[str]] = frozenset({"Pod"})
    """What a patch can reach inside the workload, role by role."""
    annotations: ClassVar[Mapping[str, str]] = {}
    """Annotations that every object of the kind needs under Argo CD."""
    ignore: ClassVar[Sequence[Mapping[str, Any]]] = ()
    """Argo CD `ignoreDifferences` entries; `ignored` has those for a release of it."""
    waits_for_all: ClassVar[bool] = True
    """Whether Kueue takes a run that is short of a pod for not ready, and stops it after a while."""
    mortal: ClassVar[frozenset[str]] = frozenset()
    """Roles of which one pod that is deleted while it runs, as by a drain, fails the run for good."""
    behaviour: ClassVar[Behaviour]
    """What becomes of its runs when something fails or ends, in words."""
    health: ClassVar[str | None] = None
    """Argo CD health script in Lua, or None where Argo CD's own is right."""
    takes_runtimes: ClassVar[bool] = False
    """Whether a job may name a runtime of the cluster for it."""
    asks: ClassVar[tuple[Mapping[str, str], int] | None] = None
    """Labels of pods that its operator asks how they are, and the port of theirs; None where it looks at objects."""

    def ignored(self, argocd: str) -> Sequence[Mapping[str, Any]]:  # noqa: ARG002 - kinds with maps look at the release
        """Return Argo CD's `ignoreDifferences` entries for a release of it."""
        return self.ignore

    @property
    def api_version(self) -> str:
        """As objects write it."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def object_kind(self) -> str:
        """The kind, as objects write it."""
        return self.api_kind or self.name

    @property
    def carrier(self) -> Carrier:
        """Where it carries pods, who reconciles it, and what Kueue calls it."""
        found = carrier(self.group, self.object_kind)
        if found is None:
            raise LookupError(f"kind {self.name} of group {self.group!r} has no row in workloads/")
        return found

    @property
    def lists(self) -> Mapping[str, tuple[str, ...]]:
        """Lists of its own, by name, with the fields by which a patch tells their items apart."""
        return self.carrier.lists

    def admitted_by(self, cluster: Cluster) -> Scheduler:
        """Return who admits its jobs on a cluster."""
        return cluster.scheduler_of(self.carrier.operator) or self.scheduler

    def called(self, role: str) -> str:
        """Return the name of a role's pod set, as Kueue takes it from the object."""
        return (self.replicas or {}).get(role, role).lower()

    def carries(self, role: str) -> bool:
        """Whether it has pods of a role."""
        return self.replicas is None or role in self.replicas

    def can(self, wanted: frozenset[str], roles: Iterable[RoleSpec]) -> bool:
        """Whether it gives what a launcher wants, and carries the roles."""
        there = {role.name for role in roles}
        return wanted <= self.gives and self.required <= there and all(map(self.carries, there))

    def injected(self, role: str) -> frozenset[str]:
        """Return the environment variables that the operator sets in a role's pods, so that a manifest must not."""
        known = self.carrier.variables
        return known.of(self.called(role)) if known is not None else frozenset()

    def beside(self, _run: Run, _roles: Sequence[RoleSpec]) -> Iterator[RoleSpec]:
        """Yield the pods that the operator makes beside those of the launcher's roles."""
        yield from ()

    def arriving(self, pod_set: str, spec: dict[str, Any]) -> dict[str, Any]:
        """Return the specification of a pod as it arrives at a node, with containers that the operator adds.

        The pod is told by its pod set: a role, as the object calls it. What stands in the given one belongs to the
        pod's template, and is not to be changed.
        """
        added = self.carrier.arriving
        for item in added({}, pod_set) if added is not None else ():
            spec = {**spec, item.among: [*(spec.get(item.among) or ()), item.value]}
        return spec

    @abstractmethod
    def host(self, run: str, role: str, index: int) -> str:
        """Return the host name of one pod: of the object's name, the role and the index."""

    @abstractmethod
    def wiring(self, run: Run) -> Wiring:
        """Return how the pods find each other; a launcher asks before it writes arguments."""

    def placing(self, run: Resolved, role: Role) -> pods.Placing:
        """Return how a role's pods get to their nodes."""
        if self.admitted_by(run.run.cluster) == "volcano":
            return gang.by_volcano(run.run.cluster.pools[role.size.pool])
        return gang.placing(run.run) if role.name in self.gang(run) else pods.BY_KUEUE

    def gang(self, run: Resolved) -> Mapping[str, int]:
        """Return the roles of the group that is made beside the run, and how many pods of each have to be bound.

        Volcano's groups are made by its controller or by the kind's operator.
        """
        return {} if self.admitted_by(run.run.cluster) == "volcano" else self.together(run)

    def together(self, run: Resolved) -> Mapping[str, int]:
        """Return the roles whose pods are made at once, and how many of each have to be bound for any to start.

        Where others have to be ready before a role's pods are made, none would be bound while they were waited for;
        and indices of an array wait for nobody.
        """
        own = {role.name for role in self.beside(run.run, run.specs)}
        found = {role: least for role, least in gang.least(run.run, run.sizing).items() if role not in own}
        return found if sum(found.values()) > 1 and run.run.job.array is None else {}

    @abstractmethod
    def build(self, run: Resolved) -> Iterator[Resource]:
        """Yield the run's objects."""

    def facts(self, _run: Run) -> Iterator[tuple[str, Sized[Any]]]:
        """Yield more values that the kind derives for a run, by name, with their origin, for `explain`."""
        yield from ()

    def check(self, _run: Resolved) -> Iterator[Finding]:
        """Yield the findings on a run that launcher and roles let pass and this kind cannot carry."""
        yield from ()
