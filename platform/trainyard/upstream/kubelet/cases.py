"""A node, its kubelet and the pods that arrive, as a document: what a case says.

The format is that of a text that a person writes; the answer is in `answers`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.errors import SpecError
from trainyard.base.quantities import Quantity
from trainyard.upstream.kubelet import forms
from trainyard.upstream.kubelet.configuration.cpulist import parse
from trainyard.upstream.kubelet.machine import Cpu, Device, Machine, NumaNode
from trainyard.upstream.kubelet.releases import RELEASE
from trainyard.upstream.kubelet.sets import members

CASE = frozenset({"name", "kubernetes", "node", "kubelet", "pods", "explain"})
NODE = frozenset(
    {"name", "labels", "sockets", "threadsPerCore", "siblings", "coresPerL3", "numa", "distances"}
    | {"ephemeralStorage", "devices", "choice"}
)
NUMA = frozenset({"id", "socket", "copies", "cores", "cpus", "memory", "hugepages"})
DEVICES = frozenset({"ids", "count", "numa", "unhealthy"})

ALWAYS_THERE = ("2Mi", "1Gi")
"""Sizes of huge pages that every kernel of x86 has, though it may hold none of them."""

HERE, NEAR, FAR = 10, 12, 32
"""Distances where a case says none: inside a NUMA node, inside a socket, between sockets."""


@dataclass(frozen=True)
class Case:
    """One node, the configuration of its kubelet, and what happens on it."""

    name: str
    machine: Machine
    kubelet: Mapping[str, Any]
    steps: tuple[Mapping[str, Any], ...] = ()
    """Pods in the order of their arrival, and between them `{remove: [name]}`."""
    node: str = "node"
    labels: Mapping[str, str] = field(default_factory=dict)
    storage: Quantity | None = None
    release: str = RELEASE
    """The release of Kubernetes that the kubelet is of."""
    explain: bool = False
    """Whether the answer says the hints of every merge."""

    @staticmethod
    def read(value: Any) -> Case:
        """Return the case of a document; raises SpecError for one that says nothing of the kind."""
        case = _known(value, CASE, "case")
        node = _known(case.get("node"), NODE, "node")
        forms.check(case, forms.CASE, "case")
        storage = node.get("ephemeralStorage")
        return Case(
            name=case.get("name") or "",
            machine=machine(node),
            kubelet=case.get("kubelet") or {},
            steps=tuple(case.get("pods") or ()),
            node=node.get("name") or "node",
            labels=node.get("labels") or {},
            storage=None if storage is None else _amount(storage, "ephemeralStorage"),
            release=case.get("kubernetes") or RELEASE,
            explain=bool(case.get("explain")),
        )


def machine(node: Mapping[str, Any]) -> Machine:
    """Return the machine that a case describes; raises SpecError where it cannot be."""
    nodes = list(_parts(node))
    layout = _Layout.of(node, nodes)
    cpus = tuple(layout.cpus())
    return Machine(
        numa=tuple(layout.numa_nodes(_page_sizes(nodes))),
        cpus=cpus,
        devices=dict(_devices(node.get("devices") or {})),
        unadvised=frozenset(_unadvised(node)),
    )


def _parts(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the NUMA nodes of a case, each as often as it says; raises SpecError for more than a machine has."""
    nodes, cpus = 0, 0
    for part in node.get("numa") or ():
        copies = max(_known(part, NUMA, "numa").get("copies") or 1, 1)
        nodes += copies
        cpus += copies * (part.get("cores") or 0) * max(node.get("threadsPerCore") or 1, 1)
        if nodes > forms.MOST_NUMA or cpus > forms.MOST_CPUS:
            raise SpecError(f"node has more than {forms.MOST_NUMA} NUMA nodes or {forms.MOST_CPUS} CPUs; correct numa")
        yield from (part for _ in range(copies))


@dataclass(frozen=True)
class _Layout:
    """Where the NUMA nodes of a case lie: in sockets, and which CPUs are theirs."""

    parts: Sequence[Mapping[str, Any]]
    ids: tuple[int, ...]
    sockets: tuple[int, ...]
    threads: int
    adjacent: bool
    cores_per_cache: int
    distances: Sequence[Sequence[int]]

    @staticmethod
    def of(node: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> _Layout:
        with_cpus = [bool(part.get("cores") or part.get("cpus")) for part in parts]
        if not any(with_cpus):
            raise SpecError("node has no CPUs; write cores or cpus for a NUMA node")
        count = node.get("sockets") or min(sum(with_cpus), 2)
        ids = tuple(_said(part, "id", index) for index, part in enumerate(parts))
        if twice := [id_ for id_ in ids if ids.count(id_) > 1]:
            raise SpecError(f"NUMA node {twice[0]} is there twice; give every node an id of its own")
        siblings = node.get("siblings") or "apart"
        if siblings not in ("apart", "adjacent"):
            raise SpecError(f"siblings is {siblings!r}; write apart or adjacent")
        sockets = tuple(
            _said(part, "socket", sum(with_cpus[:index]) * count // sum(with_cpus)) for index, part in enumerate(parts)
        )
        threads, per_cache = max(node.get("threadsPerCore") or 1, 1), node.get("coresPerL3") or 0
        return _Layout(parts, ids, sockets, threads, siblings == "adjacent", per_cache, node.get("distances") or ())

    def numa_nodes(self, page_sizes: Sequence[int]) -> Iterator[NumaNode]:
        """Yield the NUMA nodes with their memory."""
        for index, (id_, part) in enumerate(zip(self.ids, self.parts, strict=True)):
            pages = dict.fromkeys(page_sizes, 0)
            for name, amount in (part.get("hugepages") or {}).items():
                size = _page_size(name)
                pages[size] = _amount(amount, "hugepages").value() // size * size
            memory = _amount(part.get("memory") or 0, "memory").value()
            yield NumaNode(id_, memory, pages, tuple(self._distances(index)))

    def _distances(self, index: int) -> Iterator[int]:
        if index < len(self.distances):
            yield from self.distances[index]
            return
        for id_, socket in zip(self.ids, self.sockets, strict=True):
            yield HERE if id_ == self.ids[index] else NEAR if socket == self.sockets[index] else FAR

    def cpus(self) -> Iterator[Cpu]:
        """Yield the CPUs, core by core."""
        total, first, counted = sum(part.get("cores") or 0 for part in self.parts), 0, 0
        for id_, part, socket in zip(self.ids, self.parts, self.sockets, strict=True):
            for core in self._cores(part, first, total):
                cache = counted // self.cores_per_cache if self.cores_per_cache else socket
                counted += 1
                for cpu in core:
                    yield Cpu(cpu, min(core), socket, id_, cache)
            first += part.get("cores") or 0

    def _cores(self, part: Mapping[str, Any], first: int, total: int) -> Iterator[list[int]]:
        """Yield the CPUs of each core of a NUMA node; its cores count from `first`, of `total` in the machine."""
        cpus, count = self._numbers(part), part.get("cores") or 0
        if cpus and count:
            raise SpecError("a NUMA node has both cores and cpus; write one of them")
        if count and self.adjacent:
            cpus = list(range(self.threads * first, self.threads * (first + count)))
        elif count:
            cpus = [thread * total + first + core for thread in range(self.threads) for core in range(count)]
        count = len(cpus) // self.threads
        if count * self.threads != len(cpus):
            raise SpecError(f"{len(cpus)} CPUs make no whole cores of {self.threads} threads; correct cpus")
        for core in range(count):
            if self.adjacent:
                yield cpus[self.threads * core : self.threads * (core + 1)]
            else:
                yield cpus[core::count]

    @staticmethod
    def _numbers(part: Mapping[str, Any]) -> list[int]:
        try:
            found = parse(part.get("cpus") or "")
        except ValueError as error:
            raise SpecError(f"cpus is {part['cpus']!r}; write a list like 0-55,112-167 ({error})") from None
        if found >> forms.MOST_CPUS:
            raise SpecError(f"cpus is {part['cpus']!r}; a machine has CPUs up to {forms.MOST_CPUS - 1}")
        return list(members(found))


def _page_sizes(parts: Sequence[Mapping[str, Any]]) -> list[int]:
    names = {*ALWAYS_THERE, *(size for part in parts for size in part.get("hugepages") or {})}
    return sorted({_page_size(name) for name in names})


def _page_size(name: str) -> int:
    size = _amount(name, "hugepages").value()
    if size <= 0:
        raise SpecError(f"hugepages has pages of {name!r}; write a size such as 2Mi or 1Gi")
    return size


def _said(part: Mapping[str, Any], name: str, otherwise: int) -> int:
    said = part.get(name)
    return otherwise if said is None else int(said)


def _devices(devices: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Device, ...]]]:
    for resource, groups in devices.items():
        found: list[Device] = []
        for group in groups or ():
            _known(group, DEVICES, "devices")
            short, start = resource.rpartition("/")[2], len(found)
            ids = [*(group.get("ids") or ())]
            ids += [f"{short}-{start + index}" for index in range(group.get("count") or 0)]
            numa = group.get("numa")
            forms.check(numa, forms.PLACES if isinstance(numa, list) else forms.PLACE, "devices.numa")
            places = None if numa is None else tuple(numa) if isinstance(numa, list) else (numa,)
            found += [Device(id_, places, not group.get("unhealthy", False)) for id_ in ids]
        known = Counter(device.id for device in found)
        if twice := [device_id for device_id, times in known.items() if times > 1]:
            raise SpecError(f"device {twice[0]!r} of {resource} is there twice; give every device an id of its own")
        yield resource, tuple(found)


def _unadvised(node: Mapping[str, Any]) -> Iterator[str]:
    for resource, choice in (node.get("choice") or {}).items():
        if resource not in (node.get("devices") or {}) or choice not in ("first", "none"):
            raise SpecError(f"choice of {resource!r} is {choice!r}; write first or none for a resource of devices")
        if choice == "none":
            yield resource


def _known(value: Any, names: frozenset[str], what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise SpecError(f"{what} is no map; write its fields")
    if unknown := sorted(set(value) - names):
        raise SpecError(f"{what} has no field {unknown[0]!r}; it has: {', '.join(sorted(names))}")
    return value


def _amount(value: Any, what: str) -> Quantity:
    try:
        return Quantity.parse(value)
    except ValueError as error:
        raise SpecError(f"{what} is {value!r}: {error}") from None
