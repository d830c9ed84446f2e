"""Plain objects as cdk8s objects: one ApiObject each, in whatever chart is around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import cdk8s
from constructs import Construct

from trainyard.base.manifests import Identity, identity_of
from trainyard.render.parts.objects import Resource, canonical

HEAD = frozenset({"apiVersion", "kind", "metadata"})

METADATA = {
    "name": "name",
    "namespace": "namespace",
    "labels": "labels",
    "annotations": "annotations",
    "finalizers": "finalizers",
}
"""Fields of metadata that cdk8s knows as props, by Kubernetes' names; others are patches."""


class Objects(Construct):
    """A construct of plain objects; `without` are those that somebody else brings, under the same names.

    The ids of what is inside are a contract, as names are: `<kind>.<group>.<namespace>.<name>`, lower case. Labels of
    the chart around it are added to every object, as cdk8s does; a namespace of the chart is not.
    """

    def __init__(self, scope: Construct, id_: str, *, without: frozenset[Identity] = frozenset()) -> None:
        super().__init__(scope, id_)
        self.without = without
        self._own: list[Resource] = []
        self._parts: list[Objects] = []

    def put(self, resources: Iterable[Resource]) -> None:
        """Add objects; raises RuntimeError (of jsii) for one that is there already."""
        for resource in resources:
            if resource.identity not in self.without:
                self._own.append(resource)
                add(self, resource.identity, resource.value())

    def part(self, inner: Objects) -> None:
        """Count the objects of a construct inside this one as its own."""
        self._parts.append(inner)

    @property
    def resources(self) -> Iterator[Resource]:
        """Every object of it, those of the constructs inside too."""
        yield from self._own
        for inner in self._parts:
            yield from inner.resources


def add(scope: Construct, identity: Identity, value: Mapping[str, Any]) -> None:
    """Add an object, every field as it is written.

    Its metadata are props of the ApiObject, so that labels and annotations can be added to it, and the rest are JSON
    patches: an ApiObject of cdk8s takes no body from Python. Each call to Node costs a third of a millisecond.
    """
    id_ = ".".join(part for part in (identity.kind, identity.group, identity.namespace, identity.name) if part).lower()
    metadata = dict(value.get("metadata") or {})
    props = {name: metadata.pop(field) for field, name in METADATA.items() if metadata.get(field)}
    entry = cdk8s.ApiObject(
        scope,
        id_,
        api_version=str(value.get("apiVersion")),
        kind=identity.kind,
        metadata=cdk8s.ApiObjectMetadata(**props),
    )
    fields = {f"/metadata/{pointer(name)}": field for name, field in metadata.items()}
    fields |= {f"/{pointer(name)}": field for name, field in value.items() if name not in HEAD}
    patches = [cdk8s.JsonPatch.add(path, field) for path, field in fields.items()]
    if not identity.namespace and cdk8s.Chart.of(entry).namespace:
        patches.append(cdk8s.JsonPatch.remove("/metadata/namespace"))
    if patches:
        entry.add_json_patch(*patches)


def pointer(name: str) -> str:
    """Return the name of a field as JSON Pointer writes it (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


class Foreign(Construct):
    """Objects that somebody else wrote, every field of their own kept; quantities become canonical text."""

    def __init__(self, scope: Construct, id_: str, *, values: Iterable[Mapping[str, Any]]) -> None:
        super().__init__(scope, id_)
        for value in values:
            add(self, identity_of(value), canonical(value))
