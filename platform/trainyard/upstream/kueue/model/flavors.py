"""Flavors of resources, and the topologies that their nodes stand in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trainyard.upstream.pods.taints import Taint, Toleration


@dataclass(frozen=True, slots=True)
class ResourceFlavor:
    """A kind of nodes that quota is counted in."""

    name: str
    node_labels: Mapping[str, str] = field(default_factory=dict)
    node_taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    topology: str | None = None


@dataclass(frozen=True, slots=True)
class Topology:
    """Labels of nodes from the widest level to the narrowest."""

    name: str
    levels: tuple[str, ...]
