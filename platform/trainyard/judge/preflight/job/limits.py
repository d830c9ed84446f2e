"""What a job asks for that its pods cannot have, once everything is derived; ids are the catalogue's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved
from trainyard.render.launchers.base import VARIABLES
from trainyard.render.launchers.own_roles import named_variables
from trainyard.render.parts import contract, mounts
from trainyard.render.parts.ceph_buckets import AUTHORITY
from trainyard.render.sizing import RoleSpec
from trainyard.render.sizing.gpus import asked_offer, gpu_resource, offers
from trainyard.render.sizing.machines import available
from trainyard.render.sizing.node import most_cpus_near, numa_nodes, one_numa_node, size, whole_cores
from trainyard.specs import Patch, Pool

OUR_VOLUMES = ("claim-", "fabric-", "files-", mounts.PREFIX)
"""What names of volumes of ours in a pod begin with."""

RESERVED_VOLUMES = frozenset({"shared-memory", "scratch", "files", "launch", AUTHORITY})
"""Other volumes of ours."""

KUBELET = "kubernetes v1.35 pkg/kubelet/cm"

DEVICE = Rule(
    id="gpu-known-resource",
    title="The field gpu names a device that the pool's nodes offer.",
    why="a pod that requests a device that no node offers stays pending for ever",
    fix="use a device of the pool",
    source="NVIDIA/k8s-device-plugin v0.20.0 README.md",
    layer="run",
)
MIG = Rule(
    id="gpu-mig-ddp",
    title="A job on MIG devices has one pod with one device.",
    why="NCCL cannot reach other MIG devices over NVLink or shared memory, so a gang fails or is very slow",
    fix="train on whole GPUs, or set nodes: 1",
    source="NVIDIA MIG user guide r580, application considerations",
    layer="run",
)
SHARED = Rule(
    id="gpu-timeslice-multi",
    title="A job on shared GPUs has one pod with one device.",
    why="two ranks may get the same GPU, which NCCL refuses",
    fix="train on whole GPUs, or set nodes: 1",
    source="NVIDIA/k8s-device-plugin v0.20.0 README.md, shared access",
    layer="run",
)
SHARED_MEMORY = Rule(
    id="gpu-shm-mem",
    title="Shared memory of a pod is smaller than its memory.",
    why="pages of /dev/shm count as the container's memory; a full /dev/shm ends the container (OOMKilled)",
    fix="lower sharedMemory, or raise memoryPerNode",
    source="kubernetes v1.35 pkg/volume/emptydir/empty_dir.go",
    layer="run",
)
PROCESSES = Rule(
    id="tor-nproc",
    title="A pod has at most one process per GPU.",
    why="NCCL refuses two ranks on one device",
    fix="remove processesPerNode",
    source="NCCL 2.30 user guide, ncclInvalidUsage: duplicate GPU",
    layer="run",
)
NAMES = Rule(
    id="run/duplicate-name",
    title="A job's own containers and volumes have unique names.",
    why="the API server refuses two with one name in a pod",
    fix="use another name",
    source="kubernetes v1.35 pkg/apis/core/validation/validation.go",
    layer="run",
)
POLICY = Rule(
    id="numa-policy-fit",
    title="A pod fits the NUMA nodes that the kubelet allows it: those of its GPUs, or a single one.",
    why="otherwise the kubelet refuses it on every node (TopologyAffinityError)",
    fix="use fewer GPUs or CPUs per node, or a pool with another topology manager policy",
    source=f"{KUBELET}/topologymanager/policy.go, policy_restricted.go, policy_single_numa_node.go",
    layer="node",
)
WHOLE_CORES = Rule(
    id="numa-full-pcpus",
    title="CPUs are reserved and requested in whole cores if the kubelet only gives whole cores.",
    why="otherwise the kubelet does not start, or refuses the pod on every node (SMTAlignmentError)",
    fix="use a multiple of the threads per core",
    source=f"{KUBELET}/cpumanager/policy_static.go",
    layer="node",
)


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield findings about what the run's pods ask for."""
    yield from check_parts(run)
    yield from check_memory(run)
    yield from check_processes(run)
    yield from check_names(run)


def check_parts(run: Resolved) -> Iterator[Finding]:
    """Yield parts of GPUs where there are none, and gangs of them: parts cannot talk to each other fast, or at all."""
    job, worker = run.run.job, run.specs[0]
    gpu, gpus, source = job.gpu, worker.pool.node.gpus, run.run.source
    if gpu is None:
        return
    if gpus is None:
        message = f"gpu requests part of a GPU, but pool {worker.pool_name!r} has no GPUs; use another pool"
        yield DEVICE.at(source, ("gpu",), message)
    elif sum(role.nodes for role in run.specs if role.ranks) > 1:
        rule = MIG if gpu.profile else SHARED
        message = f"gpu requests part of a GPU, but nodes is {job.nodes}; use whole GPUs, or set nodes: 1"
        yield rule.at(source, ("gpu",), message)
    elif asked_offer(job, worker.pool) is None:
        wanted, offered = gpu_resource(job, worker.pool), name_resources(worker.pool)
        message = f"gpu requests {wanted!r}, but nodes of pool {worker.pool_name!r} offer {offered}; use one of these"
        yield DEVICE.at(source, ("gpu",), message)
    elif job.fabric == "rdma":
        rule = MIG if gpu.profile else SHARED
        yield rule.at(source, ("fabric",), "fabric is 'rdma', but a job on part of a GPU has one pod; remove fabric")


def name_resources(pool: Pool) -> str:
    """Name the resources that nodes of a pool offer of their GPUs."""
    return ", ".join(repr(name) for name in dict.fromkeys(offer.resource for offer in offers(pool)))


def check_memory(run: Resolved) -> Iterator[Finding]:
    """Yield shared memory that leaves the programs none: its pages count in the container's memory."""
    worker = run.sizing.worker
    if run.run.job.shared_memory is not None and size(worker.shared_memory.value) >= size(worker.memory.value):
        message = (
            f"sharedMemory is {worker.shared_memory.value}, but it must fit in the pod's memory of "
            f"{worker.memory.value}; lower it, or raise memoryPerNode"
        )
        yield SHARED_MEMORY.at(run.run.source, ("sharedMemory",), message)


def check_processes(run: Resolved) -> Iterator[Finding]:
    """Yield more processes than GPUs: NCCL refuses two ranks on one device."""
    processes, gpus = run.run.job.processes_per_node, run.specs[0].gpus
    if processes is not None and 0 < gpus < processes:
        message = f"processesPerNode is {processes}, but a pod has {gpus} GPUs; remove it, or use {gpus}"
        yield PROCESSES.at(run.run.source, ("processesPerNode",), message)


def check_names(run: Resolved) -> Iterator[Finding]:
    """Yield names that the pod has already: containers, volumes and variables of ours beside the job's own."""
    job, source = run.run.job, run.run.source
    own = [("initContainers", index, init_container) for index, init_container in enumerate(job.init_containers)]
    own += [("containers", index, container) for index, container in enumerate(job.containers)]
    volumes = [("volumes", index, volume) for index, volume in enumerate(job.volumes)]
    for reserved, listed in ((frozenset({run.kind.container}), own), (RESERVED_VOLUMES, volumes)):
        taken_names = set(reserved)
        for field, index, container in listed:
            name = container.get("name")
            if not isinstance(name, str):
                continue
            if name in taken_names or (field == "volumes" and name.startswith(OUR_VOLUMES)):
                message = f"{field}[{index}].name is {name!r}, which the pod has already; use another name"
                yield NAMES.at(source, (field, index, "name"), message)
            taken_names.add(name)
    for path, names in named_variables(job):
        for name in sorted(contract.reserved_variables(run.run) & set(names)):
            message = f"{'.'.join(path)} sets {name}, which Trainyard sets itself; remove it"
            yield VARIABLES.at(source, (*path, name), message)
    for place, name in patched_variables(job.patches, ("patches",)):
        if name in contract.reserved_variables(run.run):
            message = f"a patch sets {name}, which Trainyard sets itself; remove it"
            yield VARIABLES.at(source, place, message)


def patched_variables(value: Any, at: Path) -> Iterator[tuple[Path, str]]:
    """Yield the variables that patches set, each with its entry in a list `env`."""
    if isinstance(value, Patch):
        value = {"merge": value.merge}
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, (list, tuple)):
        items = enumerate(value)
    for key, inner in items:
        if at[-1] == "env" and isinstance(inner, Mapping) and isinstance(inner.get("name"), str):
            yield (*at, key), inner["name"]
        else:
            yield from patched_variables(inner, (*at, key))


@RESOLVED.check()
def check_roles(run: Resolved) -> Iterator[Finding]:
    """Yield pods of each role that the kubelet would refuse on every node."""
    for role in run.specs:
        yield from check_numa(run, role)


def check_numa(run: Resolved, role: RoleSpec) -> Iterator[Finding]:
    """Yield pods that the kubelet would refuse on every node: too wide for one NUMA node, or with half a core."""
    pool = role.pool
    gpus = max((len(numa.gpus) for numa in numa_nodes(pool.node)), default=0)
    if one_numa_node(pool) and role.gpus > gpus:
        message = (
            f"gpusPerNode is {role.gpus}, but pool {role.pool_name!r} keeps a pod on one NUMA node, which has {gpus}"
            f"; use {gpus}"
        )
        yield POLICY.at(run.run.source, (*role.path, "gpusPerNode"), message)
        return
    near = most_cpus_near(pool, role.gpus)
    if role.cpus is not None and near is not None and near < role.cpus <= available(pool).cpus:
        where = "its GPUs' NUMA nodes, which have" if role.gpus else "one NUMA node, which has"
        message = f"cpusPerNode is {role.cpus}, but pool {role.pool_name!r} keeps a pod on {where} {near}; lower it"
        yield POLICY.at(run.run.source, (*role.path, "cpusPerNode"), message)
    threads = pool.node.threads_per_core
    if whole_cores(pool) and role.cpus is not None and role.cpus % threads:
        message = (
            f"cpusPerNode is {role.cpus}, but pool {role.pool_name!r} gives whole cores of {threads} CPUs; use "
            f"{role.cpus + threads - role.cpus % threads}"
        )
        yield WHOLE_CORES.at(run.run.source, (*role.path, "cpusPerNode"), message)
