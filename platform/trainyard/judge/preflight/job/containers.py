"""What is wrong with the containers that a job adds to its workers' pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.job.limits import WHOLE_CORES
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved, checked
from trainyard.render.sizing import resources
from trainyard.render.sizing.companions import companions, parse_amount, taken_amount
from trainyard.render.sizing.machines import available
from trainyard.render.sizing.node import binary, pins_cpus, whole_cores
from trainyard.render.sizing.roles import number, share
from trainyard.upstream.pods.pod import ALWAYS

ROOM = Rule(
    id="gpu-count-node",
    title="A job's own containers leave CPU and memory for the training container.",
    why="their requests are taken from the pod's share of the node, which follows from its GPUs",
    fix="lower the requests of these containers, or set cpusPerNode and memoryPerNode",
    source="docs/jobs.md",
    layer="run",
)
IDLE = Rule(
    id="run/idle-gpus",
    title="Roles that only start or coordinate other pods request no GPUs.",
    why="they would never use them, but the quota counts them and the node gives them to nobody else",
    fix="remove gpusPerNode from the role",
    source="docs/jobs.md",
    layer="run",
    severity=Severity.WARNING,
)
BESIDE = Rule(
    id="run/sidecar",
    title="A container under containers is a sidecar and has no restartPolicy of its own.",
    why="the kubelet restarts a sidecar whenever it ends, so a sidecar never delays the end of the job",
    fix="remove restartPolicy, or move the container to initContainers if it must end before training starts",
    source="kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go ContainerRestartPolicy; docs/jobs.md",
    layer="run",
)
PINNED = Rule(
    id="run/unpinned",
    title="On nodes that pin CPUs, no container of a pod sets its CPU or memory to 0.",
    why="the pod would be Burstable instead of Guaranteed, so its training container gets no CPUs of its own",
    fix="set CPU and memory above 0, or remove the container's resources",
    source="kubernetes v1.35 pkg/apis/core/v1/helper/qos/qos.go; pkg/kubelet/cm/cpumanager/policy_static.go",
    layer="node",
)

TAKEN = Rule(
    id="run/port-taken",
    title="Containers of one pod listen on different ports.",
    why="they share one network: the second one cannot listen, and the ranks never connect",
    fix="use another port",
    source="kubernetes/website v1.35 content/en/docs/concepts/workloads/pods/_index.md, Pod networking; docs/jobs.md",
    layer="run",
)


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield the problems with the job's own containers."""
    yield from check_room(run)
    yield from check_policies(run)
    yield from check_pinning(run)
    yield from check_ports(run)
    for role in run.specs:
        said = run.run.job.roles.get(role.name)
        if said is not None and said.gpus_per_node and not role.trains:
            message = (
                f"role {role.name!r} runs no training, but gpusPerNode is {said.gpus_per_node}; remove gpusPerNode"
            )
            yield IDLE.at(run.run.source, ("roles", role.name, "gpusPerNode"), message)


def check_room(run: Resolved) -> Iterator[Finding]:
    """Yield containers of the job's own that leave the training container nothing of what a pod has."""
    worker = run.specs[0]
    node = available(worker.pool)
    part, _ = share(run.run.job, worker, node)
    own = companions(run.run.job)
    cpus, memory = taken_amount(own, "cpu"), taken_amount(own, "memory")
    if worker.cpus is None and cpus and node.cpus * part - cpus < 1:
        message = (
            f"containers request {number(cpus)} CPUs, but the whole pod has {number(node.cpus * part)}; lower them"
        )
        yield ROOM.at(run.run.source, ("containers",), message)
    if worker.memory is None and memory and memory >= node.memory * part:
        message = (
            f"containers request {binary(memory)} of memory, but the whole pod has {binary(node.memory * part)}; "
            "lower them"
        )
        yield ROOM.at(run.run.source, ("containers",), message)


def check_policies(run: Resolved) -> Iterator[Finding]:
    """Yield containers that are to run beside the training one, and yet to end before it."""
    for path, container in list_containers("containers", run.run.job.containers):
        policy = container.get("restartPolicy", ALWAYS)
        if policy != ALWAYS:
            message = (
                f"restartPolicy is {policy!r}, but a sidecar runs until the job ends; remove it, or move the "
                "container to initContainers"
            )
            yield BESIDE.at(run.run.source, (*path, "restartPolicy"), message)


def check_pinning(run: Resolved) -> Iterator[Finding]:
    """Yield containers for which a kubelet that pins CPUs pins none, or refuses the pod (measured with v1.35.4's)."""
    job, pool, source = run.run.job, run.specs[0].pool, run.run.source
    if not pins_cpus(pool):
        return
    threads = pool.node.threads_per_core
    for path, container in (
        *list_containers("initContainers", job.init_containers),
        *list_containers("containers", job.containers),
    ):
        amounts = {name: parse_amount(value) for name, value in resources(container).items()}
        for name in ("cpu", "memory"):
            amount = amounts.get(name)
            if amount is not None and not amount.amount:
                message = (
                    f"{name} is 0, so the pod gets no exclusive CPUs on pool {run.run.pool_name!r}; raise or remove it"
                )
                yield PINNED.at(source, (*path, "resources"), message)
        cpus = amounts.get("cpu")
        if whole_cores(pool) and cpus is not None and cpus.amount % 1 == 0 and cpus.amount % threads:
            count = int(cpus.amount)
            message = (
                f"cpu is {count}, but pool {run.run.pool_name!r} gives whole cores of {threads} CPUs"
                f"; ask for {count + threads - count % threads}"
            )
            yield WHOLE_CORES.at(source, (*path, "resources"), message)


def check_ports(run: Resolved) -> Iterator[Finding]:
    """Yield ports of containers on which the launcher's own processes listen."""
    if sum(role.nodes for role in run.specs if role.ranks) < 2:
        return
    taken = {**run.launcher.ports(run.wiring), **checked.ports(run.run)}
    for path, container in list_containers("containers", run.run.job.containers):
        for index, entry in enumerate(container.get("ports") or ()):
            port = entry.get("containerPort")
            if port in taken:
                message = f"containerPort is {port}, but {taken[port]} on that port of this pod; use another"
                yield TAKEN.at(run.run.source, (*path, "ports", index, "containerPort"), message)


def list_containers(field: str, containers: Sequence[Mapping[str, Any]]) -> list[tuple[Path, Mapping[str, Any]]]:
    """Return containers, each with its path in the job's file."""
    return [((field, index), container) for index, container in enumerate(containers)]
