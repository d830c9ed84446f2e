"""What a job asks for that its pods cannot have, once everything is derived; ids are the catalogue's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.documents import Path
from trainyard.findings import Finding
from trainyard.kinds import Resolved
from trainyard.launchers.base import VARIABLES
from trainyard.launchers.own_roles import named
from trainyard.parts import contract, mounts
from trainyard.rules import Rule
from trainyard.sizing import RoleSpec
from trainyard.sizing.gpus import asked, gpu_resource, offers
from trainyard.sizing.machines import available
from trainyard.sizing.node import most_cpus_near, numa_nodes, one_numa_node, size, whole_cores
from trainyard.specs import Patch, Pool

OUR_VOLUMES = ("claim-", "fabric-", "files-", mounts.PREFIX)
"""What names of volumes of ours in a pod begin with."""

RESERVED_VOLUMES = frozenset({"shared-memory", "scratch", "files", "launch"})
"""Other volumes of ours."""

KUBELET = "kubernetes v1.35 pkg/kubelet/cm"

DEVICE = Rule(
    id="gpu-known-resource",
    title="A part of a GPU is asked for by the name under which the pool's nodes offer it.",
    why="a device that no node offers leaves the pod pending for ever",
    fix="ask for a device that the pool has",
    source="NVIDIA/k8s-device-plugin v0.20.0 README.md",
    layer="run",
)
MIG = Rule(
    id="gpu-mig-ddp",
    title="Parts of GPUs by MIG train alone.",
    why="NCCL cannot reach other MIG devices over NVLink or shared memory, so a gang fails or crawls",
    fix="train on whole GPUs, or set nodes: 1",
    source="NVIDIA MIG user guide r580, application considerations",
    layer="run",
)
SHARED = Rule(
    id="gpu-timeslice-multi",
    title="Shared GPUs train alone.",
    why="two ranks of a gang may get one GPU, which NCCL refuses",
    fix="train on whole GPUs, or set nodes: 1",
    source="NVIDIA/k8s-device-plugin v0.20.0 README.md, shared access",
    layer="run",
)
SHARED_MEMORY = Rule(
    id="gpu-shm-mem",
    title="Shared memory leaves the programs memory of their own.",
    why="pages of /dev/shm count in the container's memory; a full one ends the container (OOMKilled)",
    fix="lower sharedMemory, or raise memoryPerNode",
    source="kubernetes v1.35 pkg/volume/emptydir/empty_dir.go",
    layer="run",
)
PROCESSES = Rule(
    id="tor-nproc",
    title="There are no more processes than GPUs in a pod.",
    why="NCCL refuses two ranks on one device",
    fix="remove processesPerNode",
    source="NCCL 2.30 user guide, ncclInvalidUsage: duplicate GPU",
    layer="run",
)
NAMES = Rule(
    id="run/duplicate-name",
    title="A job's own containers and volumes have names of their own.",
    why="the API server refuses two of one name in a pod",
    fix="choose another name",
    source="kubernetes v1.35 pkg/apis/core/validation/validation.go",
    layer="run",
)
POLICY = Rule(
    id="numa-policy-fit",
    title="A pod fits the NUMA nodes on which the kubelet keeps it: those of its GPUs, or one.",
    why="the kubelet refuses the pod on every node (TopologyAffinityError)",
    fix="ask for fewer GPUs or CPUs a node, or a pool with another policy",
    source=f"{KUBELET}/topologymanager/policy.go, policy_restricted.go, policy_single_numa_node.go",
    layer="node",
)
WHOLE_CORES = Rule(
    id="numa-full-pcpus",
    title="CPUs are kept and asked for in whole cores where the kubelet gives only those.",
    why="the kubelet does not start, or refuses the pod on every node (SMTAlignmentError)",
    fix="keep, or ask for, a multiple of the threads of a core",
    source=f"{KUBELET}/cpumanager/policy_static.go",
    layer="node",
)


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
        message = f"gpu asks for a part of a GPU, but pool {worker.pool_name!r} has no GPUs; choose another pool"
        yield DEVICE.at(source, ("gpu",), message)
    elif sum(role.nodes for role in run.specs if role.ranks) > 1:
        rule = MIG if gpu.profile else SHARED
        message = f"gpu asks for a part of a GPU, but nodes is {job.nodes}; train on whole GPUs, or set nodes: 1"
        yield rule.at(source, ("gpu",), message)
    elif asked(job, worker.pool) is None:
        wanted, offered = gpu_resource(job, worker.pool), listed(worker.pool)
        message = f"gpu asks for {wanted!r}, but nodes of pool {worker.pool_name!r} offer {offered}; ask for that"
        yield DEVICE.at(source, ("gpu",), message)
    elif job.fabric == "rdma":
        rule = MIG if gpu.profile else SHARED
        yield rule.at(source, ("fabric",), "fabric is 'rdma', but a part of a GPU trains alone; remove fabric")


def listed(pool: Pool) -> str:
    """Name the resources that nodes of a pool offer of their GPUs."""
    return ", ".join(repr(name) for name in dict.fromkeys(offer.resource for offer in offers(pool)))


def check_memory(run: Resolved) -> Iterator[Finding]:
    """Yield shared memory that leaves the programs none: its pages count in the container's memory."""
    worker = run.sizing.worker
    if run.run.job.shared_memory is not None and size(worker.shared_memory.value) >= size(worker.memory.value):
        message = (
            f"sharedMemory is {worker.shared_memory.value}, but counts in the pod's memory of {worker.memory.value}"
            "; lower it, or raise memoryPerNode"
        )
        yield SHARED_MEMORY.at(run.run.source, ("sharedMemory",), message)


def check_processes(run: Resolved) -> Iterator[Finding]:
    """Yield more processes than GPUs: NCCL refuses two ranks on one device."""
    processes, gpus = run.run.job.processes_per_node, run.specs[0].gpus
    if processes is not None and 0 < gpus < processes:
        message = f"processesPerNode is {processes}, but a pod has {gpus} GPUs; remove it, or set {gpus}"
        yield PROCESSES.at(run.run.source, ("processesPerNode",), message)


def check_names(run: Resolved) -> Iterator[Finding]:
    """Yield names that the pod has already: containers, volumes and variables of ours beside the job's own."""
    job, source = run.run.job, run.run.source
    own = [("initContainers", index, each) for index, each in enumerate(job.init_containers)]
    own += [("containers", index, each) for index, each in enumerate(job.containers)]
    volumes = [("volumes", index, each) for index, each in enumerate(job.volumes)]
    for reserved, listed in ((frozenset({run.kind.container}), own), (RESERVED_VOLUMES, volumes)):
        taken_names = set(reserved)
        for field, index, each in listed:
            name = each.get("name")
            if not isinstance(name, str):
                continue
            if name in taken_names or (field == "volumes" and name.startswith(OUR_VOLUMES)):
                message = f"{field}[{index}].name is {name!r}, which the pod has already; choose another"
                yield NAMES.at(source, (field, index, "name"), message)
            taken_names.add(name)
    for path, names in named(job):
        for name in sorted(contract.reserved(run.run) & set(names)):
            message = f"{'.'.join(path)} has {name}, by which Trainyard tells the program of its run; remove it"
            yield VARIABLES.at(source, (*path, name), message)
    for place, name in patched(job.patches, ("patches",)):
        if name in contract.reserved(run.run):
            message = f"a patch has {name}, by which Trainyard tells the program of its run; remove it"
            yield VARIABLES.at(source, place, message)


def patched(value: Any, at: Path) -> Iterator[tuple[Path, str]]:
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
            yield from patched(inner, (*at, key))


def check_numa(run: Resolved, role: RoleSpec) -> Iterator[Finding]:
    """Yield pods that the kubelet would refuse on every node: too wide for one NUMA node, or with half a core."""
    pool = role.pool
    gpus = max((len(numa.gpus) for numa in numa_nodes(pool.node)), default=0)
    if one_numa_node(pool) and role.gpus > gpus:
        message = (
            f"gpusPerNode is {role.gpus}, but pool {role.pool_name!r} keeps a pod on one NUMA node, which has {gpus}"
            f"; ask for {gpus}"
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
            f"cpusPerNode is {role.cpus}, but pool {role.pool_name!r} gives whole cores of {threads} CPUs"
            f"; ask for {role.cpus + threads - role.cpus % threads}"
        )
        yield WHOLE_CORES.at(run.run.source, (*role.path, "cpusPerNode"), message)
