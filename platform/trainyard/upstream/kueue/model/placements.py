"""Where pods are put: what is asked of a topology, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainyard.upstream.kueue.model.amounts import Amounts
from trainyard.upstream.kueue.model.gates import Gates
from trainyard.upstream.kueue.model.workloads import PodSet
from trainyard.upstream.pods.taints import Toleration


@dataclass(frozen=True, slots=True)
class Domain:
    """So many pods in one domain: the values of its levels, or of the lowest alone where that is a host name."""

    values: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Placement:
    """The place of a pod set."""

    levels: tuple[str, ...]
    domains: tuple[Domain, ...]


@dataclass(frozen=True, slots=True)
class PlacedPods:
    """Pods of one shape in one domain."""

    values: tuple[str, ...]
    pod: Amounts
    count: int


@dataclass(frozen=True, slots=True)
class PlacementRequest:
    """Pods of a set that look for a place in one flavor.

    `spec` is the adjusted one (overhead, limit ranges, limits as requests), `pod` what one pod asks of a node.
    """

    pod_set: PodSet
    spec: Mapping[str, Any]
    pod: Amounts
    count: int
    flavor: str
    implied: bool
    group: str | None
    selectors: tuple[Mapping[str, str], ...] = ()
    tolerations: tuple[Toleration, ...] = ()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Objects that change what a pod asks for, as they came: by namespace and name, or by name alone."""

    limit_ranges: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    runtime_classes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    device_classes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    claim_templates: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    resources: Mapping[str, Any] = field(default_factory=dict)
    gates: Gates = field(default_factory=Gates)
