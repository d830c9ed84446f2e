"""The objects of a run to be, as checks look at them: nothing is written yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from trainyard.base.findings import Path, format_path
from trainyard.base.manifests import Identity, Manifest, unplaced, value_at
from trainyard.judge.policies.places import Place
from trainyard.judge.preflight.traced import Origin, SpecText, in_words, trace
from trainyard.render import kinds
from trainyard.render.kinds import Resolved
from trainyard.render.parts.objects import Resource
from trainyard.specs import Job

KUBERNETES = frozenset({"patches", "containers", "initContainers", "volumes", "labels", "annotations"})
"""Fields of a job that hold fields of objects as they are."""


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

    @property
    def spec(self) -> SpecText | None:
        """The job as it is written, None of one that a program makes."""
        document = self.run.run.source.document
        if document is None or not isinstance(document.value, Mapping):
            return None
        run = self.run.run

        def render(job: Job) -> dict[Identity, dict[str, Any]]:
            return run_objects(kinds.resolve(replace(run, job=job, kind=job.kind or run.kind)))

        return SpecText(document.value, Job, render)

    def origin(self, place: Place) -> Path:
        """Return the field of the job that a field of an object follows from, else that of the whole object."""
        found = trace(self.spec, place.manifest.identity, place.path) if self.spec and place.path else None
        made = zip(self.resources, self.manifests, strict=True)
        whole = (resource.at for resource, one in made if one.document is place.manifest.document)
        return found.path if found else next(whole)

    def in_words(self, message: str, place: Place, path: Path) -> str:
        """Return a message about a field of an object in the words of the field of the job that it comes from."""
        if not path or path[0] in KUBERNETES or self.spec is None:
            return message
        said = value_at(self.spec.value, path)
        if said is None:
            found = trace(self.spec, place.manifest.identity, place.path)
            same = found is not None and found == Origin(path, same=True)
        else:
            same = str(said) == str(place.manifest.get(*place.path))
        return in_words(message, format_path(place.path), Origin(path, same))

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
    return unplaced(resource.value())
