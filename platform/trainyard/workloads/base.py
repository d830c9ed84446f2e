"""What is true of an API kind that carries training: where its pods are, what its operator does, its health."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.documents import Path
from trainyard.specs import Job

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PodSet:
    """Equal pods of one object, as Kueue counts them: a name, how many, and where their template stands."""

    name: str
    count: int
    template: Path
    """Path of the PodTemplateSpec in the object."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Facts about one kind, without cdk8s; every fact has its source in the module that states it."""

    kind: str
    group: str
    """API group; empty for core."""
    version: str
    operator: str | None
    """The operator that reconciles it (a name in `releases`); None for what Kubernetes itself runs."""
    framework: str
    """Name in Kueue's `integrations.frameworks`."""
    launchers: frozenset[str] | None
    """Launchers that the kind can express; None: any, since it only runs pods."""
    pod_sets: Callable[[Object], list[PodSet]]
    """The pod sets of an object of this kind; never raises, a malformed object has none."""
    pod_names: Callable[[Object], list[str]] = field(default=lambda _: [])
    """Host names of the pods at the largest index, for the length checks."""
    host: Callable[[str, str, int], str] = field(default=lambda name, role, index: f"{name}-{role}-{index}")
    """Host name of one pod: of the object, the role and the index."""
    suffix: int = 0
    """Characters that the operator appends to a host name to name the pod, and counts in its length limit."""
    several_roles: bool = True
    """Whether it can carry roles beside the workers."""
    elastic: bool = False
    """Whether Kueue may admit it with fewer pods than it asks for, and lost pods are made anew one by one."""
    patchable: Callable[[Job], frozenset[str]] = field(default=lambda _: frozenset({"Pod"}))
    """Kinds of object that a job's `patches` may name: what a run of this kind consists of."""
    ignore: tuple[Mapping[str, Any], ...] = ()
    """Argo CD `ignoreDifferences` entries."""
    health: str | None = None
    """Argo CD health script in Lua, or None where Argo CD's own is right."""
    suspend: Path = ("spec", "suspend")
    ttl: Path | None = None
    injected: frozenset[str] = frozenset()
    """Environment variables that the operator sets, so that a manifest must not."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    """Annotations that every object of the kind needs under Argo CD."""

    @property
    def api_version(self) -> str:
        """As objects write it."""
        return f"{self.group}/{self.version}" if self.group else self.version
