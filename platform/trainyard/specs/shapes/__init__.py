"""Node shapes: what one machine of a pool has, as data with a source per fact."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Annotated, Literal

from pydantic import Field, StrictInt, StrictStr

from trainyard.base.documents import load
from trainyard.base.errors import SpecError
from trainyard.specs.models.base import (
    MOST_CPUS,
    MOST_NUMA,
    Amount,
    Count,
    CpuList,
    Few,
    Form,
    Labels,
    Room,
    Size,
    Spec,
    Text,
)
from trainyard.upstream.pods.resources import NVIDIA_GPU

MOST_THREADS = 8
"""Threads of a core; POWER has eight, x86 two."""


class Gpus(Spec):
    """The accelerators of a node."""

    count: Few
    """How many a node has."""
    vendor: Literal["nvidia", "amd"]
    """Who made them."""
    product: Text
    """As the node's product label has it."""
    resource: Text = NVIDIA_GPU
    """Extended resource of whole GPUs."""
    memory: Room
    """Bytes of one GPU."""


PciAddress = Annotated[
    StrictStr, Form(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", "a PCI address such as 0000:18:00.0")
]


class Nic(Spec):
    """One network interface of the training fabric."""

    name: Text
    """RDMA device on the node, such as `mlx5_0`."""
    pci: PciAddress | None = None
    """PCI address, the same on every node of the shape; a network device's name depends on the mode of its port."""
    interface: Text | None = None
    """Network device, such as `ens1f0np0`."""
    rail: Annotated[StrictInt, Field(ge=0, lt=MOST_NUMA)]
    """Which rail it is on, from 0; NICs of one rail reach each other through one switch."""
    speed: Size
    """Bits per second."""
    link: Literal["ethernet", "infiniband", "either"]
    """What the port speaks; `either` where it can be switched."""
    virtual_functions: Amount = 0
    """The most virtual functions that it can be split into; 0: it cannot."""


class Numa(Spec):
    """One NUMA node: CPUs, memory and the indices of the GPUs and NICs that hang on it."""

    cpus: CpuList
    """CPU list, such as `0-55,112-167`."""
    memory: Room
    """Bytes."""
    gpus: tuple[StrictInt, ...] = ()
    """Indices of its GPUs."""
    nics: tuple[StrictInt, ...] = ()
    """Indices of its NICs."""


class Share(Spec):
    """CPUs and memory that pods cannot have."""

    cpus: Size
    """CPUs, whole or in thousandths (`500m`)."""
    memory: Room
    """Bytes."""


class Shape(Spec):
    """One node: capacity, what the system and daemons keep, and how devices hang on NUMA nodes."""

    cpus: Annotated[StrictInt, Field(ge=1, le=MOST_CPUS)]
    """Logical CPUs."""
    threads_per_core: Annotated[StrictInt, Field(ge=1, le=MOST_THREADS)] = 2
    """Logical CPUs of one physical core."""
    memory: Room
    """Bytes, as the kernel tells them."""
    ephemeral_storage: Room
    """Bytes of the file system with the kubelet's folder."""
    gpus: Gpus | None = None
    """Its GPUs; default: none."""
    nics: tuple[Nic, ...] = ()
    """Its NICs on the training fabric."""
    devices: dict[Text, Count] = {}
    """Extended resources of the training fabric that device plugins of the provider advertise, by name."""
    huge_pages: dict[Literal["2Mi", "1Gi"], Room] = {}
    """Memory that the node's image sets aside in huge pages, by page size; no other memory is to be had of it."""
    numa: Annotated[tuple[Numa, ...], Field(max_length=MOST_NUMA)] = ()
    """Its NUMA nodes; unsaid: one with everything."""
    gpu_numa: Annotated[StrictInt, Field(ge=0, le=MOST_NUMA)] = 0
    """NUMA nodes without CPUs that the machine shows for the memory of its GPUs."""
    nvlink_nodes: Count = 1
    """Nodes whose GPUs share one NVLink domain; 1: NVLink ends at the node."""
    reserved: Share
    """Kept by the kubelet for the system (capacity less allocatable)."""
    daemons: Share
    """Requested by all daemon pods of a node together, unless a pool tells of those of others."""
    labels: Labels = {}
    """Labels that the provider or the GPU operator puts on such nodes."""
    spot_notice: Count | None = None
    """Seconds that pods have when the provider takes such a node away, where it does."""
    max_pods: Count = 110
    """The most pods that the kubelet takes, unless a pool's `kubelet` says otherwise."""
    sources: dict[str, Text] = {}
    """Where each fact of a preset comes from: field -> document."""

    def assumes(self, field: str) -> bool:
        """Whether nobody has measured or documented a fact, or a part of it, as its source says."""
        return "assumed" in self.sources.get(field, "")


@cache
def names() -> tuple[str, ...]:
    """Names of the presets, sorted."""
    files = resources.files(__name__).iterdir()
    return tuple(sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml")))


def is_known_shape(shape: Shape | str) -> bool:
    """Whether a pool's shape is spelled out, or a preset that exists."""
    return isinstance(shape, Shape) or shape in names()


@cache
def preset(name: str) -> Shape:
    """Return the preset `name`; raises SpecError if there is none."""
    if name not in names():
        raise SpecError(f"node shape {name!r} does not exist")
    file = resources.files(__name__) / f"{name}.yaml"
    documents, findings = load(file.read_bytes(), file=f"{name}.yaml")
    if findings:
        raise SpecError(f"node shape {name!r} cannot be read: {findings[0].message}")
    return Shape.model_validate(documents[0].value)
