"""What a run is, told from its manifests: kind, pods, devices, pool, queue and checkpoints."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.findings import count_of
from trainyard.base.manifests import value_at
from trainyard.base.pools import Selectors
from trainyard.base.quantities import whole_number
from trainyard.change.plan.read.requests import asks, cores
from trainyard.render.parts.contract import DIR, EVERY
from trainyard.render.tree.references import LABELS
from trainyard.upstream.pods.resources import is_native
from trainyard.upstream.workloads import Carrier, carrier_of, pod_sets_of

VENDORS = ("nvidia.com/", "amd.com/")
"""What the resources of GPUs, and of parts of GPUs, begin with."""

VOLCANO = "batch.volcano.sh"


@dataclass(frozen=True, slots=True)
class Shape:
    """A run in words, claim and folder of its checkpoints, if it has any, and how many GPUs it holds."""

    words: str = ""
    claim: str | None = None
    gpus: int = 0
    """GPUs of all pods, whole or in parts."""
    folder: str = ""
    pods: int = 0
    queue: str = ""
    pools: tuple[str, ...] = ()
    hours: float | None = None
    """Its deadline; None where it has none."""
    every: int | None = None
    """Minutes between two checkpoints."""
    grace: int = 0
    """Seconds that its pods have to end, of those the longest."""
    local: bool = False
    """Whether pods have an emptyDir."""
    labels: tuple[Mapping[str, str], ...] = ()
    """Labels of its pods, by pod set."""
    asks: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """What all pods of a pool ask for, by pool and resource: cores, bytes, devices."""


def shape(objects: Iterable[Any], selectors: Selectors) -> Shape:
    """Return the shape of a run; of objects without a workload nothing is known.

    `selectors` are the labels by which its cluster's file says that pods select each pool.
    """
    known = [value for value in objects if isinstance(value, Mapping)]
    for value in known:
        row = carrier_of(value)
        if row is not None and row.trains:
            return _shape(value, row, known, selectors)
    return Shape()


def _shape(value: Mapping[str, Any], row: Carrier, others: Iterable[Mapping[str, Any]], selectors: Selectors) -> Shape:
    found = pod_sets_of(value, others)
    sets = [pod_set for pod_set, _ in found]
    specs = [value_at(template, ("spec",)) for _, template in found]
    pods = sum(set_.count for set_ in sets)
    words = f"{row.kind} of {count_of(pods, 'pod')}"
    indices = value_at(value, ("spec", "completions"))
    if row.kind == "Job" and isinstance(indices, int) and indices > pods:
        words += f" at once, {indices} indices"
    wanted = asks(sets, specs, selectors)
    devices = _devices(wanted.values())
    held = list(_named(devices)) or list(cores(wanted))
    words += f" with {' and '.join(held)}" if held else ""
    pools = tuple(sorted(pool for pool in wanted if pool))
    words += f", pool {' and '.join(pools)}" if pools else ""
    labels = value_at(value, ("metadata", "labels"))
    named = {what: labels.get(label) for label, what in LABELS.items()} if isinstance(labels, Mapping) else {}
    if row.group == VOLCANO:  # Kueue knows nothing of these: they name a Queue of Volcano's
        named["queue"] = value_at(value, ("spec", "queue"))
    elif named.get("queue") is None:  # an operator groups them for Volcano
        named["queue"] = value_at(value, ("spec", "runPolicy", "schedulingPolicy", "queue"))
    words += "".join(f", {what} {name}" for what, name in sorted(named.items(), reverse=True) if name)
    claim, folder = next((place for spec in specs if (place := _checkpoint_claim(spec))), (None, ""))
    gpus = sum(amount for name, amount in devices.items() if name.startswith(VENDORS))
    queue = named.get("queue")
    return Shape(
        words,
        claim,
        gpus,
        folder,
        pods=pods,
        queue=queue if isinstance(queue, str) else "",
        pools=pools,
        hours=_hours(value),
        every=_every(specs),
        grace=max((_grace(spec) for spec in specs), default=0),
        local=any("emptyDir" in volume for spec in specs for volume in _volumes(spec)),
        labels=tuple(dict(value_at(template, ("metadata", "labels")) or {}) for _, template in found),
        asks=wanted,
    )


def _hours(value: Any) -> float | None:
    """Return the longest deadline anywhere in an object, in hours."""
    if isinstance(value, Mapping):
        own = value.get("activeDeadlineSeconds")
        found = [own / 3600] if isinstance(own, int) and not isinstance(own, bool) else []
        found += [hours for item in value.values() if (hours := _hours(item)) is not None]
        return max(found, default=None)
    return max((hours for item in _list(value) if (hours := _hours(item)) is not None), default=None)


def _volumes(spec: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the volumes of a pod."""
    yield from (item for item in _list(value_at(spec, ("volumes",))) if isinstance(item, Mapping))


def _grace(spec: Any) -> int:
    """Return the seconds that a pod has to end; Kubernetes gives 30 where it says nothing."""
    found = value_at(spec, ("terminationGracePeriodSeconds",))
    return found if isinstance(found, int) and not isinstance(found, bool) else 30


def _every(specs: Iterable[Any]) -> int | None:
    """Return the minutes between two checkpoints, as the contract's variable says them."""
    texts = (
        item.get("value")
        for spec in specs
        for container in _list(value_at(spec, ("containers",)))
        for item in _list(value_at(container, ("env",)))
        if isinstance(item, Mapping) and item.get("name") == EVERY
    )
    numbers = (whole_number(text) for text in texts if isinstance(text, str))
    return next((number for number in numbers if number is not None), None)


def _devices(wanted: Iterable[Mapping[str, float]]) -> Counter[str]:
    """Return the devices of all pods together: everything but CPUs, memory and disk."""
    total: Counter[str] = Counter()
    for amounts in wanted:
        total.update({name: int(amount) for name, amount in amounts.items() if not is_native(name)})
    return +total


def _named(devices: Mapping[str, int]) -> Iterator[str]:
    """Yield devices in words, GPUs first: `64 nvidia.com/gpu`; of those that differ by a number, the number of them."""
    groups: dict[tuple[bool, str, int], list[str]] = {}
    for name, amount in sorted(devices.items()):
        stem = re.sub(r"\d+$", "", name)
        groups.setdefault((not name.startswith(VENDORS), stem, amount), []).append(name)
    for (_, stem, amount), names in sorted(groups.items()):
        yield f"{amount} {names[0]}" if len(names) == 1 else f"{amount} each of {len(names)} {stem}*"


def _checkpoint_claim(spec: Any) -> tuple[str, str] | None:
    """Return the claim, and the folder of it, that is mounted where the program is told to keep its checkpoints."""
    volumes = {item.get("name"): item for item in _list(value_at(spec, ("volumes",))) if isinstance(item, Mapping)}
    for container in _list(value_at(spec, ("containers",))):
        env = {
            item.get("name"): item.get("value")
            for item in _list(value_at(container, ("env",)))
            if isinstance(item, Mapping)
        }
        for mount in _list(value_at(container, ("volumeMounts",))):
            if isinstance(mount, Mapping) and DIR in env and mount.get("mountPath") == env[DIR]:
                claim = value_at(volumes.get(mount.get("name")), ("persistentVolumeClaim", "claimName"))
                folder = str(mount.get("subPath") or mount.get("subPathExpr") or "").partition("/$(")[0]
                return (claim, folder) if isinstance(claim, str) else None
    return None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
