"""Whether the kubelet of its pool's nodes starts each pod of a run, and the nearest change with which it would."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.base.quantities import Quantity
from trainyard.base.rules import Rule
from trainyard.judge.policies.devices import is_gpu
from trainyard.judge.preflight.declared import ALL
from trainyard.judge.preflight.job import limits, patched
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved
from trainyard.render.kinds.starts import Start, starts
from trainyard.render.sizing.node import GI, binary
from trainyard.upstream.kubelet import Admitted, Crashed, Exploded, Refused
from trainyard.upstream.pods.resources import CPU, MEMORY, in_bytes

CM = "kubernetes v1.35 pkg/kubelet/cm"

STARTS = Rule(
    id="numa-starts",
    title="The kubelet of the pool admits every pod of a job, beside the daemons of the node.",
    why="the kubelet refuses the pod on every node, so all restarts are used up within minutes",
    fix="use the sizes in the message, or whole nodes without cpusPerNode and memoryPerNode",
    source=f"{CM}/topologymanager, cpumanager, memorymanager, devicemanager",
    layer="node",
)
FREEZES = Rule(
    id="numa-hint-walk",
    title="A pod gives the kubelet few combinations of NUMA nodes to try.",
    why="it tries them all while holding the admission lock: the node stays Ready but starts no more pods",
    fix="set topologyManagerPolicy: none for the pool, or request fewer kinds of devices",
    source=f"{CM}/topologymanager/policy.go iterateAllProviderTopologyHints",
    layer="node",
)


@RESOLVED.check(after=(ALL, "patched"))
def check(run: Resolved) -> Iterator[Finding]:
    """Yield pods that no node of their pool starts, each with the nearest change that the kubelet would take.

    Of what the scheduler would not even send there, others speak: labels, amounts and quota.
    """
    for start in starts(run):
        if start.verdict.decision.unschedulable:
            continue
        outcome = start.verdict.decision.outcome
        if isinstance(outcome, Refused):
            yield refusal_finding(run, start, outcome)
        elif isinstance(outcome, Exploded):
            much = (
                f"{outcome.permutations:.2g} combinations"
                if outcome.permutations
                else ("an endless number of combinations")
            )
            message = f"for a pod of role {start.role.name!r} kubelets of pool {start.pool!r} try {much}"
            yield FREEZES.at(run.run.source, place(run, start), message)
        elif isinstance(outcome, Crashed):
            pool = start.pool
            message = f"a pod of role {start.role.name!r} crashes kubelets of pool {pool!r}: {outcome.message}"
            yield STARTS.at(run.run.source, place(run, start), message)


def refusal_finding(run: Resolved, start: Start, outcome: Refused) -> Finding:
    """Return the finding about a pod that is refused, by what refuses it."""
    held = blocking_container(run, start)
    rule = {"TopologyAffinityError": limits.POLICY, "SMTAlignmentError": limits.WHOLE_CORES}.get(outcome.reason, STARTS)
    pool = start.pool
    advice, where = (held[1], held[0]) if held else (nearest(run, start), place(run, start))
    message = f"kubelets of pool {pool!r} reject this pod ({outcome.reason}); {advice}"
    return rule.at(run.run.source, where, message)


def blocking_container(run: Resolved, start: Start) -> tuple[Path, str] | None:
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
                return ("containers", index, "resources"), f"it starts without GPUs in container {own['name']!r}"
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
    found = (start.verdict.decision for start in starts(run) if start.role.name == role)
    return any(not decision.unschedulable and not isinstance(decision.outcome, Admitted) for decision in found)


def nearest(run: Resolved, start: Start) -> str:
    """Return in words the smallest change of one amount with which the pod starts; of GPUs last."""
    asked = amounts(run, start.pod)
    gpu = start.role.size.gpus.value
    for resource, tries in ((CPU, cpus), (MEMORY, memories)):
        for value in tries(start, asked[resource]) if resource in asked else ():
            if start.node.admits(change_amounts(run, start.pod, {resource: value})):
                words = f"{value} CPUs" if resource == CPU else f"{value} of memory"
                return f"use {words}, or remove the sizes: the defaults follow from the GPUs"
    for count in range(gpu - 1, 0, -1):
        part = {name: scale_amount(name, value, count, gpu) for name, value in asked.items()}
        if start.node.admits(change_amounts(run, start.pod, part)):
            return f"use {count} GPUs and their share of the node"
    return "no smaller pod of this kind starts there either"


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
    yield from (
        f"{attempt}Gi" for attempt in sorted(tries, key=lambda attempt: abs(attempt - now)) if 0 < attempt <= sum(sizes)
    )


def scale_amount(name: str, value: str, count: int, gpus: int) -> str:
    """Return the share of an amount that goes with fewer GPUs."""
    amount = Quantity.parse(value)
    if in_bytes(name):
        return binary(amount.value() * count // gpus)
    return str(max(1, int(amount.amount) * count // gpus))


def amounts(run: Resolved, pod: dict[str, Any]) -> dict[str, str]:
    """Return the limits of the training container."""
    return dict((trainer(run, pod).get("resources") or {}).get("limits") or {})


def change_amounts(run: Resolved, pod: dict[str, Any], other: dict[str, str]) -> dict[str, Any]:
    """Return the pod with other amounts for its training container."""
    copy = deepcopy(pod)
    for part in trainer(run, copy)["resources"].values():
        part.update(other)
    return copy


def trainer(run: Resolved, pod: dict[str, Any]) -> dict[str, Any]:
    """Return the training container; a patch may have renamed it, then the first."""
    containers: list[dict[str, Any]] = pod["spec"]["containers"]
    return next((container for container in containers if container.get("name") == run.kind.container), containers[0])
