"""From a valid configuration and a machine to a kubelet's settings, or why the kubelet does not start on that machine.

The order of the checks, and their words, are those of kubernetes v1.35.4 pkg/kubelet/cm/container_manager_linux.go and
the managers that it makes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.base.quantities import Quantity
from trainyard.upstream.kubelet.allocatable import (
    allocatable,
    capacity,
    kept_of,
    too_much,
    whole_number,
)
from trainyard.upstream.kubelet.configuration import Configuration, Invalid
from trainyard.upstream.kubelet.configuration.cpulist import parse, parse_number
from trainyard.upstream.kubelet.cpus import take
from trainyard.upstream.kubelet.machine import Machine
from trainyard.upstream.kubelet.outcomes import Explosion, Refusal
from trainyard.upstream.kubelet.releases import NARROW, SKIPPED, SOCKETS, is_since
from trainyard.upstream.kubelet.sets import text
from trainyard.upstream.kubelet.settings import CpuOptions, Settings
from trainyard.upstream.kubelet.whole import GATE
from trainyard.upstream.pods.demand import Resources
from trainyard.upstream.pods.resources import CPU, MEMORY, is_huge_page

MOST_NUMA_NODES = 8
"""NUMA nodes that the topology manager takes unless told otherwise (topologymanager/topology_manager.go)."""

CPU_OPTIONS = {
    "full-pcpus-only": ("full_pcpus_only", None),
    "strict-cpu-reservation": ("strict_reservation", None),
    "distribute-cpus-across-numa": ("distribute_across_numa", "Beta"),
    "prefer-align-cpus-by-uncorecache": ("prefer_align_by_cache", "Beta"),
    "align-by-socket": ("align_by_socket", "Alpha"),
    "distribute-cpus-across-cores": ("distribute_across_cores", "Alpha"),
}
"""Options of the static CPU policy: our name, and the level that a gate must allow (cpumanager/policy_options.go)."""

EXCLUSIVE = (
    ("full-pcpus-only", "distribute-cpus-across-cores"),
    ("distribute-cpus-across-numa", "distribute-cpus-across-cores"),
    ("prefer-align-cpus-by-uncorecache", "distribute-cpus-across-cores"),
    ("prefer-align-cpus-by-uncorecache", "distribute-cpus-across-numa"),
)

TRUE, FALSE = ("1", "t", "T", "TRUE", "true", "True"), ("0", "f", "F", "FALSE", "false", "False")


@dataclass(frozen=True)
class Started:
    """A kubelet that has started: its settings, and what its node offers."""

    settings: Settings
    allocatable: Resources


def start(machine: Machine, configuration: Configuration, storage: Quantity | None = None) -> Started | Invalid:
    """Start a kubelet on a machine; `storage` is the capacity of the file system of its pods."""
    try:
        return _start(machine, configuration, storage)
    except ValueError as error:
        return Invalid("start", str(error))


def _start(machine: Machine, configuration: Configuration, storage: Quantity | None) -> Started:
    fields = configuration.fields
    named = _named_cpus(machine, fields["reservedSystemCPUs"])
    there = capacity(machine, storage)
    kept = kept_of(there, fields, named.bit_count())
    topology = _topology(machine, fields)
    cpus = _cpus(machine, configuration, kept, named)
    memory = _memory(machine, fields, kept)
    if (said := too_much(there, kept)) is not None:
        raise ValueError(said)
    settings = Settings(
        topology_policy=fields["topologyManagerPolicy"],
        pod_scope=fields["topologyManagerScope"] == "pod",
        narrow_hints=is_since(configuration.gates.minor, NARROW),
        whole_pods=GATE in configuration.gates.known and configuration.gates.on(GATE),
        skips_empty=is_since(configuration.gates.minor, SKIPPED),
        **topology,
        **cpus,
        **memory,
    )
    healthy = {name: sum(device.healthy for device in devices) for name, devices in machine.devices.items()}
    return Started(settings, allocatable(there, kept, pods=_pods(machine, fields), devices=healthy))


def _pods(machine: Machine, fields: Mapping[str, Any]) -> int:
    most: int = fields["maxPods"]
    per_core: int = fields["podsPerCore"]
    return min(len(machine.cpus) * per_core, most) if per_core > 0 else most


def _named_cpus(machine: Machine, listed: str) -> int:
    named = parse(listed)
    if named & ~machine.all_cpus:
        raise ValueError(f"reserved-cpus: {listed} is not a subset of online-cpus: {text(machine.all_cpus)}")
    return named


def _topology(machine: Machine, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the topology manager's settings (topologymanager/topology_manager.go, policy_options.go)."""
    if fields["topologyManagerPolicy"] == "none":
        return {}
    closest, most = False, MOST_NUMA_NODES
    for name, value in sorted((fields.get("topologyManagerPolicyOptions") or {}).items()):
        if name == "prefer-closest-numa-nodes":
            closest = _truth(name, value)
        elif name == "max-allowable-numa-nodes":
            most = _most(name, value)
        else:
            raise ValueError(f'unknown Topology Manager Policy option: "{name}"')
    if len(machine.numa) > most:
        raise ValueError(f"unsupported on machines with more than {most} NUMA Nodes")
    return {"prefer_closest": closest}


def _most(name: str, value: str) -> int:
    try:
        most = parse_number(value)
    except ValueError as error:
        raise ValueError(f'unable to convert policy option to integer "{name}": {error}') from None
    if most < MOST_NUMA_NODES:
        raise ValueError(f'the minimum value of "{name}" should not be less than {MOST_NUMA_NODES}')
    return most


def _cpus(machine: Machine, configuration: Configuration, kept: Resources, named: int) -> dict[str, Any]:
    """Return the CPU manager's settings (cpumanager/cpu_manager.go NewManager)."""
    policy = configuration.fields["cpuManagerPolicy"]
    written = configuration.fields.get("cpuManagerPolicyOptions") or {}
    if policy == "none":
        if written:
            shown = " ".join(f"{name}:{value}" for name, value in sorted(written.items()))
            raise ValueError(f"new none policy error: None policy: received unsupported options=map[{shown}]")
        return {}
    if policy != "static":
        raise ValueError(f'unknown policy: "{policy}"')
    if CPU not in kept:
        raise ValueError("[cpumanager] unable to determine reserved CPU resources for static policy")
    try:
        options = _cpu_options(configuration, written)
        _check_sockets(machine, configuration, options)
        count = math.ceil(kept[CPU].milli_value() / 1000)
        return {
            "static_cpus": True,
            "cpu_options": options,
            "reserved_cpus": _kept_cpus(machine, options, named, count),
        }
    except ValueError as error:
        raise ValueError(f"new static policy error: {error}") from None


def _cpu_options(configuration: Configuration, written: Mapping[str, str]) -> CpuOptions:
    on: dict[str, bool] = {}
    for name, value in sorted(written.items()):
        if name not in CPU_OPTIONS:
            raise ValueError(f'unknown CPU Manager Policy option: "{name}"')
        level = CPU_OPTIONS[name][1]
        if level and not configuration.gates.on(f"CPUManagerPolicy{level}Options"):
            raise ValueError(f'CPU Manager Policy {level}-level Options not enabled, but option "{name}" provided')
        on[name] = _truth(name, value)
    for one, other in EXCLUSIVE:
        if on.get(one) and on.get(other):
            raise ValueError(f"static policy options {one} and {other} can not be used at the same time")
    in_sockets = is_since(configuration.gates.minor, SOCKETS)
    return CpuOptions(spread_in_sockets=in_sockets, **{CPU_OPTIONS[name][0]: value for name, value in on.items()})


def _check_sockets(machine: Machine, configuration: Configuration, options: CpuOptions) -> None:
    if not options.align_by_socket:
        return
    if configuration.fields["topologyManagerPolicy"] == "single-numa-node":
        raise ValueError(
            "Topolgy manager single-numa-node policy is incompatible with CPUManager align-by-socket policy option"
        )
    if len(machine.sockets) > len(machine.cpu_nodes):
        raise ValueError(
            "Align by socket is not compatible with hardware where number of sockets are more than number of NUMA"
        )


def _kept_cpus(machine: Machine, options: CpuOptions, named: int, count: int) -> int:
    """Return the CPUs that no container gets alone: those named, else as many as are reserved (policy_static.go)."""
    try:
        chosen = named or take(machine, machine.all_cpus, count, options)
    except Refusal:
        chosen = 0
    except Explosion:
        raise ValueError("[cpumanager] the kubelet looks for CPUs to reserve for ever") from None
    if chosen.bit_count() != count:
        raise ValueError(
            f"[cpumanager] unable to reserve the required amount of CPUs (size of {text(chosen)} did not equal {count})"
        )
    return chosen


def _memory(machine: Machine, fields: Mapping[str, Any], kept: Resources) -> dict[str, Any]:
    """Return the memory manager's settings (memorymanager/memory_manager.go NewManager)."""
    policy = fields["memoryManagerPolicy"]
    if policy == "None":
        return {}
    if policy == "BestEffort":
        raise ValueError('policy "BestEffort" is not available for platform "linux"')
    if policy != "Static":
        raise ValueError(f'unknown policy: "{policy}"')
    reservations = fields.get("reservedMemory") or ()
    _check_sums(machine, reservations, kept)
    by_node: dict[int, dict[str, int]] = {node.id: {} for node in machine.numa}
    for reservation in reservations:
        for name, amount in (reservation.get("limits") or {}).items():
            if amount.amount != amount.value():
                raise ValueError("could not covert a variable of type Quantity to int64")
            by_node[reservation.get("numaNode") or 0][name] = amount.value()
    if not any(limits.get(MEMORY) for limits in by_node.values()):
        raise ValueError("[memorymanager] you should specify the system reserved memory")
    return {"static_memory": True, "reserved_memory": by_node}


def _check_sums(machine: Machine, reservations: Any, kept: Resources) -> None:
    """Refuse memory of NUMA nodes that does not add up to what is kept in all (validateReservedMemory)."""
    totals: dict[str, Quantity] = {}
    for reservation in reservations:
        node = reservation.get("numaNode") or 0
        if node not in {one.id for one in machine.numa}:
            raise ValueError(
                f"the reserved memory configuration references a NUMA node {node} that does not exist on this machine"
            )
        for name, amount in (reservation.get("limits") or {}).items():
            totals[name] = amount + totals[name] if name in totals else whole_number(0) + amount
    for name in _of_memory({**totals, **kept}):
        total, expected = totals.get(name, whole_number(0)), whole_number(0) + kept.get(name, whole_number(0))
        if total != expected:
            raise ValueError(
                f'the total amount "{total}" of type "{name}" is not equal to the value "{expected}" '
                "determined by Node Allocatable feature"
            )


def _of_memory(names: Mapping[str, Quantity]) -> Iterator[str]:
    yield from (name for name in sorted(names) if name == MEMORY or is_huge_page(name))


def _truth(name: str, value: str) -> bool:
    if value not in TRUE + FALSE:
        raise ValueError(f'bad value for option "{name}": strconv.ParseBool: parsing "{value}": invalid syntax')
    return value in TRUE
