"""Whether the kubelet of its pool's nodes starts each pod of a run, and the nearest change with which it would."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from trainyard.documents import Path
from trainyard.findings import Finding
from trainyard.kinds import Resolved
from trainyard.kinds.starts import Start, starts
from trainyard.nodes import Admitted, Crashed, Exploded, Invalid, Refused
from trainyard.pods.resources import CPU, MEMORY, in_bytes
from trainyard.policies.devices import is_gpu
from trainyard.preflight import limits, patched
from trainyard.quantities import Quantity
from trainyard.rules import Rule
from trainyard.sizing.node import GI, binary
from trainyard.sizing.starts import node
from trainyard.specs import Cluster
from trainyard.specs.shapes import known
from trainyard.specs.sources import Source

CM = "kubernetes v1.35 pkg/kubelet/cm"

STARTS = Rule(
    id="numa-starts",
    title="The kubelet of its pool's nodes takes every pod of a job, with the daemons that are there.",
    why="it refuses the pod for good on every node, and restarts are used up within minutes",
    fix="ask for what the message names, or for whole nodes without sizes of your own",
    source=f"{CM}/topologymanager, cpumanager, memorymanager, devicemanager",
    layer="node",
)
FREEZES = Rule(
    id="numa-hint-walk",
    title="A pod leaves the kubelet few combinations of NUMA nodes to walk through.",
    why="it walks through all of them under the lock of admission: the node takes no pod any more, and stays Ready",
    fix="set topologyManagerPolicy: none for the pool, or ask for fewer kinds of devices",
    source=f"{CM}/topologymanager/policy.go iterateAllProviderTopologyHints",
    layer="node",
)
CONFIGURATION = Rule(
    id="numa-kubelet-starts",
    title="The kubelet starts with the configuration that the cluster's file gives it.",
    why="the node never becomes Ready",
    fix="correct the pool's kubelet settings as the message says",
    source="kubernetes v1.35 pkg/kubelet/apis/config/validation/validation.go; cm/container_manager_linux.go",
    layer="node",
)
DAEMON = Rule(
    id="numa-daemon-starts",
    title="The kubelet takes the daemons of its pool's nodes.",
    why="a node whose daemons are refused has no network, devices or labels",
    fix="lower what the daemon asks for, or change the pool's kubelet settings",
    source=f"{CM}/topologymanager",
    layer="node",
)

FEW = 3
"""Daemons that are named one by one."""

NARROW = {"max_pods": "maxPods", "reserved_cpus": "reservedSystemCPUs"}
"""Fields of the kubelet that leave too little for daemons, where they are written."""


def check_cluster(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pools whose kubelet does not start with its configuration, or does not take the daemons of its nodes."""
    for name, pool in cluster.pools.items():
        if not known(pool.shape) or pool.kubelet is None:
            continue
        found = node(cluster, name)
        if isinstance(found, Invalid):
            message = f"the kubelet of pool {name!r} does not start ({found.stage}): {found.message}"
            yield CONFIGURATION.at(source, ("pools", name, "kubelet"), message)
            continue
        said = pool.kubelet.model_fields_set
        narrow = next((alias for field, alias in NARROW.items() if field in said), None)
        where: Path = ("pools", name, "kubelet", narrow) if narrow else ("pools", name, "kubelet")
        if len(found.refused) > FEW:
            first = ", ".join(found.refused[:FEW])
            count = len(found.refused)
            message = f"kubelets of pool {name!r} refuse {count} daemons on an empty node: {first} and others"
            yield DAEMON.at(source, where, message)
            continue
        for daemon in found.refused:
            message = f"kubelets of pool {name!r} refuse the daemon {daemon!r} on an empty node"
            yield DAEMON.at(source, where, message)


def check(run: Resolved) -> Iterator[Finding]:
    """Yield pods that no node of their pool starts, each with the nearest change that the kubelet would take.

    Of what the scheduler would not even send there, others speak: labels, amounts and quota.
    """
    for each in starts(run):
        if each.verdict.decision.unschedulable:
            continue
        outcome = each.verdict.decision.outcome
        if isinstance(outcome, Refused):
            yield refused(run, each, outcome)
        elif isinstance(outcome, Exploded):
            much = f"{outcome.permutations:.2g} combinations" if outcome.permutations else "combinations without an end"
            message = f"a pod of role {each.role.name!r} has kubelets of pool {each.role.size.pool!r} try {much}"
            yield FREEZES.at(run.run.source, place(run, each), message)
        elif isinstance(outcome, Crashed):
            pool = each.role.size.pool
            message = f"a pod of role {each.role.name!r} crashes kubelets of pool {pool!r}: {outcome.message}"
            yield STARTS.at(run.run.source, place(run, each), message)


def refused(run: Resolved, start: Start, outcome: Refused) -> Finding:
    """Return the finding about a pod that is refused, by what refuses it."""
    held = beside(run, start)
    rule = {"TopologyAffinityError": limits.POLICY, "SMTAlignmentError": limits.WHOLE_CORES}.get(outcome.reason, STARTS)
    pool = start.role.size.pool
    advice, where = (held[1], held[0]) if held else (nearest(run, start), place(run, start))
    message = f"kubelets of pool {pool!r} refuse this pod ({outcome.reason}); {advice}"
    return rule.at(run.run.source, where, message)


def beside(run: Resolved, start: Start) -> tuple[Path, str] | None:
    """Return the container of the job's own without whose GPUs the pod starts, in words; None where there is none."""
    for index, own in enumerate(run.run.job.containers):
        pod = deepcopy(start.pod)
        for container in (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]):
            parts = (container.get("resources") or {}).values() if container.get("name") == own.get("name") else ()
            gpus = {name for part in parts for name in part if is_gpu(name)}
            for part in parts if gpus else ():
                for name in gpus:
                    part.pop(name, None)
            if gpus and start.node.admits(pod):
                return ("containers", index, "resources"), f"it starts without the GPUs of container {own['name']!r}"
    return None


def place(run: Resolved, start: Start) -> Path:
    """Return the field of the job that says most about the pod's size: the patch with which it starts no more."""
    job, name = run.run.job, start.role.name
    patch = patched.first(run, lambda some: fails(some, name)) if job.patches else None
    if patch is not None:
        return ("patches", patch, "merge")
    if name in job.roles:
        return ("roles", name)
    if name != run.roles[0].name:
        return ("launcher",)
    said = job.model_fields_set
    fields = {"cpus_per_node": "cpusPerNode", "memory_per_node": "memoryPerNode", "gpus_per_node": "gpusPerNode"}
    return next(((alias,) for field, alias in fields.items() if field in said), ("pool",))


def fails(run: Resolved, role: str) -> bool:
    """Whether the kubelet does not start a role's pods."""
    found = (each.verdict.decision for each in starts(run) if each.role.name == role)
    return any(not each.unschedulable and not isinstance(each.outcome, Admitted) for each in found)


def nearest(run: Resolved, start: Start) -> str:
    """Return in words the smallest change of one amount with which the pod starts; of GPUs last."""
    asked = amounts(run, start.pod)
    gpu = start.role.size.gpus.value
    for resource, tries in ((CPU, cpus), (MEMORY, memories)):
        for value in tries(start, asked[resource]) if resource in asked else ():
            if start.node.admits(changed(run, start.pod, {resource: value})):
                words = f"{value} CPUs" if resource == CPU else f"{value} of memory"
                return f"it starts with {words}, or let sizes follow from the GPUs"
    for count in range(gpu - 1, 0, -1):
        part = {name: scaled(name, value, count, gpu) for name, value in asked.items()}
        if start.node.admits(changed(run, start.pod, part)):
            return f"it starts with {count} GPUs and their share of the node"
    return "no smaller pod of its kind starts either"


def cpus(start: Start, asked: str) -> Iterator[str]:
    """Yield other numbers of CPUs, the nearest first."""
    now = int(Quantity.parse(asked).amount)
    total = len(start.node.kubelet.machine.cpus)
    for distance in range(1, total):
        yield from (str(count) for count in (now + distance, now - distance) if 0 < count <= total)


def memories(start: Start, asked: str) -> Iterator[str]:
    """Yield other amounts of memory in whole Gi, nearest first: parts of what is asked, and just over NUMA nodes."""
    now = max(1, Quantity.parse(asked).value() // GI)
    sizes = [numa.memory // GI for numa in start.node.kubelet.machine.numa]
    over = {sum(sizes[:count]) + 1 for count in range(1, len(sizes))}
    tries = over | {now * part // 16 for part in range(1, 33)}
    yield from (f"{each}Gi" for each in sorted(tries, key=lambda each: abs(each - now)) if 0 < each <= sum(sizes))


def scaled(name: str, value: str, count: int, gpus: int) -> str:
    """Return the share of an amount that goes with fewer GPUs."""
    amount = Quantity.parse(value)
    if in_bytes(name):
        return binary(amount.value() * count // gpus)
    return str(max(1, int(amount.amount) * count // gpus))


def amounts(run: Resolved, pod: dict[str, Any]) -> dict[str, str]:
    """Return what the training container asks for."""
    return dict((trainer(run, pod).get("resources") or {}).get("limits") or {})


def changed(run: Resolved, pod: dict[str, Any], other: dict[str, str]) -> dict[str, Any]:
    """Return the pod with other amounts for its training container."""
    copy = deepcopy(pod)
    for part in trainer(run, copy)["resources"].values():
        part.update(other)
    return copy


def trainer(run: Resolved, pod: dict[str, Any]) -> dict[str, Any]:
    """Return the training container; a patch may have renamed it, then the first."""
    containers: list[dict[str, Any]] = pod["spec"]["containers"]
    return next((each for each in containers if each.get("name") == run.kind.container), containers[0])
