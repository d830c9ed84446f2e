"""The objects of a run to be, as checks look at them: nothing is written yet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from trainyard.base.documents import Document
from trainyard.base.manifests import Identity, Manifest
from trainyard.render import kinds
from trainyard.render.kinds import Resolved
from trainyard.render.parts.objects import Resource


@dataclass(frozen=True)
class Objects:
    """The objects of one run, as they would be rendered."""

    run: Resolved

    @cached_property
    def resources(self) -> tuple[Resource, ...]:
        """What the kind makes of the run."""
        return tuple(kinds.build(self.run))

    @cached_property
    def manifests(self) -> tuple[Manifest, ...]:
        """The same as anybody's objects; where they are written is not known yet."""
        return tuple(manifest(resource) for resource in self.resources)

    def without(self, patch: int) -> Objects:
        """Return the run without one of its patches."""
        job = self.run.run.job
        left = tuple(one_patch for index, one_patch in enumerate(job.patches) if index != patch)
        return Objects(replace(self.run, run=replace(self.run.run, job=job.model_copy(update={"patches": left}))))


def run_objects(run: Resolved) -> dict[Identity, dict[str, Any]]:
    """Return the objects of a run by what tells them apart."""
    return {resource.identity: resource.value() for resource in kinds.build(run)}


def manifest(resource: Resource) -> Manifest:
    """Return an object to be as one that was read, from nowhere."""
    value = resource.value()
    return Manifest(Document("", 0, value), value)
