"""Places in an object: a field, an amount of a resource, a variable of a container."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.base.documents import Path
from trainyard.base.findings import Location
from trainyard.base.manifests import ANY, Manifest
from trainyard.base.quantities import Quantity


class Place(NamedTuple):
    """A field of an object: where a problem is reported."""

    manifest: Manifest
    path: Path = ()
    key: bool = False
    """Whether the place is the key itself rather than its value."""

    @property
    def location(self) -> Location:
        """The field's file, line and column; a missing field is reported at its nearest ancestor."""
        return self.manifest.location(self.path, key=self.key)


class Variable(NamedTuple):
    """An environment variable of one container; `value` is None where it comes from elsewhere."""

    place: Place
    container: Path
    name: str
    value: str | None


class Amount(NamedTuple):
    """The amount of a resource that a container requests, and its place."""

    place: Place
    resource: str
    quantity: Quantity


def variables_of(manifest: Manifest, container: Path) -> Iterator[Variable]:
    """Yield the environment of a container, or of a TrainJob's trainer, at a path of an object."""
    for path, variable in manifest.at(*container, "env", ANY, of=dict):
        if isinstance(name := variable.get("name"), str):
            value = variable.get("value", None if "valueFrom" in variable else "")
            yield Variable(Place(manifest, path), container, name, value if isinstance(value, str) else None)
