"""A training job as a researcher writes it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    WithJsonSchema,
    model_validator,
)

from trainyard.base.labels import GIVE_DEVICES, GIVE_NETWORKS, OURS, is_of
from trainyard.base.limits import CONTAINERS, LABELS, PATCHES, ROLES, VOLUMES
from trainyard.specs.models.base import (
    Amount,
    Bytes,
    Count,
    Form,
    Image,
    MountPath,
    Name,
    Reason,
    RelativePath,
    Room,
    Spec,
    Text,
    VariableName,
    VariableValue,
    Waive,
    validation_error,
)
from trainyard.specs.models.bounds import few
from trainyard.specs.models.disks import Scratched
from trainyard.specs.models.gpus import Profile
from trainyard.specs.models.mounts import EnvFrom, Mount
from trainyard.specs.models.roles import Array, Role
from trainyard.specs.models.start import Command, Module, Program

RESERVED_PREFIXES = ("kueue.x-k8s.io", "argoproj.io", "kubernetes.io", "k8s.io", OURS)
"""Label and annotation groups that a job may not write: controllers and Trainyard own them."""


def own_key(key: str) -> str:
    """Refuse a label or annotation whose key belongs to a controller or to Trainyard."""
    group = key.rpartition("/")[0]
    if any(group == prefix or group.endswith("." + prefix) for prefix in RESERVED_PREFIXES):
        raise validation_error("reserved-key", "is set by controllers or by Trainyard; remove it")
    if is_of(key, (*GIVE_DEVICES, *GIVE_NETWORKS)):
        raise validation_error("reserved-key", "gives pods devices or networks of their node; ask for them by fabric")
    return key


def hours(value: Any) -> float:
    """Return a number of hours, whole or not."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise validation_error("type", "should be a number of hours")
    return float(value)


JobName = Annotated[
    StrictStr, Form(r"[a-z](?:[-a-z0-9]*[a-z0-9])?", "a letter, then letters, digits and inner '-'", 30)
]
JobRef = Annotated[StrictStr, Form(r"(?:[a-z0-9][-a-z0-9]*/)?[a-z][-a-z0-9]*", "team/job")]
SecretRef = Annotated[StrictStr, Form(r"[a-z0-9]([-.a-z0-9]*[a-z0-9])?/[-._a-zA-Z0-9]+", "secret/key, never the value")]
OwnLabels = Annotated[dict[Annotated[StrictStr, AfterValidator(own_key)], StrictStr], Field(max_length=LABELS)]
LONGEST = 100_000
"""Hours of the longest run, eleven years: its seconds are a number of 32 bits to Kueue (v0.19.2 max-exec-time)."""

SHORTEST = 0.02
"""Hours of the shortest, a good minute: what is less is over before an image is there, or no second at all."""

MOST_RESTARTS = 10_000
"""Kinds that restart pods one by one count a restart a pod, in a number of 32 bits."""

Hours = Annotated[
    float,
    BeforeValidator(hours),
    Field(ge=SHORTEST, le=LONGEST),
    WithJsonSchema({"type": "number", "minimum": SHORTEST, "maximum": LONGEST}),
]
Restarts = Annotated[StrictInt, Field(ge=0, le=MOST_RESTARTS)]


class Gpu(Spec):
    """A part of a GPU instead of whole ones."""

    profile: Profile | None = None
    """MIG profile, such as `1g.10gb`."""
    shared: StrictBool = False
    """Time-sliced or MPS replica."""

    @model_validator(mode="after")
    def one_way(self) -> Gpu:
        """Refuse a part that is both of MIG and shared, or neither."""
        if (self.profile is None) == (not self.shared):
            raise validation_error("one-of", "should have exactly one of: profile, shared: true")
        return self


class Topology(Spec):
    """How close together the pods must (`required`) or should (`preferred`) be: a level of the cluster's topology."""

    required: Name | None = None
    """All pods in one domain of this level, or the run waits."""
    preferred: Name | None = None
    """In as few domains of this level as there is room for."""

    @model_validator(mode="after")
    def one_mode(self) -> Topology:
        """Refuse both, as Kueue does on one pod set (v0.19.2 pkg/controller/jobframework/tas_validation.go)."""
        if (self.required is None) == (self.preferred is None):
            raise validation_error("one-of", "should have exactly one of: required, preferred")
        return self

    @property
    def level(self) -> str:
        """The level that is asked for."""
        return self.required or self.preferred or ""


class Checkpoint(Spec):
    """Where the run saves its state, how often and how much: in a folder of the volume, the same for all its runs."""

    volume: Name
    """A volume of the team."""
    mount_path: MountPath = "/checkpoints"
    """Where it stands in the container; the program gets it as CHECKPOINT_DIR."""
    every_minutes: Count = 30
    """Minutes between two checkpoints; the program gets them as CHECKPOINT_EVERY_MINUTES."""
    size: Bytes
    """Bytes of one checkpoint, all shards together."""
    keep: Count = 3
    """How many checkpoints stay; the program gets it as CHECKPOINT_KEEP."""
    folder: JobName | None = None
    """The folder in the volume; default: the job's name. A job that is renamed keeps its folder by this."""


class Dataset(Spec):
    """A volume of the team that the run reads."""

    volume: Name
    """A volume of the team."""
    mount_path: MountPath
    """Where it stands in the container."""
    read_only: StrictBool = True
    """False where the run writes to it."""
    sub_path: RelativePath | None = None
    """A folder of the volume instead of all of it."""


class File(Spec):
    """A small file from beside the job file; it becomes a ConfigMap and part of the run's digest."""

    source: RelativePath
    """Path from the job file's folder; at most 1 MiB for all files of a job, UTF-8."""
    mount_path: MountPath
    """The folder in the container; the file keeps its name."""


class Patch(Spec):
    """The way out of everything derived: a strategic merge into one object of the run; null removes."""

    object: Text
    """Kind of the object."""
    role: Name | None = None
    """The role whose pods it changes; default: all of the object."""
    merge: dict[str, Any]
    """What to merge, from the object's root."""
    reason: Reason
    """Why; plan and report show it."""


class Job(Spec):
    """One training job; everything that follows from it and the cluster is derived, see `trainyard explain`."""

    cluster: Name
    """Where it runs: a file of platform/clusters."""
    launcher: Name
    """How the processes start."""
    kind: Text | None = None
    """Which API object carries them; default: JobSet, or what on the cluster gives what the launcher needs."""
    runtime: Name | None = None
    """With kind TrainJob: a runtime of the cluster among `platform/extra`, in place of the run's own."""
    image: Image
    """By digest: `registry/path@sha256:…`."""
    program: Program | None = None
    """Path of the script in the image, without python or torchrun in front."""
    module: Module | None = None
    """A Python module, instead of `program`."""
    command: Command | None = None
    """Any executable, instead of `program`, with its first arguments; it is started as it is, without a shell."""
    args: tuple[VariableValue, ...] = ()
    """Arguments of the program or command; whole numbers may be bare, everything else is text."""
    working_dir: MountPath | None = None
    """Default: the image's."""
    processes_per_node: Count | None = None
    """Default: one a GPU, or one."""

    pool: Name
    """A node pool of the cluster."""
    nodes: Count = 1
    """How many pods of workers."""
    gpus_per_node: Amount = 0
    """Whole GPUs of each pod."""
    cpus_per_node: Count | None = None
    """Whole CPUs; default: the node's, less daemons, times the share of its GPUs."""
    memory_per_node: Room | None = None
    """Bytes; default as for CPUs."""
    shared_memory: Room | None = None
    """Size limit of `/dev/shm`, counted in the memory."""
    scratch: Scratched | None = None
    """Local disk at `/scratch`, new for each pod: a size, or `{size, medium: nvme}` on the pool's `localDisks`."""
    gpu: Gpu | None = None
    """A part of a GPU for each pod, instead of gpusPerNode."""
    roles: Annotated[dict[Name, Role], Field(max_length=ROLES)] = {}
    """Pods beside the workers, by the names that the launcher knows."""

    queue: Name
    """A queue of the cluster that admits the team."""
    priority: Name | None = None
    """A priority of the cluster; default: Kueue's zero."""
    topology: Topology | None = None
    """How close together the pods run; default: anywhere in the pool."""
    fabric: Literal["rdma", "tcp"] = "tcp"
    """The network between ranks: NICs of the training fabric, or the cluster's own."""

    env: dict[VariableName, VariableValue] = {}
    """`NAME: value`; whole numbers may be bare."""
    secrets: dict[VariableName, SecretRef] = {}
    """`NAME: secret/key`; the value never stands in Git."""
    env_from: Annotated[tuple[EnvFrom, ...], Field(max_length=VOLUMES)] = ()
    """All keys of Secrets and ConfigMaps as variables; those that are set by name go before."""
    mounts: Annotated[tuple[Mount, ...], Field(max_length=VOLUMES)] = ()
    """Secrets, ConfigMaps, tokens and the job's `volumes` as files in the training container."""
    checkpoint: Checkpoint | None = None
    """Where, how often and how much the run saves."""
    data: Annotated[tuple[Dataset, ...], Field(max_length=VOLUMES)] = ()
    """Volumes of the team that it reads."""
    files: Annotated[tuple[File, ...], Field(max_length=VOLUMES)] = ()
    """Small files beside the job file that it reads."""

    min_nodes: Count | None = None
    """Elastic lower bound."""
    max_nodes: Count | None = None
    """Elastic upper bound, beside `minNodes`; default: `nodes`, with which the run begins."""
    array: Array | None = None
    """Independent indices instead of one gang."""
    after: tuple[JobRef, ...] = ()
    """Jobs that have to end well before this one begins, each `team/job` or a job of the same team; a job that says it,
    if only `[]`, is a step of a pipeline, and Argo CD does not start it."""
    spot: StrictBool = False
    """May run on nodes that are taken away at short notice."""
    restarts: Restarts | None = None
    """How often the whole gang may be started again; default: three, and twice the nodes that it is likely to lose."""
    max_hours: Hours | None = None
    """Deadline of the run, in hours."""
    grace_seconds: Count | None = None
    """Termination grace; default: what a checkpoint takes, at least 30."""

    containers: Annotated[tuple[dict[str, Any], ...], Field(max_length=CONTAINERS), AfterValidator(few)] = ()
    """Kubernetes containers beside the training one, as sidecars that end with it; their resources count."""
    init_containers: Annotated[tuple[dict[str, Any], ...], Field(max_length=CONTAINERS), AfterValidator(few)] = ()
    """Kubernetes init containers, which end before training begins; their resources count."""
    volumes: Annotated[tuple[dict[str, Any], ...], Field(max_length=VOLUMES), AfterValidator(few)] = ()
    """Kubernetes volumes, for those containers and for `mounts`."""
    run_as_user: Amount | None = None
    """Number of the user that the program is; default: the team's, or 1000."""
    run_as_group: Amount | None = None
    """Number of its group, which owns what it writes on shared volumes; default: the team's, or the user's number."""
    supplemental_groups: tuple[Amount, ...] = ()
    """More groups of the user, such as those that own data sets on a shared file system; default: the team's."""
    service_account: Name | None = None
    """A service account that the team lists; default: none, without a token."""
    image_pull_secrets: tuple[Name, ...] = ()
    """Secrets of the team for the registry."""
    labels: OwnLabels = {}
    """On every object and pod of the run."""
    annotations: OwnLabels = {}
    """On every object and pod of the run."""
    patches: Annotated[tuple[Patch, ...], Field(max_length=PATCHES), AfterValidator(few)] = ()
    """The way out of everything derived."""

    run: Count | None = None
    """Raise it to run the same spec again."""
    renamed_from: JobName | None = None
    """The job's name before, as `trainyard rename` writes it: its run of that name ends, one of this name begins."""
    retired: StrictBool = False
    """`true` stops the run; the file stays."""
    waive: Waive = {}
    """Findings that are accepted, each `rule: reason`."""
    description: StrictStr | None = None
    """Words for people."""
    owner: StrictStr | None = None
    """Who answers for the job."""

    @property
    def step(self) -> bool:
        """Whether a pipeline starts it, and not Argo CD."""
        return "after" in self.model_fields_set

    @model_validator(mode="after")
    def one_start(self) -> Job:
        """Refuse a job that starts several of a program, a module and a command, or none."""
        if sum(start is not None for start in (self.program, self.module, self.command)) != 1:
            raise validation_error("one-of", "should have exactly one of: program, module, command")
        return self
