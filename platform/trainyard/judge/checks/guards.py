"""Which objects must not be deleted to be made anew, because something is lost with them or somebody forbids it."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.base.labels import SYNC_OPTIONS
from trainyard.base.manifests import Manifest

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
    """Return the data that goes when an object is deleted, None where it holds nothing of its own."""
    found = LOST.get((old.group, old.kind))
    if found is None and not old.kind.endswith("Class"):
        found = LOST_OF_GROUP.get(old.group)
    if found is None and claims(old):
        found = "the claims made from it"
    return found


def claims(old: Manifest) -> bool:
    """Whether claims that were made from an object's templates go with it.

    StatefulSets and LeaderWorkerSets keep them unless they say otherwise (k8s.io/kubernetes v1.35.4
    pkg/apis/apps/v1/defaults.go), JobSets delete them unless they say otherwise (kubernetes-sigs/jobset v0.12.0
    pkg/webhooks/jobset_webhook.go), and a Volcano Job owns its own (volcano v1.14.1 pkg/controllers/job/
    job_controller_actions.go).
    """
    match old.group, old.kind:
        case "apps", "StatefulSet":
            return has_templated_claims(old, "spec")
        case "leaderworkerset.x-k8s.io", "LeaderWorkerSet":
            return has_templated_claims(old, "spec", "leaderWorkerTemplate")
        case "jobset.x-k8s.io", "JobSet":
            wanted = entries(old, "spec", "volumeClaimPolicies")
            return any(old.get(*path, "retentionPolicy", "whenDeleted") != "Retain" for path in wanted)
        case "batch.volcano.sh", "Job":
            return any(old.get(*volume, "volumeClaim") is not None for volume in entries(old, "spec", "volumes"))
    return False


def has_templated_claims(old: Manifest, *path: str) -> bool:
    """Whether an object has templates of claims, and says that they are deleted with it."""
    deleted = old.get(*path, "persistentVolumeClaimRetentionPolicy", "whenDeleted") == "Delete"
    return deleted and bool(old.get(*path, "volumeClaimTemplates"))


def entries(old: Manifest, *path: str) -> list[tuple[str | int, ...]]:
    """Return the paths of a list's entries."""
    found = old.get(*path)
    return [(*path, index) for index in range(len(found))] if isinstance(found, list) else []


def is_forced(old: Manifest, manifest: Manifest) -> bool:
    """Whether Argo CD deletes and creates an object at every sync, changed or not; it reads both sides' options."""
    return any(options(one_manifest) >= FORCED for one_manifest in (old, manifest))


def options(manifest: Manifest) -> frozenset[str]:
    """Return an object's sync options."""
    return frozenset(part.strip() for part in manifest.annotations.get(SYNC_OPTIONS, "").split(","))
