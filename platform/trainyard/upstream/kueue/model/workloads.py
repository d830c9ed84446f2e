"""Workloads: the pods that a job asks quota for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class SliceConstraint:
    """One layer of slices: so many pods stand together in one domain of a level."""

    topology: str
    size: int


@dataclass(frozen=True, slots=True)
class TopologyRequest:
    """Where the pods of a set should stand, as it is written."""

    required: str | None = None
    preferred: str | None = None
    unconstrained: bool | None = None
    slices: tuple[SliceConstraint, ...] = ()
    slice_topology: str | None = None
    slice_size: int | None = None
    group: str | None = None

    @property
    def explicit(self) -> bool:
        """Say whether the pods ask for a topology at all (kueue v0.19.2 IsExplicitlyRequestingTAS)."""
        return (
            self.required is not None
            or self.preferred is not None
            or self.unconstrained is not None
            or self.slice_topology is not None
            or self.slice_size is not None
            or bool(self.slices)
        )


@dataclass(frozen=True, slots=True)
class PodSet:
    """Pods of one shape. `spec` is the pods' own, as it came."""

    name: str
    count: int
    min_count: int | None
    spec: Mapping[str, Any]
    topology: TopologyRequest | None = None

    @property
    def group(self) -> str | None:
        """The group of pod sets that get their flavors and their place together."""
        return self.topology.group if self.topology else None

    @property
    def explicit(self) -> bool:
        """Say whether the pods ask for a topology at all."""
        return self.topology is not None and self.topology.explicit


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """What a job asks for; `created` is in nanoseconds since 1970. `source` is the object as it came."""

    namespace: str
    name: str
    uid: str
    queue: str
    priority: int
    created: int
    pod_sets: tuple[PodSet, ...]
    active: bool = True
    annotations: Mapping[str, str] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Namespace and name."""
        return f"{self.namespace}/{self.name}"
