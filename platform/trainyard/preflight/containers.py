"""What is wrong with the containers that a job adds to its workers' pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.documents import Path
from trainyard.findings import Finding, Severity
from trainyard.kinds import Resolved
from trainyard.pods.pod import ALWAYS
from trainyard.preflight.limits import WHOLE_CORES
from trainyard.rules import Rule
from trainyard.sizing import resources
from trainyard.sizing.companions import companions, parsed, taken
from trainyard.sizing.machines import available
from trainyard.sizing.node import binary, pins_cpus, whole_cores
from trainyard.sizing.roles import number, share

ROOM = Rule(
    id="gpu-count-node",
    title="A job's own containers leave the training container something of the pod.",
    why="what they ask for is taken from the share of the node that follows from the GPUs",
    fix="lower the requests of the containers, or spell out cpusPerNode and memoryPerNode",
    source="docs/jobs.md",
    layer="run",
)
IDLE = Rule(
    id="run/idle-gpus",
    title="Pods that only start or serve others have no GPUs.",
    why="nothing in them uses a GPU, which the queue counts and the node gives to nobody else",
    fix="remove gpusPerNode of the role",
    source="docs/jobs.md",
    layer="run",
    severity=Severity.WARNING,
)
BESIDE = Rule(
    id="run/sidecar",
    title="What a job lists under containers runs for as long as the training container.",
    why="it is a sidecar, which the kubelet starts again whenever it ends, so that it never holds a finished job",
    fix="remove restartPolicy, or write the container under initContainers, where it ends before training begins",
    source="kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go ContainerRestartPolicy; docs/jobs.md",
    layer="run",
)
PINNED = Rule(
    id="run/unpinned",
    title="Where the kubelet pins CPUs, every container of a pod asks for some CPU and memory.",
    why="with a zero the pod is Burstable, and then its training container has no CPUs of its own",
    fix="give the container CPU and memory, or leave its resources out",
    source="kubernetes v1.35 pkg/apis/core/v1/helper/qos/qos.go; pkg/kubelet/cm/cpumanager/policy_static.go",
    layer="node",
)

TAKEN = Rule(
    id="run/port-taken",
    title="A container beside the training one listens on a port of its own.",
    why="containers of a pod share its network: whoever comes second cannot listen, and the ranks never meet",
    fix="choose another port",
    source="kubernetes/website v1.35 content/en/docs/concepts/workloads/pods/_index.md, Pod networking; docs/jobs.md",
    layer="run",
)


def check(run: Resolved) -> Iterator[Finding]:
    """Yield what is wrong with the job's own containers."""
    yield from check_room(run)
    yield from check_policies(run)
    yield from check_pinning(run)
    yield from check_ports(run)
    for role in run.specs:
        said = run.run.job.roles.get(role.name)
        if said is not None and said.gpus_per_node and not role.trains:
            message = f"role {role.name!r} only starts others, but has {said.gpus_per_node} GPUs; remove gpusPerNode"
            yield IDLE.at(run.run.source, ("roles", role.name, "gpusPerNode"), message)


def check_room(run: Resolved) -> Iterator[Finding]:
    """Yield containers of the job's own that leave the training container nothing of what a pod has."""
    worker = run.specs[0]
    node = available(worker.pool)
    part, _ = share(run.run.job, worker, node)
    own = companions(run.run.job)
    cpus, memory = taken(own, "cpu"), taken(own, "memory")
    if worker.cpus is None and cpus and node.cpus * part - cpus < 1:
        message = f"containers ask for {number(cpus)} CPUs of the pod's {number(node.cpus * part)}; lower them"
        yield ROOM.at(run.run.source, ("containers",), message)
    if worker.memory is None and memory and memory >= node.memory * part:
        message = f"containers ask for {binary(memory)} of the pod's {binary(node.memory * part)} memory; lower them"
        yield ROOM.at(run.run.source, ("containers",), message)


def check_policies(run: Resolved) -> Iterator[Finding]:
    """Yield containers that are to run beside the training one, and yet to end before it."""
    for path, each in listed("containers", run.run.job.containers):
        policy = each.get("restartPolicy", ALWAYS)
        if policy != ALWAYS:
            message = f"restartPolicy is {policy!r}, but a sidecar runs on; remove it, or write it in initContainers"
            yield BESIDE.at(run.run.source, (*path, "restartPolicy"), message)


def check_pinning(run: Resolved) -> Iterator[Finding]:
    """Yield containers for which a kubelet that pins CPUs pins none, or refuses the pod (measured with v1.35.4's)."""
    job, pool, source = run.run.job, run.specs[0].pool, run.run.source
    if not pins_cpus(pool):
        return
    threads = pool.node.threads_per_core
    for path, each in (*listed("initContainers", job.init_containers), *listed("containers", job.containers)):
        amounts = {name: parsed(value) for name, value in resources(each).items()}
        for name in ("cpu", "memory"):
            amount = amounts.get(name)
            if amount is not None and not amount.amount:
                message = f"{name} is 0, so pool {job.pool!r} pins no CPUs of the pod; raise or remove it"
                yield PINNED.at(source, (*path, "resources"), message)
        cpus = amounts.get("cpu")
        if whole_cores(pool) and cpus is not None and cpus.amount % 1 == 0 and cpus.amount % threads:
            count = int(cpus.amount)
            message = (
                f"cpu is {count}, but pool {job.pool!r} gives whole cores of {threads} CPUs"
                f"; ask for {count + threads - count % threads}"
            )
            yield WHOLE_CORES.at(source, (*path, "resources"), message)


def check_ports(run: Resolved) -> Iterator[Finding]:
    """Yield ports of containers on which the launcher's own processes listen."""
    if sum(role.nodes for role in run.specs if role.ranks) < 2:
        return
    taken = run.launcher.ports(run.wiring)
    for path, each in listed("containers", run.run.job.containers):
        for index, entry in enumerate(each.get("ports") or ()):
            port = entry.get("containerPort")
            if port in taken:
                message = f"containerPort is {port}, where {taken[port]} in the same pod; choose another port"
                yield TAKEN.at(run.run.source, (*path, "ports", index, "containerPort"), message)


def listed(field: str, containers: Sequence[Mapping[str, Any]]) -> list[tuple[Path, Mapping[str, Any]]]:
    """Return containers, each with its path in the job's file."""
    return [((field, index), each) for index, each in enumerate(containers)]
