"""Node shapes: what one machine of a pool has, as data with a source per fact."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Annotated, Literal

from pydantic import Field, StrictInt, StrictStr, model_validator

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
    validation_error,
)
from trainyard.upstream.kubelet.configuration.cpulist import parse
from trainyard.upstream.kubelet.sets import members
from trainyard.upstream.pods.resources import NVIDIA_GPU

MOST_THREADS = 8
"""Threads of a core; POWER has eight, x86 two."""


class Gpus(Spec):
    """The GPUs of a node."""

    count: Few
    """Number of GPUs."""
    vendor: Literal["nvidia", "amd"]
    """Manufacturer."""
    product: Text
    """Value of the node's product label."""
    resource: Text = NVIDIA_GPU
    """Name of the extended resource for whole GPUs."""
    memory: Room
    """Bytes of one GPU."""


PciAddress = Annotated[
    StrictStr, Form(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", "a PCI address such as 0000:18:00.0")
]


NicType = Annotated[StrictStr, Form(r"[0-9a-f]{4}", "a PCI device ID such as '1021', in quotes")]


class Nic(Spec):
    """One network interface of the training fabric."""

    name: Text
    """Name of the RDMA device on the node, such as `mlx5_0`."""
    pci: PciAddress | None = None
    """PCI address, equal on all nodes of the shape; the network device's name depends on the port's mode."""
    interface: Text | None = None
    """Name of the network device, such as `ens1f0np0`."""
    rail: Annotated[StrictInt, Field(ge=0, lt=MOST_NUMA)]
    """Number of the NIC's rail, from 0; one switch connects the NICs of a rail."""
    speed: Size
    """Bits per second."""
    link: Literal["ethernet", "infiniband", "either"]
    """Protocol of the port; `either` if it can be switched."""
    virtual_functions: Amount = 0
    """Largest number of virtual functions; 0: none."""


class Numa(Spec):
    """One NUMA node: its CPUs, its memory, and the indices of its GPUs and NICs."""

    cpus: CpuList
    """CPUs of the NUMA node, such as `0-55,112-167`."""
    memory: Room
    """Bytes of memory."""
    gpus: tuple[StrictInt, ...] = ()
    """Indices of its GPUs."""
    nics: tuple[StrictInt, ...] = ()
    """Indices of its NICs."""


class Share(Spec):
    """CPUs and memory that are not available to pods."""

    cpus: Size
    """CPUs, whole or in thousandths (`500m`)."""
    memory: Room
    """Bytes of memory."""


Provider = Literal["aws", "azure", "coreweave", "google", "oracle"]
"""Clouds whose machines there are presets for."""


class Shape(Spec):
    """One node: its capacity, the parts for the system and for daemons, and the NUMA nodes of its devices."""

    provider: Provider | None = None
    """Cloud that rents the machine; labels and reservations are those of its Kubernetes service. Default: none."""

    cpus: Annotated[StrictInt, Field(ge=1, le=MOST_CPUS)]
    """Number of logical CPUs."""
    threads_per_core: Annotated[StrictInt, Field(ge=1, le=MOST_THREADS)] = 2
    """Logical CPUs per physical core."""
    memory: Room
    """Bytes of memory, as the kernel reports them."""
    ephemeral_storage: Room
    """Bytes of the file system with the kubelet's folder."""
    local_storage: Room | None = None
    """Bytes of all local disks of the machine together, before any file system; default: not known."""
    gpus: Gpus | None = None
    """GPUs of the node; default: none."""
    nics: tuple[Nic, ...] = ()
    """NICs on the training fabric."""
    nic_type: NicType | None = None
    """PCI device ID of these NICs, such as "1021" for ConnectX-7 or a2dc for BlueField-3, as `lspci -n` prints it."""
    devices: dict[Text, Count] = {}
    """Extended resources of the training fabric that the provider's device plugins advertise, by name."""
    huge_pages: dict[Literal["2Mi", "1Gi"], Room] = {}
    """Memory that the node's image sets aside as huge pages, by page size; it is not available as other memory."""
    numa: Annotated[tuple[Numa, ...], Field(max_length=MOST_NUMA)] = ()
    """NUMA nodes; default: one with all CPUs, memory and devices."""
    gpu_numa: Annotated[StrictInt, Field(ge=0, le=MOST_NUMA)] = 0
    """Number of NUMA nodes without CPUs that hold GPU memory."""
    nvlink_nodes: Count = 1
    """Number of nodes in one NVLink domain; 1: NVLink connects GPUs of one node only."""
    reserved: Share
    """CPUs and memory that the kubelet reserves for the system (capacity minus allocatable)."""
    daemons: Share
    """CPUs and memory that all daemon pods of a node request together, unless the pool lists `daemons`."""
    labels: Labels = {}
    """Labels that the provider or the GPU operator sets on such nodes."""
    spot_notice: Count | None = None
    """Seconds of notice before the provider takes such a node away, if it does."""
    max_pods: Count = 110
    """Largest number of pods that the kubelet runs, unless the pool's `kubelet` sets another."""
    sources: dict[str, Text] = {}
    """Source of each fact of a preset: field -> document."""

    @model_validator(mode="after")
    def numa_apart(self) -> Shape:
        """Refuse a CPU that is in two NUMA nodes."""
        taken: set[int] = set()
        for numa in self.numa:
            cpus = set(members(parse(numa.cpus)))
            if both := taken & cpus:
                raise validation_error("range", f"has CPU {min(both)} in two of numa; list each CPU once")
            taken |= cpus
        return self

    def assumes(self, field: str) -> bool:
        """Whether nobody has measured or documented a fact, or a part of it, as its source says."""
        return "assumed" in self.sources.get(field, "")


class UnknownShapeError(SpecError):
    """A pool names a shape that does not exist, for which its cluster has a finding."""


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
    """Return the preset `name`; raises UnknownShapeError if there is none, and SpecError if it cannot be read."""
    if name not in names():
        raise UnknownShapeError(f"node shape {name!r} does not exist")
    file = resources.files(__name__) / f"{name}.yaml"
    documents, findings = load(file.read_bytes(), file=f"{name}.yaml")
    if findings:
        raise SpecError(f"node shape {name!r} cannot be read: {findings[0].message}")
    return Shape.model_validate(documents[0].value)
