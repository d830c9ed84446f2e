"""Claims that grow: the server asks their class whether its volumes may.

Source: k8s.io/kubernetes v1.35.4 plugin/pkg/admission/storage/persistentvolume/resize/admission.go
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Severity
from trainyard.upstream.apiserver.core.persistentvolumeclaim import class_of, size_of
from trainyard.upstream.apiserver.core.shapes import Object
from trainyard.upstream.apiserver.problems import Problem, Rule
from trainyard.upstream.apiserver.webhooks import Around

SOURCE = "k8s.io/kubernetes v1.35.4 plugin/pkg/admission/storage/persistentvolume/resize/admission.go"
GROWTH = Rule(
    "update/volume-growth",
    SOURCE,
    title="A PersistentVolumeClaim grows only if its StorageClass allows expansion.",
    fix="set allowVolumeExpansion: true in the StorageClass, or restore the size",
)
UNKNOWN = Rule(
    "update/volume-growth-unknown",
    SOURCE,
    title="The StorageClass of a PersistentVolumeClaim that grows is known.",
    fix="add the StorageClass to the inputs",
    why="the API server refuses the change unless the class allows expansion; Trainyard cannot check that",
    severity=Severity.WARNING,
)
AT = ("spec", "resources", "requests", "storage")


def check(value: Object, old: Object, around: Around) -> Iterator[Problem]:
    """Yield a claim that grows though its class forbids it, or though nothing here says that its class allows it."""
    now, was = size_of(value), size_of(old)
    if value.get("kind") != "PersistentVolumeClaim" or now is None or was is None or now <= was:
        return
    name = class_of(value)
    allowed = grows(name, around)
    if allowed is None:
        which = f"class {name!r} is not among the inputs" if name else "the default class is unknown"
        yield Problem(AT, UNKNOWN.id, f"unknown whether this claim may grow: {which}", SOURCE)
    elif not allowed:
        yield GROWTH.forbidden(
            AT,
            f"cannot grow: StorageClass {name!r} has no allowVolumeExpansion: true"
            if name
            else "cannot grow without a StorageClass",
        )


def grows(name: str | None, around: Around) -> bool | None:
    """Say whether volumes of a class may grow, None where it is not known; those without a class may not."""
    if name is None:
        return None
    if not name:
        return False
    found = around.find("storage.k8s.io", "StorageClass", name)
    return None if found is None else found.get("allowVolumeExpansion") is True
