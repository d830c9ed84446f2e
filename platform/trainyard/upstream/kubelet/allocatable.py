"""What a node offers to pods: its capacity less what the kubelet keeps for the system and for eviction."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from trainyard.base.quantities import Format, Quantity
from trainyard.upstream.kubelet.machine import Machine
from trainyard.upstream.pods.demand import Resources
from trainyard.upstream.pods.resources import CPU, EPHEMERAL_STORAGE, HUGE_PAGES, MEMORY, PODS, is_huge_page

RESERVABLE = (CPU, MEMORY, EPHEMERAL_STORAGE, "pid")
"""What kubeReserved and systemReserved may name (kubernetes v1.35.4 cmd/kubelet/app/server.go parseResourceList)."""

SIGNALS = (
    "allocatableMemory.available",
    "containerfs.available",
    "containerfs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "pid.available",
)
"""What eviction watches (kubernetes v1.35.4 pkg/kubelet/eviction/api/types.go)."""

KEPT_BY = {MEMORY: "memory.available", EPHEMERAL_STORAGE: "nodefs.available"}
"""The hard thresholds that lessen what a node offers (kubernetes v1.35.4 pkg/kubelet/cm/helpers.go)."""

Threshold = Quantity | float
"""An amount, or a part of the capacity."""

NONE = Quantity(Decimal(0))


def capacity(machine: Machine, storage: Quantity | None = None) -> dict[str, Quantity]:
    """Return CPUs, memory, huge pages by size and, where it is known, local storage of a machine."""
    out = {
        CPU: Quantity(Decimal(f"{len(machine.cpus)}.000")),
        MEMORY: binary(sum(node.memory for node in machine.numa)),
    }
    for node in machine.numa:
        for size, held in node.huge_pages.items():
            name = huge_page(size)
            out[name] = binary(held // size * size) + out[name] if name in out else binary(held // size * size)
    return out if storage is None else {**out, EPHEMERAL_STORAGE: storage}


def huge_page(size: int) -> str:
    """Return the resource of huge pages of a size in bytes: `hugepages-2Mi`."""
    return f"{HUGE_PAGES}{binary(size)}"


def reserved_amounts(amounts: Mapping[str, str]) -> dict[str, Quantity]:
    """Read kubeReserved or systemReserved; raises ValueError with the kubelet's words."""
    out = {}
    for name, text in sorted(amounts.items()):
        if name not in RESERVABLE:
            raise ValueError(f'cannot reserve "{name}" resource')
        try:
            out[name] = Quantity.parse(text)
        except ValueError as error:
            raise ValueError(f'failed to parse quantity "{text}" for "{name}" resource: {error}') from None
        if out[name] < NONE:
            raise ValueError(f'resource quantity for "{name}" cannot be negative: {text}')
    return out


def thresholds(written: Mapping[str, str]) -> dict[str, Threshold]:
    """Read the hard eviction thresholds; raises ValueError with the kubelet's words (eviction/helpers.go)."""
    out: dict[str, Threshold] = {}
    for signal, text in sorted(written.items()):
        if signal not in SIGNALS:
            raise ValueError(f"unsupported eviction signal {signal}")
        if text.endswith("%"):
            if text not in ("0%", "100%"):
                out[signal] = _part(signal, text)
            continue
        amount = Quantity.parse(text)
        if amount <= NONE:
            raise ValueError(f"eviction threshold {signal} must be positive: {amount}")
        out[signal] = amount
    return out


def _part(signal: str, text: str) -> float:
    number = text.rstrip("%")
    try:
        part = single(single(float(number)) / 100)
    except ValueError:
        raise ValueError(f'strconv.ParseFloat: parsing "{number}": invalid syntax') from None
    if part < 0:
        raise ValueError(f"eviction percentage threshold {signal} must be >= 0%: {text}")
    if part > 1:
        raise ValueError(f"eviction percentage threshold {signal} must be <= 100%: {text}")
    return part


def single(number: float) -> float:
    """Round a number to the precision in which the kubelet keeps percentages."""
    rounded: float = struct.unpack("f", struct.pack("f", number))[0]
    return rounded


def kept_of(there: Resources, fields: Mapping[str, Any], named: int = 0) -> dict[str, Quantity]:
    """Return the amounts that a configuration keeps of a capacity; `named` CPUs are reserved by their numbers.

    Raises ValueError with the kubelet's words.
    """
    system, kube = dict(fields.get("systemReserved") or {}), dict(fields.get("kubeReserved") or {})
    if named:
        kube.pop(CPU, None)
        system[CPU] = str(named)
    amounts = {}
    for flag, written in (("kube-reserved", kube), ("system-reserved", system)):
        try:
            amounts[flag] = reserved_amounts(written)
        except ValueError as error:
            raise ValueError(f"--{flag} value failed to parse: {error}") from None
    limits = thresholds(fields["evictionHard"])
    return reservation(there, amounts["system-reserved"], amounts["kube-reserved"], limits)


def reservation(
    there: Resources, system: Resources, kube: Resources, limits: Mapping[str, Threshold]
) -> dict[str, Quantity]:
    """Return the reserved amount of each resource of the capacity, without amounts of zero.

    Source: kubernetes v1.35.4 pkg/kubelet/cm/node_container_manager_linux.go GetNodeAllocatableReservation.
    """
    out = {}
    for name, amount in there.items():
        parts = [system.get(name, NONE), kube.get(name, NONE)]
        if (limit := limits.get(KEPT_BY.get(name, ""))) is not None:
            parts.append(limit if isinstance(limit, Quantity) else binary(int(amount.value() * limit)))
        kept = NONE
        for part in parts:
            if part:
                kept = kept + part if kept else Quantity(part.amount, part.format)
        if kept:
            out[name] = kept
    return out


def too_much(there: Resources, kept: Resources) -> str | None:
    """Return the kubelet's words for more kept than there is (validateNodeAllocatable)."""
    said = [
        f'Resource "{name}" has a reservation of {_in_go(amount)} but capacity of {_in_go(there[name])}. '
        "Expected capacity >= reservation."
        for name, amount in sorted(kept.items())
        if amount > there[name]
    ]
    return f"invalid Node Allocatable configuration. {' '.join(said)}" if said else None


def allocatable(
    there: Resources, kept: Resources, *, pods: int, devices: Mapping[str, int] | None = None
) -> dict[str, Quantity]:
    """Return the allocatable resources of a node's status (kubernetes v1.35.4 pkg/kubelet/nodestatus/setters.go)."""
    out = {name: max(amount - kept[name], NONE) if name in kept else amount for name, amount in there.items()}
    out[PODS] = whole_number(pods)
    out |= {name: whole_number(count) for name, count in (devices or {}).items()}
    for name, amount in there.items():
        if is_huge_page(name):
            out[MEMORY] = max(out[MEMORY] - amount, NONE)
    return out


def whole_number(count: int) -> Quantity:
    """Return a number of things."""
    return Quantity(Decimal(count))


def binary(size: int) -> Quantity:
    """Return a number of bytes."""
    return Quantity(Decimal(size), Format.BINARY_SI)


def _in_go(amount: Quantity) -> str:
    """Write a quantity as Go prints the struct: digits and power of ten."""
    sign, digits, exponent = amount.exact.as_tuple()
    number = int(Decimal((sign, digits, 0)))
    return f"{{{{{number} {exponent}}} {{<nil>}}  {amount.format.value}}}"
