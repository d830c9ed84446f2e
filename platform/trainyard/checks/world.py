"""What policies look at: all objects of one cluster and, where it is known, the cluster's declared inventory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from trainyard.carriers import Carrier, PodSet, carriers
from trainyard.documents import Path
from trainyard.findings import Location
from trainyard.labels import QUEUE
from trainyard.manifests import Manifest
from trainyard.specs import Cluster

QUEUE_LABEL = QUEUE


@dataclass(frozen=True, slots=True)
class Place:
    """A field of an object: where a problem is reported."""

    manifest: Manifest
    path: Path = ()
    key: bool = False
    """Whether the place is the key itself rather than its value."""

    @property
    def location(self) -> Location:
        """The field's file, line and column; a missing field is reported at its nearest ancestor."""
        return self.manifest.location(self.path, key=self.key)


@dataclass(frozen=True, slots=True)
class Pods:
    """Equal pods of a training job."""

    manifest: Manifest
    name: str
    count: int
    template: Path

    @property
    def spec(self) -> Mapping[str, Any]:
        """The pod spec; empty where it is missing or malformed."""
        found = self.manifest.get(*self.template, "spec")
        return found if isinstance(found, Mapping) else {}

    @property
    def annotations(self) -> Mapping[str, Any]:
        """Annotations of the template."""
        found = self.manifest.get(*self.template, "metadata", "annotations")
        return found if isinstance(found, Mapping) else {}

    def containers(self, *, init: bool = True) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Yield path and value of every container, init containers first."""
        fields = ("initContainers", "containers") if init else ("containers",)
        for field in fields:
            listed = self.spec.get(field)
            for index, container in enumerate(listed if isinstance(listed, list) else []):
                if isinstance(container, Mapping):
                    yield (*self.template, "spec", field, index), container

    def place(self, *path: str | int) -> Place:
        """Return a place inside the template."""
        return Place(self.manifest, (*self.template, *path))


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """An object of a kind that carries training."""

    manifest: Manifest
    carrier: Carrier

    @property
    def name(self) -> str:
        """The object's name."""
        return self.manifest.name

    @property
    def namespace(self) -> str:
        """The object's namespace; `default` where none is written, as the API server reads it."""
        return self.manifest.namespace or "default"

    @property
    def queue_name(self) -> str | None:
        """Value of the queue label, or None where the job is not queued."""
        value = self.manifest.labels.get(QUEUE_LABEL)
        return value if isinstance(value, str) else None

    def label(self, key: str) -> Place:
        """Return the place of a label's value."""
        return Place(self.manifest, ("metadata", "labels", key))

    def place(self, *path: str | int) -> Place:
        """Return a place in the object."""
        return Place(self.manifest, path)

    def pod_sets(self) -> list[Pods]:
        """Return the pod sets, as Kueue counts them."""
        sets: list[PodSet] = self.carrier.pod_sets(self.manifest.value)
        return [Pods(self.manifest, each.name, each.count, each.template) for each in sets]


@dataclass(frozen=True)
class World:
    """All objects of one cluster, and its inventory where that is known."""

    manifests: tuple[Manifest, ...]
    inventory: Cluster | None = None

    @cached_property
    def _by_kind(self) -> Mapping[str, list[Manifest]]:
        found: dict[str, list[Manifest]] = defaultdict(list)
        for manifest in self.manifests:
            found[manifest.kind].append(manifest)
        return found

    def of(self, kind: str, *, namespace: str | None = None, group: str | None = None) -> list[Manifest]:
        """Return the objects of a kind, of one namespace and API group where given."""
        return [
            manifest
            for manifest in self._by_kind.get(kind, [])
            if (namespace is None or (manifest.namespace or "default") == namespace)
            and (group is None or manifest.group == group)
        ]

    @cached_property
    def _jobs(self) -> tuple[TrainingJob, ...]:
        return tuple(
            TrainingJob(manifest, row)
            for row in carriers().values()
            if row.trains
            for manifest in self.of(row.kind, group=row.group)
        )

    def training_jobs(self) -> tuple[TrainingJob, ...]:
        """Return every object of a kind that carries training."""
        return self._jobs
