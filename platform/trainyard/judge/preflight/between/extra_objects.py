"""Objects of one's own below `platform/extra`, written or made by programs: each is whole, and once on a cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.base.findings import Finding, Location
from trainyard.base.manifests import Identity, identity_of
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import BETWEEN
from trainyard.render import clusters
from trainyard.render.parts.objects import Resource
from trainyard.specs.load import Loaded

WHOLE = Rule(
    id="spec/extra-object",
    title="Every object in platform/extra has an apiVersion, a kind and a name.",
    why="these identify the object, and name its file",
    fix="write apiVersion, kind and metadata.name; write items of a List as documents",
    source="kubernetes v1.35 staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/types.go; docs/clusters.md",
)
TWICE = Rule(
    id="spec/extra-twice",
    title="Every object in platform/extra exists once on a cluster.",
    why="two in one folder share one file; in two folders, one Application does not sync (FailOnSharedResource)",
    fix="keep one of them, or rename the other",
    source="docs/clusters.md; argoproj/argo-cd v3.5.1 docs/user-guide/sync-options.md",
)

Taken = dict[Identity, str]
"""Objects that are there already, each with the file or folder that it is in."""


@BETWEEN.check()
def check(loaded: Loaded) -> Iterator[Finding]:
    """Yield plain objects that are not whole, and those that another file of their cluster has already."""
    specs = loaded.specs
    taken: dict[str, Taken] = defaultdict(dict)
    for file in specs.extra:
        value: Any = file.source.document.value if file.source.document else None
        if value is not None:
            yield from check_object(value, file.source.location(("metadata", "name")), taken[file.cluster])


def elsewhere(
    found: Mapping[str, Sequence[Resource]], own: Mapping[str, Sequence[clusters.Own]]
) -> Iterator[tuple[str, Finding]]:
    """Yield objects of the repository's own that Trainyard has in another folder of the cluster, with their folder."""
    ours = {resource.identity: path for path, resources in found.items() for resource in resources}
    for folder, objects in own.items():
        for item in objects:
            path = ours.get(item.identity, folder)
            if path != folder:
                message = f"{show_identity(item.identity)} is already in folder {path!r}; remove it, or rename it"
                yield folder, TWICE.of(item.place, message)


def check_object(value: Any, place: Location, taken: Taken) -> Iterator[Finding]:
    """Yield why an object cannot be added; one that can is entered among those that are there."""
    if not isinstance(value, dict):
        yield WHOLE.of(place, "the document is not an object with apiVersion, kind and metadata")
        return
    identity = identity_of(value)
    said = {"apiVersion": value.get("apiVersion"), "kind": identity.kind, "metadata.name": identity.name}
    missing = [field for field, text in said.items() if not text]
    if missing:
        yield WHOLE.of(place, f"the object has no {missing[0]}; add it")
    elif identity in taken:
        where = "defined twice" if taken[identity] == place.file else f"also in {taken[identity]}"
        yield TWICE.of(place, f"{show_identity(identity)} is {where}; keep one of them")
    else:
        taken[identity] = place.file


def show_identity(identity: Identity) -> str:
    """Return an object's kind and name, with its namespace if it has one."""
    where = f" of namespace {identity.namespace!r}" if identity.namespace else ""
    return f"object {identity.kind} {identity.name!r}{where}"
