"""What sizing answers with: values that say where they come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from trainyard.upstream.pods.resources import CPU, EPHEMERAL_STORAGE, MEMORY

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sized(Generic[T]):
    """A value and the sentence that says from what it follows: `55 = floor((112 - 2) × 4/8)`."""

    value: T
    origin: str


@dataclass(frozen=True, slots=True)
class Attached:
    """What a pod has to be on its fabric; nothing of it where the job trains over the cluster's own network."""

    devices: Mapping[str, Sized[Any]] = field(default_factory=dict)
    """Resources to ask for, by name: counts of devices, bytes of huge pages as a quantity."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, Sized[str]] = field(default_factory=dict)
    sidecars: tuple[Mapping[str, Any], ...] = ()
    """Containers that start before the program and end with it."""
    volumes: tuple[Mapping[str, Any], ...] = ()
    mounts: tuple[Mapping[str, Any], ...] = ()
    """Of the training container."""
    profile: str = ""
    """Path in the pod of a script that sets the environment of the fabric's libraries: read before the program."""
    host: bool = False
    """Whether pods share the node's own network and all of its devices."""
    claims: Mapping[str, str] = field(default_factory=dict)
    """Claims of devices by name, each with the ResourceClaimTemplate that it is made from."""

    def __or__(self, other: Attached) -> Attached:
        """Return both together."""
        return Attached(
            devices={**self.devices, **other.devices},
            annotations={**self.annotations, **other.annotations},
            env={**self.env, **other.env},
            sidecars=(*self.sidecars, *other.sidecars),
            volumes=(*self.volumes, *other.volumes),
            mounts=(*self.mounts, *other.mounts),
            profile=self.profile or other.profile,
            host=self.host or other.host,
            claims={**self.claims, **other.claims},
        )


@dataclass(frozen=True, slots=True)
class RoleSize:
    """What each pod of one role asks for."""

    name: str
    """`worker`, or a name of the job's `roles`."""
    pool: str
    nodes: Sized[int]
    processes: Sized[int]
    gpus: Sized[int]
    cpus: Sized[int]
    memory: Sized[str]
    """Bytes, as a quantity; `/dev/shm` counts in it."""
    shared_memory: Sized[str]
    """Bytes, as a quantity: the size limit of `/dev/shm`."""
    storage: Sized[str]
    """Bytes of local disk, as a quantity: scratch, logs and the image's writable layer."""
    devices: Mapping[str, Sized[Any]] = field(default_factory=dict)
    """Extended resources by name: GPUs or parts of them, virtual functions, huge pages."""
    fabric: Attached = Attached()
    """What its pods have to be on the training fabric, beside devices and environment."""
    pools: tuple[str, ...] = ()
    """Pools of which Kueue takes one, where there are several."""
    env: Mapping[str, Sized[str]] = field(default_factory=dict)
    """What the fabric and the devices want in the environment."""
    injected: tuple[Mapping[str, Any], ...] = ()
    """Containers that a provider's webhook adds to its pods, which nodes have to hold and Kueue does not count."""
    trains: bool = True
    """Whether its pods run the program, and so mount the job's volumes."""
    ranks: bool = True
    """Whether they have ranks, which talk much and save; a driver runs the program and has none."""
    untied: bool = False
    """Whether its pods keep out of what the kubelet ties to NUMA nodes: those without GPUs, beside pods with them.

    The static memory manager gives a NUMA node to narrow pods or to wide ones, never to both: a Guaranteed pod of one
    CPU has a whole node's pod refused beside it, or is refused itself (kubernetes v1.35.4
    pkg/kubelet/cm/memorymanager/policy_static.go).
    """

    def requests(self) -> dict[str, str]:
        """Return the requests of the container."""
        devices = {name: str(count.value) for name, count in self.devices.items()}
        base = {CPU: str(self.cpus.value), MEMORY: self.memory.value, EPHEMERAL_STORAGE: self.storage.value}
        return base | devices

    def limits(self) -> dict[str, str]:
        """Return the container's limits: its requests, but no limit of CPUs for a pod that nothing may tie down."""
        return {name: amount for name, amount in self.requests().items() if not (self.untied and name == "cpu")}

    def facts(self) -> Iterator[tuple[str, Sized[Any]]]:
        """Yield every value by its name, for `explain`."""
        for name in ("nodes", "processes", "gpus", "cpus", "memory", "shared_memory", "storage"):
            yield name, getattr(self, name)
        yield from self.devices.items()
        yield from self.env.items()


@dataclass(frozen=True, slots=True)
class Slices:
    """Equal parts of a role's pods, each within one domain of a level."""

    label: str
    """Node label of the level."""
    nodes: int
    """Of a domain."""
    pool: int
    """Nodes of the pool, which fill one domain after the other."""

    def size(self, pods: int) -> int:
        """Return how many pods a slice has, each on a node of its own: as many as divide them and find room.

        Kueue takes slices of one size only, and none that is larger than its pod set (v0.19.2
        pkg/controller/jobframework/tas_validation.go); what a domain holds beside its slices stays empty.
        """
        full, rest = divmod(self.pool, self.nodes)
        sizes = (size for size in range(1, self.nodes + 1) if pods % size == 0)
        return max((size for size in sizes if full * (self.nodes // size) + rest // size >= pods // size), default=1)


@dataclass(frozen=True, slots=True)
class Closeness:
    """How close together Kueue places the pods of a role: a topology level's node label."""

    mode: str
    """`required` or `preferred`."""
    label: str

    slices: Slices | None = None
    """The parts that must each be within a domain, where not all pods are."""

    def annotations(self, pods: int) -> dict[str, str]:
        """Return the annotations by which so many pods of a role ask for it.

        kueue v0.19.2 apis/kueue/v1beta2/topology_types.go.
        """
        found = {f"kueue.x-k8s.io/podset-{self.mode}-topology": self.label}
        if self.slices is not None:
            found["kueue.x-k8s.io/podset-slice-required-topology"] = self.slices.label
            found["kueue.x-k8s.io/podset-slice-size"] = str(self.slices.size(pods))
        return found


@dataclass(frozen=True, slots=True)
class Sizing:
    """What all pods of a run ask for; the first role is `worker`."""

    roles: tuple[RoleSize, ...]
    grace: Sized[int]
    """Seconds between SIGTERM and SIGKILL."""
    restarts: Sized[int]
    """How often the gang may be started again."""
    deadline: Sized[int] | None
    """Seconds that the run may take, time in the queue not counted."""
    topology: Sized[Closeness] | None

    def role(self, name: str) -> RoleSize:
        """Return the role of that name; raises KeyError if the job has none."""
        return {role.name: role for role in self.roles}[name]

    @property
    def worker(self) -> RoleSize:
        """The role that trains."""
        return self.roles[0]

    @property
    def deadline_seconds(self) -> int | None:
        """The deadline without its origin."""
        return self.deadline.value if self.deadline else None

    @property
    def pods(self) -> int:
        """All pods of the run."""
        return sum(role.nodes.value for role in self.roles)

    def facts(self) -> Iterator[tuple[str, Sized[Any]]]:
        """Yield every value by its name, for `explain`."""
        for role in self.roles:
            yield from ((f"{role.name}.{name}", sized) for name, sized in role.facts())
        yield "grace_seconds", self.grace
        yield "restarts", self.restarts
        if self.deadline is not None:
            yield "deadline_seconds", self.deadline
        if self.topology is not None:
            yield "topology", self.topology
