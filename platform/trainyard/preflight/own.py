"""Objects of one's own below `platform/extra`, written or made by programs: each is whole, and once on a cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard import clusters
from trainyard.findings import Finding, Location
from trainyard.manifests import Identity, identity_of
from trainyard.parts.objects import Resource
from trainyard.rules import Rule
from trainyard.specs.sources import Specs

WHOLE = Rule(
    id="spec/extra-object",
    title="An object of one's own has an apiVersion, a kind and a name.",
    why="nothing else tells it from other objects, and its file is named by them",
    fix="write apiVersion, kind and metadata.name; of a List, write the items as documents",
    source="kubernetes v1.35 staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/types.go; docs/clusters.md",
)
TWICE = Rule(
    id="spec/extra-twice",
    title="An object of one's own is there once on a cluster.",
    why="two of one folder would be one file; of two folders, one Application refuses to sync (FailOnSharedResource)",
    fix="keep one of them, or give the other another name",
    source="docs/clusters.md; argoproj/argo-cd v3.5.1 docs/user-guide/sync-options.md",
)

Taken = dict[Identity, str]
"""Objects that are there already, each with the file or folder that it is in."""


def check(specs: Specs) -> Iterator[Finding]:
    """Yield plain objects that are not whole, and those that another file of their cluster has already."""
    taken: dict[str, Taken] = defaultdict(dict)
    for file in specs.extra:
        value: Any = file.source.document.value if file.source.document else None
        if value is not None:
            yield from check_object(value, file.source.location(("metadata", "name")), taken[file.cluster])


def check_folders(specs: Specs, cluster: str) -> Iterator[Finding]:
    """Yield plain objects of a cluster without errors that Trainyard has in another of its folders."""
    own = clusters.of_files(specs, cluster)
    if own:
        yield from (finding for _, finding in elsewhere(clusters.folders(specs, cluster, own=own), own))


def elsewhere(
    found: Mapping[str, Sequence[Resource]], own: Mapping[str, Sequence[clusters.Own]]
) -> Iterator[tuple[str, Finding]]:
    """Yield objects of the repository's own that Trainyard has in another folder of the cluster, with their folder."""
    ours = {each.identity: path for path, resources in found.items() for each in resources}
    for folder, objects in own.items():
        for each in objects:
            path = ours.get(each.identity, folder)
            if path != folder:
                message = f"{shown(each.identity)} is in folder {path!r} already; remove it, or give it another name"
                yield folder, TWICE.of(each.place, message)


def check_object(value: Any, place: Location, taken: Taken) -> Iterator[Finding]:
    """Yield why an object cannot be added; one that can is entered among those that are there."""
    if not isinstance(value, dict):
        yield WHOLE.of(place, "document should be an object with apiVersion, kind and metadata")
        return
    identity = identity_of(value)
    said = {"apiVersion": value.get("apiVersion"), "kind": identity.kind, "metadata.name": identity.name}
    missing = [field for field, text in said.items() if not text]
    if missing:
        yield WHOLE.of(place, f"object has no {missing[0]}; write one")
    elif identity in taken:
        where = "there twice" if taken[identity] == place.file else f"in {taken[identity]} too"
        yield TWICE.of(place, f"{shown(identity)} is {where}; keep one of them")
    else:
        taken[identity] = place.file


def shown(identity: Identity) -> str:
    """Return an object's kind and name, with its namespace if it has one."""
    where = f" of namespace {identity.namespace!r}" if identity.namespace else ""
    return f"object {identity.kind} {identity.name!r}{where}"
