"""Whether one pod can run on any of a job's pools, of which Kueue takes one as it admits the job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from trainyard.base.findings import Finding, Severity
from trainyard.base.manifests import value_at
from trainyard.base.pools import selected_pools
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import JOB, RESOLVED, RUN, OneJob, Planned
from trainyard.render.kinds import Resolved, build, resolve
from trainyard.render.sizing import Sized
from trainyard.specs import Cluster, Job, Pool
from trainyard.specs.run import Run, left_out, pools_of, vendor_of
from trainyard.upstream.pods.pod import Pod
from trainyard.upstream.workloads import carrier_of, pod_sets_of

KUEUE = "kubernetes-sigs/kueue v0.19.2 pkg/scheduler/flavorassigner/flavorassigner.go"

DIFFER = Rule(
    id="run/pools-differ",
    title="All pools of a job take the same pod.",
    why="the pods are written before Kueue takes a pool, so what one of the pools needs must suit all of them",
    fix="name pools that agree, or write a job for each",
    source=KUEUE,
    layer="run",
)
TOGETHER = Rule(
    id="run/pools-apart",
    title="All ranks of a job with several pools are in one pod set.",
    why="Kueue takes a pool for each pod set by itself, so ranks could run on GPUs of two kinds",
    fix="use a kind with one pod set for all ranks, such as JobSet, or one pool",
    source=KUEUE,
    layer="run",
)
KUEUE_ONLY = Rule(
    id="run/pools-scheduler",
    title="A job with several pools is in a queue of Kueue.",
    why="Volcano takes no pool for a whole job, so its pods would be spread over all of them",
    fix="name one pool, or use a queue of Kueue",
    source="volcano-sh/volcano v1.14.1 pkg/scheduler/plugins/predicates",
    layer="run",
)
GPU_MEMORY = Rule(
    id="spec/gpu-memory",
    title="Some pool of the queue has GPUs with the memory that a job asks for.",
    why="no flavor of the queue would match the job, so it would never be admitted",
    fix="lower gpuMemory, or use another queue",
    source="docs/jobs.md",
)

VENDORS = Rule(
    id="run/gpu-vendors",
    title="The pools that gpuMemory chooses have GPUs of one vendor.",
    why="a pod asks for GPUs of one vendor, and an image has the software for one as a rule",
    fix="say cuda or rocm of the image, or name the pools",
    source="docs/jobs.md",
    layer="run",
)
NEAR = Rule(
    id="spec/gpu-memory-near",
    title="The unit of gpuMemory leaves out no pool.",
    why="GPUs sold with 80 GB may have less than 80Gi, as an H100 has, so their pool is not taken",
    fix="write decimal units as GPUs are sold: 80G; or name the pools",
    source="NVIDIA H100 80GB HBM3: nvidia-smi shows 81559 MiB; shapes of this release",
    severity=Severity.WARNING,
)

LONGEST = 40
"""Characters of a value in a message."""

CAPACITY = frozenset({"spec/nodes", "kq-max-quota", "tas-domain-size"})
"""Rules on pools that are too small: of those that gpuMemory chooses, Kueue passes over them."""


def merge(run: Run, found: Sequence[Sequence[Finding]]) -> list[Finding]:
    """Return the findings of a run on each of its pools, each once.

    Where `gpuMemory` chose the pools, one that is too small counts only if all of them are.
    """
    every = dict.fromkeys(finding for findings in found for finding in findings)
    small = [any(finding.rule in CAPACITY for finding in findings) for findings in found]
    passed_over = run.job.gpu_memory is not None and not all(small)
    return [finding for finding in every if not (passed_over and finding.rule in CAPACITY)]


@JOB.check()
def check_memory(job: OneJob) -> Iterator[Finding]:
    """Yield a memory of GPUs that no pool of the queue has."""
    spec, cluster = job.file.job, job.cluster
    if spec.gpu_memory is None or cluster is None or spec.queue not in cluster.queues or pools_of(spec, cluster):
        return
    if others := left_out(spec, cluster):
        message = (
            f"image has software for {' and '.join(sorted(spec.gpu_vendors))}, but pool {others[0]!r} has other GPUs"
        )
        yield GPU_MEMORY.at(job.file.source, ("gpuMemory",), f"{message}; use an image for them, or another queue")
        return
    pools = {name: pool for name in cluster.queues[spec.queue].nominal_quota if (pool := cluster.pools.get(name))}
    message = (
        f"no pool of queue {spec.queue!r} has {spec.min_nodes or spec.nodes} nodes with {spec.gpus_per_node} GPUs of "
        f"{spec.gpu_memory}; {memories(pools)}"
    )
    yield GPU_MEMORY.at(job.file.source, ("gpuMemory",), message)


@JOB.check()
def check_vendors(job: OneJob) -> Iterator[Finding]:
    """Yield GPUs of several vendors among which `gpuMemory` leaves the choice."""
    spec, cluster = job.file.job, job.cluster
    if spec.gpu_memory is None or cluster is None:
        return
    pools = by_vendor(spec, cluster)
    if len(pools) > 1:
        (one, first), (other, second), *_ = pools.items()
        message = (
            f"gpuMemory chooses pools {first!r} ({one}) and {second!r} ({other}); "
            "say cuda or rocm of the image, or name pools"
        )
        yield VENDORS.at(job.file.source, ("gpuMemory",), message)


def by_vendor(job: Job, cluster: Cluster) -> dict[str, str]:
    """Return for each vendor of GPUs the first of a job's pools that has them."""
    found: dict[str, str] = {}
    for name in pools_of(job, cluster):
        if (pool := cluster.pools.get(name)) is not None and (vendor := vendor_of(pool)) is not None:
            found.setdefault(vendor, name)
    return found


@JOB.check()
def check_near(job: OneJob) -> Iterator[Finding]:
    """Yield pools of the queue whose GPUs have the memory in GB, but not in Gi."""
    spec, cluster = job.file.job, job.cluster
    if spec.gpu_memory is None or not spec.gpu_memory.endswith("i") or cluster is None:
        return
    wanted, decimal = pools_of(spec, cluster), spec.model_copy(update={"gpu_memory": spec.gpu_memory[:-1]})
    for name in [name for name in pools_of(decimal, cluster) if name not in wanted]:
        gpus = cluster.pools[name].node.gpus
        has = gpus.memory if gpus else "none"
        message = f"gpuMemory is {spec.gpu_memory}, but GPUs of pool {name!r} have {has}; write {decimal.gpu_memory}"
        yield NEAR.at(job.file.source, ("gpuMemory",), message)


def memories(pools: Mapping[str, Pool]) -> str:
    """Return in words the memory of the GPUs of pools."""
    found = [f"{name!r} has {pool.node.gpus.memory}" for name, pool in pools.items() if pool.node.gpus]
    return f"pool {', '.join(found)}" if found else "its pools have no GPUs"


@RUN.check()
def check_scheduler(planned: Planned) -> Iterator[Finding]:
    """Yield several pools of a job that Volcano starts."""
    run = planned.run
    if len(run.pools) > 1 and planned.kind.admitted_by(run.cluster) != "kueue":
        message = f"kind {run.kind} is started by Volcano, which takes no pool of {words(run)}; name one pool"
        yield KUEUE_ONLY.at(run.source, field(run), message)


@RESOLVED.check()
def check_pod_sets(run: Resolved) -> Iterator[Finding]:
    """Yield GPUs in several pod sets, for each of which Kueue takes a pool by itself."""
    if len(run.run.pools) == 1:
        return
    values = [resource.value() for resource in build(run)]
    trained = [value for value in values if (row := carrier_of(value)) is not None and row.trains]
    found = [(pods.name, value_at(pod, ("spec",))) for value in trained for pods, pod in pod_sets_of(value, values)]
    devices = run.sizing.worker.devices.keys()
    selectors = run.run.cluster.selectors
    apart = [
        name for name, spec in found if len(selected_pools(spec, selectors)) > 1 and devices & Pod.of(spec).asked.keys()
    ]
    if len(apart) > 1:
        message = (
            f"kind {run.run.kind} has GPUs in pod sets {' and '.join(apart)}, whose pools may differ; name one pool"
        )
        yield TOGETHER.at(run.run.source, field(run.run), message)


@RESOLVED.check()
def check_pods(run: Resolved) -> Iterator[Finding]:
    """Yield the first thing in which pods for each further pool differ from those for the first."""
    names = run.run.pools
    if len(names) == 1 or (run.run.job.gpu_memory and len(by_vendor(run.run.job, run.run.cluster)) > 1):
        return
    first, *others = (resolve(on_pool) for on_pool in run.run.on_each_pool())
    for other, name in zip(others, names[1:], strict=True):
        if found := difference(first, other):
            message = (
                f"pods need {found.what} {found.here} on pool {names[0]!r}, but {found.there} on {name!r}; "
                "name pools that agree"
            )
            yield DIFFER.at(run.run.source, field(run.run), message)


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that pods need in one form on one pool, and in another form on another."""

    what: str
    here: str
    there: str


def difference(first: Resolved, other: Resolved) -> Difference | None:
    """Return the first thing in which the pods of a run differ on two pools: devices, variables, or any other field."""
    for role, again in zip(first.sizing.roles, other.sizing.roles, strict=True):
        for what, here, there in (
            ("resource", texts(role.devices), texts(again.devices)),
            ("annotation", role.fabric.annotations, again.fabric.annotations),
            ("variable", texts(role.env), texts(again.env)),
        ):
            for name in {**here, **there}:
                if here.get(name) != there.get(name):
                    return Difference(f"{what} {name}", short(here.get(name)), short(there.get(name)))
    objects = ([resource.value() for resource in build(run)] for run in (first, other))
    return unequal_field((), *objects)


def unequal_field(path: tuple[str, ...], here: Any, there: Any) -> Difference | None:
    """Return the first field in which two values differ."""
    if isinstance(here, Mapping) and isinstance(there, Mapping):
        pairs = [(str(key), here.get(key), there.get(key)) for key in {**here, **there}]
    elif isinstance(here, Sequence) and isinstance(there, Sequence) and not isinstance(here, str):
        pairs = [(str(index), *items) for index, items in enumerate(zip_longest(here, there))]
    else:
        return None if here == there else Difference(f"field {'.'.join(path[-3:])}", short(here), short(there))
    found = (unequal_field((*path, name), left, right) for name, left, right in pairs if left != right)
    return next(found, None)


def texts(values: Mapping[str, Sized[Any]]) -> dict[str, str]:
    """Return the values without their origins, as text."""
    return {name: str(sized.value) for name, sized in values.items()}


def short(value: Any) -> str:
    """Return a value for a sentence."""
    text = "none" if value is None else str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def field(run: Run) -> tuple[str, ...]:
    """Return the field by which a job says its pools."""
    return ("pool",) if run.job.gpu_memory is None else ("gpuMemory",)


def words(run: Run) -> str:
    """Return the pools of a run in words."""
    return " or ".join(map(repr, run.pools))
