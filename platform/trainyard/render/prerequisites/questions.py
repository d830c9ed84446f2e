"""What a machine can ask an API server about a prerequisite; every question only reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from trainyard.upstream.pods.taints import Taint


@dataclass(frozen=True, slots=True)
class ServerMinor:
    """Whether the API server is of this minor version, and no kubelet is newer or more than three minors older."""

    minor: str


@dataclass(frozen=True, slots=True)
class PoolNodes:
    """Whether so many nodes have the label of the pool, these taints, and no other taint that keeps pods away."""

    pool: str
    count: int
    taints: tuple[Taint, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeLabels:
    """Whether every node of the pools has these labels, with the value where one is said."""

    pools: tuple[str, ...]
    keys: tuple[str, ...]
    value: str | None = None


@dataclass(frozen=True, slots=True)
class NodeOffers:
    """Whether the kubelet of every node of the pool offers at least these amounts."""

    pool: str
    amounts: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class NodeRuntime:
    """Whether the nodes of the pools run this container runtime."""

    pools: tuple[str, ...]
    runtime: str


@dataclass(frozen=True, slots=True)
class NodeRelease:
    """Whether the kubelets of the pool's nodes are of this minor version."""

    pool: str
    minor: str


@dataclass(frozen=True, slots=True)
class NodeKernel:
    """Whether the nodes of the pool run this release of the kernel or a newer one."""

    pool: str
    release: str


@dataclass(frozen=True, slots=True)
class GpuDriver:
    """Whether the driver that a label of the nodes names is of these branches, or of this release."""

    pool: str
    label: str
    least: int | None = None
    most: int | None = None
    exact: str | None = None


@dataclass(frozen=True, slots=True)
class Definitions:
    """Whether these CustomResourceDefinitions, or any one of them, exist and serve these versions."""

    versions: Mapping[str, tuple[str, ...]]
    """Versions that are used, by the definition as `plural.group`; none said: any."""
    some: bool = False
    """Whether one of them is enough."""


@dataclass(frozen=True, slots=True)
class Existing:
    """Whether an object exists at this path of the API server, with these fields where any are said."""

    kind: str
    name: str
    path: str
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AllExisting:
    """Whether all of these objects exist."""

    objects: tuple[Existing, ...]


@dataclass(frozen=True, slots=True)
class Webhooks:
    """Whether webhooks that must answer have a Service with endpoints; of all of a cluster, or of some API groups.

    Of API groups there must be some of each kind, and none that lets objects pass while it does not answer.
    """

    groups: tuple[str, ...] = ()
    """API groups that their rules name; none said: every webhook of the cluster."""
    kinds: tuple[str, ...] = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
    """Kinds of configuration that are looked for."""


@dataclass(frozen=True, slots=True)
class CsiDriver:
    """Whether the storage driver is registered, and on every node of the pools."""

    name: str
    pools: tuple[str, ...]


Question = (
    ServerMinor
    | PoolNodes
    | NodeLabels
    | NodeOffers
    | NodeRuntime
    | NodeRelease
    | NodeKernel
    | GpuDriver
    | Definitions
    | Existing
    | AllExisting
    | CsiDriver
    | Webhooks
)


def namespaced(kind: str, plural: str, namespace: str, name: str) -> Existing:
    """Return the question for an object of the core API in a namespace."""
    return Existing(kind, f"{namespace}/{name}", f"/api/v1/namespaces/{namespace}/{plural}/{name}")
