"""A training job as a researcher writes it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    Tag,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticKnownError

from trainyard.base.labels import GIVE_DEVICES, GIVE_NETWORKS, OURS, is_of
from trainyard.base.limits import CONTAINERS, LABELS, PATCHES, ROLES, VOLUMES
from trainyard.specs.models.base import (
    Amount,
    Bytes,
    Count,
    Form,
    MountPath,
    Name,
    Reason,
    RelativePath,
    Room,
    Spec,
    Speed,
    Text,
    VariableName,
    VariableValue,
    Waive,
    named_once,
    validation_error,
)
from trainyard.specs.models.bounds import few
from trainyard.specs.models.buckets import BucketUse
from trainyard.specs.models.check import Check
from trainyard.specs.models.disks import Scratched
from trainyard.specs.models.gpus import Profile
from trainyard.specs.models.images import AnyImage, ImageWithSoftware, image_name
from trainyard.specs.models.mounts import EnvFrom, Mount
from trainyard.specs.models.roles import Array, Role
from trainyard.specs.models.stage import Staged
from trainyard.specs.models.start import Command, Module, Program
from trainyard.specs.models.tracking import Tracker

RESERVED_PREFIXES = ("kueue.x-k8s.io", "argoproj.io", "kubernetes.io", "k8s.io", OURS)
"""Label and annotation groups that a job may not write: controllers and Trainyard own them."""


def own_key(key: str) -> str:
    """Refuse a label or annotation whose key belongs to a controller or to Trainyard."""
    group = key.rpartition("/")[0]
    if any(group == prefix or group.endswith("." + prefix) for prefix in RESERVED_PREFIXES):
        raise validation_error("reserved-key", "is set by controllers or by Trainyard; remove it")
    if is_of(key, (*GIVE_DEVICES, *GIVE_NETWORKS)):
        raise validation_error("reserved-key", "gives pods devices or networks of their node; use fabric instead")
    return key


def hours(value: Any) -> float:
    """Return a number of hours, whole or not."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise validation_error("type", "must be a number of hours")
    return float(value)


def placed(value: Any, info: ValidationInfo) -> Any:
    """Refuse a job that says neither its pool nor the memory of its GPUs."""
    if value is None and info.data.get("gpu_memory", ...) is None:
        raise PydanticKnownError("missing")
    return value


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
Pools = Annotated[
    Annotated[Name, Tag("one pool")]
    | Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(named_once), Tag("several pools")],
    Discriminator(lambda value: "several pools" if isinstance(value, (list, tuple)) else "one pool"),
]
Restarts = Annotated[StrictInt, Field(ge=0, le=MOST_RESTARTS)]


class Gpu(Spec):
    """A part of a GPU for each pod."""

    profile: Profile | None = None
    """MIG profile, such as `1g.10gb`."""
    shared: StrictBool = False
    """Whether each pod gets a time-sliced or MPS replica of a GPU."""

    @model_validator(mode="after")
    def one_way(self) -> Gpu:
        """Refuse a part that is both of MIG and shared, or neither."""
        if (self.profile is None) == (not self.shared):
            raise validation_error("one-of", "must have exactly one of: profile, shared: true")
        return self


class Topology(Spec):
    """A level of the cluster's topology in which the pods must (`required`) or should (`preferred`) be together."""

    required: Name | None = None
    """All pods run in one domain of this level; the run waits until one is free."""
    preferred: Name | None = None
    """The pods run in as few domains of this level as possible."""

    @model_validator(mode="after")
    def one_mode(self) -> Topology:
        """Refuse both, as Kueue does on one pod set (v0.19.2 pkg/controller/jobframework/tas_validation.go)."""
        if (self.required is None) == (self.preferred is None):
            raise validation_error("one-of", "must have exactly one of: required, preferred")
        return self

    @property
    def level(self) -> str:
        """The level that is asked for."""
        return self.required or self.preferred or ""


class Flush(Spec):
    """Saving to local disks first; a container on each node copies every finished checkpoint to the volume."""

    marker: RelativePath = ".metadata"
    """File that the program writes last into a checkpoint's folder, on the first node."""
    disk: Room | None = None
    """Bytes of local disk of each pod for checkpoints; default: three times its share of `size`, at least 1Gi."""
    bandwidth: Speed | None = None
    """Bytes per second that each node copies at most; default: no limit."""


class Checkpoint(Spec):
    """Where, how often and how much the run saves; all runs of the job use the same folder."""

    volume: Name
    """A volume of the team."""
    mount_path: MountPath = "/checkpoints"
    """Path of the folder in the container; the program gets it as CHECKPOINT_DIR."""
    every_minutes: Count = 30
    """Minutes between two checkpoints; the program gets the number as CHECKPOINT_EVERY_MINUTES."""
    size: Bytes
    """Bytes of one checkpoint with all shards."""
    keep: Count = 3
    """Number of checkpoints that the program keeps; it gets the number as CHECKPOINT_KEEP."""
    folder: JobName | None = None
    """Folder in the volume; default: the job's name. Set it to keep the folder when the job is renamed."""
    flush: Flush | None = None
    """Save to local disks of the pool first, and copy from there to the volume; `{}` for the defaults."""


class Dataset(Spec):
    """A volume of the team with data for the run."""

    volume: Name
    """A volume of the team."""
    mount_path: MountPath
    """Path of the volume in the container."""
    read_only: StrictBool = True
    """`false` if the run writes to the volume."""
    sub_path: RelativePath | None = None
    """Folder of the volume; default: the whole volume."""
    stage: Staged = None
    """Copy the data to the pool's `localDisks` before training: `{size: 800Gi}`; default: read it from the volume."""


class File(Spec):
    """A small file next to the job file; it becomes a ConfigMap and part of the run's digest."""

    source: RelativePath
    """Path relative to the job file's folder; all files of a job together have at most 1 MiB of UTF-8 text."""
    mount_path: MountPath
    """Folder in the container; the file keeps its name."""


class Patch(Spec):
    """A strategic merge patch of one object of the run; null removes a field."""

    object: Text
    """Kind of the object, such as `JobSet`."""
    role: Name | None = None
    """Role whose pods the patch changes; default: the whole object."""
    merge: dict[str, Any]
    """Fields to merge, from the object's root."""
    reason: Reason
    """Reason for the patch; the plan and the report show it."""


class Job(Spec):
    """One training job; `trainyard explain` shows all values that follow from it and the cluster."""

    cluster: Name
    """Cluster that runs the job: a file in `platform/clusters`."""
    launcher: Name
    """Program that starts the processes."""
    kind: Text | None = None
    """Kind of the API object that runs the pods; default: JobSet, or another kind of the cluster that the launcher
    needs."""
    runtime: Name | None = None
    """For kind TrainJob: a runtime in `platform/extra`, or one that Trainer brings, instead of one that Trainyard
    writes for the run."""
    image: AnyImage
    """Container image by digest: `registry/path@sha256:…`, or `{name: …, cuda: "12.8"}` with the GPU software in it."""
    program: Program | None = None
    """Path of the script in the image, without `python` or `torchrun` before it."""
    module: Module | None = None
    """Python module to run, instead of `program`."""
    command: Command | None = None
    """Executable with its first arguments, instead of `program`; no shell interprets it."""
    args: tuple[VariableValue, ...] = ()
    """Arguments of the program, module or command; quote everything but whole numbers."""
    working_dir: MountPath | None = None
    """Working directory of the program; default: the image's."""
    processes_per_node: Count | None = None
    """Processes in each pod; default: one per GPU, or one without GPUs."""

    gpu_memory: Bytes | None = None
    """Least memory of each GPU in bytes, instead of `pool`: any pool of the queue whose GPUs have as much."""
    pool: Annotated[Pools | None, AfterValidator(placed), Field(validate_default=True)] = None
    """Pool of the cluster's nodes, or a list of pools of which Kueue takes one for all workers, in the order of the
    queue's `nominalQuota`."""
    nodes: Count = 1
    """Number of worker pods, each on a node or a part of one."""
    gpus_per_node: Amount = 0
    """Whole GPUs of each pod."""
    cpus_per_node: Count | None = None
    """Whole CPUs of each pod; default: the CPUs that daemons leave on a node, in proportion to the GPUs used."""
    memory_per_node: Room | None = None
    """Memory of each pod in bytes; default: the memory that daemons leave on a node, in proportion to the GPUs used."""
    shared_memory: Room | None = None
    """Size limit of `/dev/shm` in bytes, counted in the memory; default: 8Gi per process, at most a quarter of the
    memory."""
    scratch: Scratched | None = None
    """Local disk at `/scratch`, empty for each new pod: a size, or `{size, medium: nvme}` for the pool's
    `localDisks`."""
    gpu: Gpu | None = None
    """Part of a GPU for each pod, instead of `gpusPerNode`."""
    roles: Annotated[dict[Name, Role], Field(max_length=ROLES)] = {}
    """Pods in addition to the workers, by the role names of the launcher."""

    queue: Name
    """Queue of the cluster that admits the team."""
    priority: Name | None = None
    """Priority of the cluster; default: 0, as in Kueue."""
    topology: Topology | None = None
    """How close together the pods run; default: close together if the cluster has racks, else anywhere in the pool."""
    fabric: Literal["rdma", "tcp"] = "tcp"
    """Network between ranks: `rdma`, the NICs of the training fabric; `tcp`, the cluster's network."""

    env: dict[VariableName, VariableValue] = {}
    """Environment variables, each `NAME: value`; quote everything but whole numbers."""
    secrets: dict[VariableName, SecretRef] = {}
    """Environment variables from Secrets, each `NAME: secret/key`; values are never in Git."""
    env_from: Annotated[tuple[EnvFrom, ...], Field(max_length=VOLUMES)] = ()
    """Secrets and ConfigMaps whose keys all become environment variables; variables that are set by name override
    them."""
    mounts: Annotated[tuple[Mount, ...], Field(max_length=VOLUMES)] = ()
    """Secrets, ConfigMaps, tokens and entries of `volumes` as files in the training container."""
    tracking: Annotated[tuple[Tracker, ...], AfterValidator(named_once)] = ()
    """Trackers of the cluster that the program writes to: `mlflow`, `wandb`. It gets their addresses and its names as
    variables."""
    checkpoint: Checkpoint | None = None
    """Where, how often and how much the run saves."""
    data: Annotated[tuple[Dataset, ...], Field(max_length=VOLUMES)] = ()
    """Volumes of the team with data for the run."""
    buckets: Annotated[tuple[BucketUse, ...], Field(max_length=VOLUMES)] = ()
    """Buckets of the cluster that the run uses by its team's identity, each with the variable `BUCKET_<NAME>`."""
    files: Annotated[tuple[File, ...], Field(max_length=VOLUMES)] = ()
    """Small files next to the job file that the run reads."""

    check: Check | None = None
    """Check of the GPUs' network before each start: `{nccl: {}}`."""
    min_nodes: Count | None = None
    """Smallest number of worker pods of an elastic job."""
    max_nodes: Count | None = None
    """Largest number of worker pods of an elastic job; default: `nodes`, the number at the start."""
    array: Array | None = None
    """Independent copies of the program, instead of ranks that work together."""
    after: tuple[JobRef, ...] = ()
    """Jobs that must succeed before this one starts, each `team/job` or a job of the same team. A job with `after`,
    even `[]`, is a step of a pipeline, so Argo CD does not start it."""
    spot: StrictBool = False
    """Whether the job may run on nodes that the provider takes away at short notice."""
    hang_minutes: Count | None = None
    """Minutes without a sign of life from the program after which the kubelet ends the container; the program touches
    the file HEARTBEAT_FILE at every step. Default: no such bound."""
    restarts: Restarts | None = None
    """Number of times that the whole gang may restart; default: 3 plus twice the number of nodes that the run is
    expected to lose."""
    max_hours: Hours | None = None
    """Deadline of the run, in hours; default: none."""
    grace_seconds: Count | None = None
    """Seconds that pods get to end after SIGTERM; default: time for a checkpoint, at least 30."""

    containers: Annotated[tuple[dict[str, Any], ...], Field(max_length=CONTAINERS), AfterValidator(few)] = ()
    """Kubernetes containers beside the training container; they end with it, and their resources count."""
    init_containers: Annotated[tuple[dict[str, Any], ...], Field(max_length=CONTAINERS), AfterValidator(few)] = ()
    """Kubernetes init containers, which end before training starts; their resources count."""
    volumes: Annotated[tuple[dict[str, Any], ...], Field(max_length=VOLUMES), AfterValidator(few)] = ()
    """Kubernetes volumes, for `containers`, `initContainers` and `mounts`."""
    run_as_user: Amount | None = None
    """User ID of the program; default: the team's, or 1000."""
    run_as_group: Amount | None = None
    """Group ID of the program, which owns its files on shared volumes; default: the team's, or the user ID."""
    supplemental_groups: tuple[Amount, ...] = ()
    """Further group IDs, such as those that own data sets on a shared file system; default: the team's."""
    service_account: Name | None = None
    """Service account that the team lists; default: none, and no token."""
    image_pull_secrets: tuple[Name, ...] = ()
    """Secrets of the team with credentials for the registry."""
    labels: OwnLabels = {}
    """Labels of every object and pod of the run."""
    annotations: OwnLabels = {}
    """Annotations of every object and pod of the run."""
    patches: Annotated[tuple[Patch, ...], Field(max_length=PATCHES), AfterValidator(few)] = ()
    """Changes of rendered objects that no other field can make."""

    rehearse: Name | None = None
    """Cluster with `simulated` on which a copy of the job, `<job>-sim`, is queued, runs and ends without training."""
    run: Count | None = None
    """Number to raise when the same spec should run again."""
    renamed_from: JobName | None = None
    """Former name of the job, as `trainyard rename` writes it: its run ends, and a run with the new name starts."""
    retired: StrictBool = False
    """`true` stops the run; keep the file until that is merged."""
    waive: Waive = {}
    """Accepted findings, each `rule: reason`."""
    description: StrictStr | None = None
    """Free text for readers."""
    owner: StrictStr | None = None
    """Person or group responsible for the job."""

    @property
    def image_name(self) -> str:
        """The image as nodes pull it."""
        return str(image_name(self.image))

    @property
    def software(self) -> ImageWithSoftware | None:
        """The image with the GPU software that the job says is in it; None where it names the image alone."""
        return self.image if isinstance(self.image, ImageWithSoftware) else None

    @property
    def gpu_vendors(self) -> frozenset[str]:
        """The vendors of GPUs that the software in the image is for; none where the job does not say."""
        found = self.software
        releases = {"nvidia": found.cuda, "amd": found.rocm} if found else {}
        return frozenset(vendor for vendor, release in releases.items() if release is not None)

    @property
    def named_pools(self) -> tuple[str, ...]:
        """The pools that `pool` names; none where `gpuMemory` stands in its place."""
        return (self.pool,) if isinstance(self.pool, str) else self.pool or ()

    @model_validator(mode="after")
    def one_place(self) -> Job:
        """Refuse a job that says both which pools it runs on and what their GPUs have, or the latter without GPUs."""
        if self.pool is not None and self.gpu_memory is not None:
            raise validation_error("one-of", "must have exactly one of: pool, gpuMemory")
        if self.gpu_memory is not None and (self.gpu is not None or not self.gpus_per_node):
            raise validation_error("one-of", "has gpuMemory, which chooses pools of whole GPUs; set gpusPerNode")
        return self

    @property
    def step(self) -> bool:
        """Whether a pipeline starts it, and not Argo CD."""
        return "after" in self.model_fields_set

    @model_validator(mode="after")
    def one_start(self) -> Job:
        """Refuse a job that starts several of a program, a module and a command, or none."""
        if sum(start is not None for start in (self.program, self.module, self.command)) != 1:
            raise validation_error("one-of", "must have exactly one of: program, module, command")
        return self
