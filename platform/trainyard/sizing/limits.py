"""What a job asks for that its pods cannot have, once everything is derived; the rest, loading has reported."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.documents import Path, format_path
from trainyard.findings import Finding, Severity
from trainyard.sizing import ceiling, saving
from trainyard.sizing.node import Available, available, binary, numa_nodes, one_numa_node, pins_cpus, size
from trainyard.sizing.run import size_run
from trainyard.sizing.wish import Wish, companions, gpu_resource, number, share, taken, wants_rdma, wishes
from trainyard.specs.run import Run

CONTAINERS = frozenset({"trainer"})
"""Containers of ours in a pod."""

VOLUMES = frozenset({"shared-memory", "scratch", "files"})
"""Volumes of ours in a pod, beside those of claims."""

CHECKPOINT_DIR = "CHECKPOINT_DIR"
"""Variable that tells a program where its checkpoints are."""


def check(run: Run) -> Iterator[Finding]:
    """Yield findings about the run's sizes; rule ids are the catalogue's."""
    worker, *_ = wishes(run)
    node = available(worker.pool)
    yield from check_parts(run, worker, node)
    yield from check_memory(run)
    yield from check_scratch(run, worker, node)
    yield from check_containers(run, worker, node)
    yield from check_rails(run, worker, node)
    yield from check_processes(run, worker)
    yield from check_names(run)
    for rule, path, message in (*saving.check(run), *ceiling.check(run)):
        yield problem(run, rule, message, path)
    for wish in wishes(run):
        yield from check_numa(run, wish)


def check_parts(run: Run, worker: Wish, node: Available) -> Iterator[Finding]:
    """Yield parts of GPUs where there are none, and gangs of them: parts cannot talk to each other fast, or at all."""
    gpu = run.job.gpu
    if gpu is None:
        return
    if not node.gpus:
        message = f"gpu asks for a part of a GPU, but pool {worker.pool_name!r} has no GPUs; choose another pool"
        yield problem(run, "gpu-known-resource", message, ("gpu",))
    elif sum(wish.nodes for wish in wishes(run)) > 1:
        rule = "gpu-mig-ddp" if gpu.profile else "gpu-timeslice-multi"
        message = f"gpu asks for a part of a GPU, but nodes is {run.job.nodes}; train on whole GPUs, or set nodes: 1"
        yield problem(run, rule, message, ("gpu",))
    elif worker.pool.node.gpus and gpu_resource(run.job, worker.pool) != worker.pool.node.gpus.resource:
        wanted, offered = gpu_resource(run.job, worker.pool), worker.pool.node.gpus.resource
        message = f"gpu asks for {wanted!r}, but nodes of pool {worker.pool_name!r} offer {offered!r}; ask for that"
        yield problem(run, "gpu-known-resource", message, ("gpu",))


def check_memory(run: Run) -> Iterator[Finding]:
    """Yield shared memory that leaves the programs none: its pages count in the container's memory."""
    if run.job.shared_memory is None:
        return
    worker = size_run(run).worker
    if size(worker.shared_memory.value) >= size(worker.memory.value):
        message = (
            f"sharedMemory is {worker.shared_memory.value}, but counts in the pod's memory of {worker.memory.value}"
            "; lower it, or raise memoryPerNode"
        )
        yield problem(run, "gpu-shm-mem", message, ("sharedMemory",))


def check_scratch(run: Run, worker: Wish, node: Available) -> Iterator[Finding]:
    """Yield scratch that no node of the pool has."""
    if run.job.scratch and size(run.job.scratch) > node.storage:
        message = (
            f"scratch is {run.job.scratch}, but pool {worker.pool_name!r} has {binary(node.storage)} a node for pods"
            "; lower it"
        )
        yield problem(run, "sto-ephemeral", message, ("scratch",))


def check_containers(run: Run, worker: Wish, node: Available) -> Iterator[Finding]:
    """Yield containers of the job's own that leave the training container nothing of what a pod has."""
    part, _ = share(run.job, worker, node)
    own = companions(run.job)
    cpus, memory = taken(own, "cpu"), taken(own, "memory")
    if worker.cpus is None and cpus and node.cpus * part - cpus < 1:
        message = f"containers ask for {number(cpus)} CPUs of the pod's {number(node.cpus * part)}; lower them"
        yield problem(run, "gpu-count-node", message, ("containers",))
    if worker.memory is None and memory and memory >= node.memory * part:
        message = f"containers ask for {binary(memory)} of the pod's {binary(node.memory * part)} memory; lower them"
        yield problem(run, "gpu-count-node", message, ("containers",))


def check_processes(run: Run, worker: Wish) -> Iterator[Finding]:
    """Yield more processes than GPUs: NCCL refuses two ranks on one device."""
    processes = run.job.processes_per_node
    if processes is not None and 0 < worker.gpus < processes:
        message = f"processesPerNode is {processes}, but a pod has {worker.gpus} GPUs; remove it, or set {worker.gpus}"
        yield problem(run, "tor-nproc", message, ("processesPerNode",))


def check_names(run: Run) -> Iterator[Finding]:
    """Yield names that the pod has already: containers, volumes and variables of ours beside the job's own."""
    job = run.job
    own = [("initContainers", index, each) for index, each in enumerate(job.init_containers)]
    own += [("containers", index, each) for index, each in enumerate(job.containers)]
    groups = ((CONTAINERS, own), (VOLUMES, [("volumes", index, each) for index, each in enumerate(job.volumes)]))
    for reserved, listed in groups:
        taken = set(reserved)
        for field, index, each in listed:
            name = each.get("name")
            if isinstance(name, str) and (name in taken or (reserved is VOLUMES and name.startswith("claim-"))):
                message = f"{field}[{index}].name is {name!r}, which the pod has already; choose another"
                yield problem(run, "run/duplicate-name", message, (field, index, "name"))
            if isinstance(name, str):
                taken.add(name)
    if job.checkpoint is not None and CHECKPOINT_DIR in {*job.env, *job.secrets}:
        field = "env" if CHECKPOINT_DIR in job.env else "secrets"
        message = f"{field} has {CHECKPOINT_DIR}, which is checkpoint.mountPath; remove it"
        yield problem(run, "run/env", message, (field, CHECKPOINT_DIR))


def check_rails(run: Run, worker: Wish, node: Available) -> Iterator[Finding]:
    """Yield RDMA for a part of a node: every such pod has the first rails, and the second one's GPUs are far off."""
    if wants_rdma(run.job, worker) and 0 < worker.gpus < node.gpus:
        message = (
            f"fabric is 'rdma' with {worker.gpus} of {node.gpus} GPUs"
            "; a second pod gets the other socket's NICs, use whole nodes"
        )
        yield problem(run, "numa-gpu-vf-ratio", message, ("gpusPerNode",), severity=Severity.WARNING)


def check_numa(run: Run, wish: Wish) -> Iterator[Finding]:
    """Yield pods that the kubelet would refuse on every node: too wide for one NUMA node, or with half a core."""
    pool, path = wish.pool, (("roles", wish.name) if wish.field else ())
    gpus = max((len(numa.gpus) for numa in numa_nodes(pool.node)), default=0)
    if one_numa_node(pool) and wish.gpus > gpus:
        message = (
            f"gpusPerNode is {wish.gpus}, but pool {wish.pool_name!r} keeps a pod on one NUMA node, which has {gpus}"
            f"; ask for {gpus}"
        )
        yield problem(run, "numa-policy-fit", message, (*path, "gpusPerNode"))
    whole = pool.kubelet is not None and pool.kubelet.cpu_manager_policy_options.get("full-pcpus-only") == "true"
    threads = pool.node.threads_per_core
    if whole and pins_cpus(pool) and wish.cpus is not None and wish.cpus % threads:
        message = (
            f"cpusPerNode is {wish.cpus}, but pool {wish.pool_name!r} gives whole cores of {threads} CPUs"
            f"; ask for {wish.cpus + threads - wish.cpus % threads}"
        )
        yield problem(run, "numa-full-pcpus", message, (*path, "cpusPerNode"))


def problem(run: Run, rule: str, message: str, path: Path, *, severity: Severity = Severity.ERROR) -> Finding:
    """Return a finding at a field of the job's file."""
    return Finding(rule, "run", message, run.source.location(path), severity=severity, path=format_path(path))
