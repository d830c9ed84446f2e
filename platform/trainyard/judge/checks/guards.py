"""Which objects must not be deleted to be made anew, because something is lost with them or somebody forbids it."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.base.labels import SYNC_OPTIONS
from trainyard.base.manifests import Manifest
from trainyard.upstream.workloads import carrier_of, held_in

DATA, SNAPSHOT = "its data", "the snapshot"
LOST: Mapping[tuple[str, str], str] = {
    ("", "Namespace"): "everything in it",
    ("", "Node"): "the pods on it",
    ("", "PersistentVolume"): DATA,
    ("", "PersistentVolumeClaim"): DATA,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): "every object of its kind",
    ("objectbucket.io", "ObjectBucket"): DATA,
    ("objectbucket.io", "ObjectBucketClaim"): DATA,
    ("storage.k8s.io", "VolumeAttachment"): "the volume under running pods",
}
"""By group and kind, what goes with an object."""

LOST_OF_GROUP: Mapping[str, str] = {
    "ceph.rook.io": DATA,
    "groupsnapshot.storage.k8s.io": SNAPSHOT,
    "snapshot.storage.k8s.io": SNAPSHOT,
}
"""By group, what goes with any object, classes apart: they hold nothing."""

KEPT = frozenset({"Delete=false", "Delete=confirm", "Prune=false", "Prune=confirm"})
FORCED = frozenset({"Force=true", "Replace=true"})
HELM, KEEP = "helm.sh/resource-policy", "keep"


def reason(old: Manifest, manifest: Manifest) -> str | None:
    """Say why an object must not be deleted to be made anew, None where it may."""
    what = lost_data(old)
    if what is not None:
        return f"deleting it would lose {what}"
    if any(options(one_manifest) & KEPT for one_manifest in (old, manifest)):
        return f"annotation {SYNC_OPTIONS} prevents its deletion"
    if any(one_manifest.annotations.get(HELM) == KEEP for one_manifest in (old, manifest)):
        return f"annotation {HELM} prevents its deletion"
    return None


def lost_data(old: Manifest) -> str | None:
    """Return the data that goes when an object is deleted with what it holds, None where there is none of its own."""
    return next((lost for manifest in (old, *held_in(old)) if (lost := own_data(manifest)) is not None), None)


def own_data(old: Manifest) -> str | None:
    """Return the data that goes when an object is deleted, None where it holds nothing of its own."""
    found = LOST.get((old.group, old.kind))
    if found is None and not old.kind.endswith("Class"):
        found = LOST_OF_GROUP.get(old.group)
    row = carrier_of(old.value)
    if found is None and row is not None and row.loses is not None and row.loses(old.value):
        found = "the claims made from it"
    return found


def is_forced(old: Manifest, manifest: Manifest) -> bool:
    """Whether Argo CD deletes and creates an object at every sync, changed or not; it reads both sides' options."""
    return any(options(one_manifest) >= FORCED for one_manifest in (old, manifest))


def options(manifest: Manifest) -> frozenset[str]:
    """Return an object's sync options."""
    return frozenset(part.strip() for part in manifest.annotations.get(SYNC_OPTIONS, "").split(","))
