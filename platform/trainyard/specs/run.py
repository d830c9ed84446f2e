"""One training run: a job on its cluster, named by a digest of the fields as written."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from trainyard.base.quantities import Quantity
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.images import image_name
from trainyard.specs.models.job import Job
from trainyard.specs.models.pools import Pool
from trainyard.specs.models.team import Team
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

OUTSIDE_DIGEST = frozenset({"waive", "retired", "description", "owner", "renamedFrom", "rehearse"})
"""Fields whose change restarts nothing."""

IN_NAME = 8
"""Characters of a digest in the name of its run: 40 bits, of which ledgers keep all 256 and compare them."""

EACH = "-xxxxx"
"""In whose place a step writes characters of its pipeline's run, of which each starts a training run of its own."""


@dataclass(frozen=True, slots=True)
class Run:
    """A job resolved against its cluster and team, with the kind that carries it."""

    job_name: str
    job: Job
    team_name: str
    team: Team
    cluster_name: str
    cluster: Cluster
    kind: str
    digest: str
    """Of the fields as written, see `digest`."""
    source: Source
    contents: Mapping[str, str] = field(default_factory=dict)
    runtimes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By name, the runtimes among the repository's own objects that a TrainJob of the team may name."""

    sized_on: str = ""
    """Of several pools, the one as if Kueue took it; empty for the first."""

    @property
    def name(self) -> str:
        """Name of the run and of its objects: `<job>-<digest>`, and what stands for each run of a step."""
        return run_name(self.job_name, self.digest) + (EACH if self.job.step else "")

    @property
    def folder(self) -> str:
        """Where it saves in the volume of its checkpoints: the job's name, or the name it had when it began to save."""
        checkpoint = self.job.checkpoint
        return (checkpoint.folder if checkpoint else None) or self.job_name

    @property
    def namespace(self) -> str:
        """The team's namespace on the cluster."""
        return self.cluster.namespace_of(self.team_name)

    @property
    def pools(self) -> tuple[str, ...]:
        """The pools of which Kueue takes one for the workers, in its order."""
        return pools_of(self.job, self.cluster)

    @property
    def pool_name(self) -> str:
        """The pool that this run is looked at on: its one pool, or one of several."""
        return self.sized_on or self.pools[0]

    @property
    def pool(self) -> Pool:
        """The pool that the workers run on."""
        return self.cluster.pools[self.pool_name]

    def on_each_pool(self) -> tuple[Run, ...]:
        """Return the run as it would be on each of its pools."""
        return (self,) if len(self.pools) == 1 else tuple(replace(self, sized_on=name) for name in self.pools)


def pools_of(job: Job, cluster: Cluster) -> tuple[str, ...]:
    """Return the pools that a job may run on, in the order in which Kueue tries them: that of its queue's quota.

    kueue v0.19.2 pkg/scheduler/flavorassigner/flavorassigner.go findFlavorForPodSets. `gpuMemory` chooses the pools of
    the queue that have as much, as many nodes and GPUs as the job asks for, and no spot nodes unless the job says so;
    where the job says the GPU software of its image, only GPUs that it is for.
    """
    if isinstance(job.pool, str):
        return (job.pool,)
    queue = cluster.queues.get(job.queue)
    order = [*queue.nominal_quota] if queue else [*cluster.pools]
    if job.gpu_memory is None:
        return tuple(sorted(job.named_pools, key=lambda name: order.index(name) if name in order else len(order)))
    return tuple(name for name in order if name in cluster.pools and is_chosen(job, cluster.pools[name]))


def is_chosen(job: Job, pool: Pool) -> bool:
    """Say whether `gpuMemory` takes a pool: it has what the job wants, and GPUs for which its image has software."""
    return suits(job, pool) and (not job.gpu_vendors or vendor_of(pool) in job.gpu_vendors)


def left_out(job: Job, cluster: Cluster) -> tuple[str, ...]:
    """Return the pools of a job's queue that `gpuMemory` would take, but for the GPUs that its image is for."""
    queue = cluster.queues.get(job.queue)
    if job.gpu_memory is None or queue is None:
        return ()
    there = {name: pool for name in queue.nominal_quota if (pool := cluster.pools.get(name)) is not None}
    return tuple(name for name, pool in there.items() if suits(job, pool) and not is_chosen(job, pool))


def vendor_of(pool: Pool) -> str | None:
    """Return the vendor of a pool's GPUs; None where nodes have none."""
    return pool.node.gpus.vendor if pool.node.gpus is not None else None


def suits(job: Job, pool: Pool) -> bool:
    """Say whether nodes of a pool have whole GPUs with the memory that a job wants, and enough of them."""
    if not is_known_shape(pool.shape) or pool.mig is not None or pool.sharing is not None or (pool.spot > job.spot):
        return False
    gpus, wanted = pool.node.gpus, Quantity.parse(job.gpu_memory or "0")
    enough = gpus is not None and gpus.count >= job.gpus_per_node and pool.nodes >= (job.min_nodes or job.nodes)
    return enough and gpus is not None and Quantity.parse(gpus.memory).amount >= wanted.amount


def digest(job: Job, contents: Mapping[str, str]) -> str:
    """Return lower-case base-32 characters of SHA-256 over the fields as written and the files' bytes.

    No defaults are filled in, so that a new field with a default changes no digest; key order, comments and the
    spelling of quantities do not count.
    """
    fields = restarting_fields(written_fields(job))
    files = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in contents.items()}
    body = {"job": fields, "files": files} if files else {"job": fields}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return base64.b32encode(hashlib.sha256(text.encode()).digest()).decode().lower().rstrip("=")


def restarting_fields(written: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a job whose change restarts it; of its image the name, whatever else is said of it."""
    fields = {name: value for name, value in written.items() if name not in OUTSIDE_DIGEST}
    return {**fields, "image": image_name(fields["image"])} if "image" in fields else fields


def run_name(job: str, digest: str) -> str:
    """Return the name of the run of a job's spec: `<job>-<beginning of the digest>`."""
    return f"{job}-{digest[:IN_NAME]}"


def written_fields(value: Any) -> Any:
    """Return the fields that were set, by their names in YAML, with quantities in canonical form."""
    if isinstance(value, (str, int, float)):
        return value
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        pairs = (
            (fields[name].alias or name, getattr(value, name)) for name in fields if name in value.model_fields_set
        )
        return {key: written_fields(item) for key, item in pairs if item is not None}
    if isinstance(value, Mapping):
        return {str(key): quantities(item) if key in RESOURCES else written_fields(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [written_fields(item) for item in value]
    return value


RESOURCES = frozenset({"limits", "requests", "overhead"})


def quantities(value: Any) -> Any:
    """Canonicalise the quantities of a resource list in a free-form container."""
    if not isinstance(value, Mapping):
        return written_fields(value)
    return {key: canonical(item) for key, item in value.items()}


def canonical(value: Any) -> Any:
    """Return the canonical text of a quantity, or the value itself where it is none."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return written_fields(value)
    try:
        return Quantity.parse(str(value)).canonical()
    except ValueError:
        return value
