"""Buckets that jobs may mount: for each team a volume of its own, by the identity of the pods that mount it.

Nothing is lost with these objects, since they hold no data: they vanish with their bucket from the cluster's file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.parts.buckets import claim
from trainyard.render.parts.objects import Resource
from trainyard.specs import Cluster
from trainyard.specs.accounts import bucket_account
from trainyard.specs.models.buckets import Access, Bucket

DRIVERS = {"s3": "s3.csi.aws.com", "gs": "gcsfuse.csi.storage.gke.io", "az": "blob.csi.azure.com"}
"""Driver that mounts buckets, by the scheme of their address."""

MODE = "ReadWriteMany"
"""Access mode, whatever a team may do: a claim's mode cannot change, while mount options and a role's rights can."""

SIZE = "1Gi"
"""Of a volume and its claim, which both must state; no driver reads it, but quota of a namespace counts it."""


def volumes(cluster: Cluster) -> Iterator[Resource]:
    """Yield a PersistentVolume for each team and bucket that its jobs may mount."""
    for team, name, bucket in mounted(cluster):
        access = bucket.teams[team]
        spec = {
            "capacity": {"storage": SIZE},
            "accessModes": [MODE],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "",
            "volumeMode": "Filesystem",
            "mountOptions": options(bucket, access) or None,
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": cluster.namespace_of(team),
                "name": claim(name),
            },
            "csi": source(cluster, team, name, bucket),
        }
        fields = {"spec": {key: value for key, value in spec.items() if value is not None}}
        yield Resource("v1", "PersistentVolume", volume_name(team, name), at(name), fields=fields)


def claims(cluster: Cluster, team: str) -> Iterator[Resource]:
    """Yield a team's claims on the buckets that its jobs may mount."""
    for one, name, _ in mounted(cluster):
        if one == team:
            spec = {
                "accessModes": [MODE],
                "storageClassName": "",
                "volumeMode": "Filesystem",
                "resources": {"requests": {"storage": SIZE}},
                "volumeName": volume_name(team, name),
            }
            place, fields = cluster.namespace_of(team), {"spec": spec}
            yield Resource("v1", "PersistentVolumeClaim", claim(name), at(name), place, fields=fields)


def mounted(cluster: Cluster) -> Iterator[tuple[str, str, Bucket]]:
    """Yield team, name and bucket for every bucket that jobs of a team on the cluster may mount."""
    store = cluster.object_storage
    for team in cluster.teams():
        if store is not None and bucket_account(cluster, team) is not None:
            yield from ((team, name, bucket) for name, bucket in store.of_team(team).items() if bucket.mount)


def at(name: str) -> tuple[str, ...]:
    """Return the field of the cluster that declares a bucket."""
    return ("objectStorage", "buckets", name)


def volume_name(team: str, bucket: str) -> str:
    """Return the name of a team's PersistentVolume of a bucket."""
    return f"{team}-{claim(bucket)}"


def options(bucket: Bucket, access: Access) -> list[str]:
    """Return the mount options of a bucket.

    Mountpoint deletes and replaces objects only if it is told to, and shows files to the pod's own user by
    `allow-other` (awslabs/mountpoint-s3 doc/CONFIGURATION.md). GCS FUSE shows folders that nobody made by
    `implicit-dirs` (GoogleCloudPlatform/gcsfuse docs/semantics.md). Blobfuse takes `allow_other` likewise
    (kubernetes-sigs/blob-csi-driver docs/workload-identity-static-pv-mount.md).
    """
    folder, write = bucket.folder, access == "write"
    if bucket.scheme == "s3":
        found = [f"region {bucket.region}", "allow-other"]
        found += ["allow-delete", "allow-overwrite"] if write else ["read-only"]
        return [*found, *([f"prefix {folder}/"] if folder else [])]
    if bucket.scheme == "gs":
        return ["implicit-dirs", *([] if write else ["ro"]), *([f"only-dir={folder}"] if folder else [])]
    return [
        "-o allow_other",
        *([] if write else ["--read-only=true"]),
        *([f"--subdirectory={folder}"] if folder else []),
    ]


def source(cluster: Cluster, team: str, name: str, bucket: Bucket) -> dict[str, Any]:
    """Return the CSI source of a volume: the bucket, and the identity by which it is mounted."""
    driver, handle = DRIVERS[bucket.scheme], volume_name(team, name)
    if bucket.scheme == "gs":
        # the driver takes what stands before a colon for the bucket; the rest tells volumes of one bucket apart
        return {"driver": driver, "volumeHandle": f"{bucket.name}:{handle}"}
    if bucket.scheme == "s3":
        attributes = {"authenticationSource": "pod", "bucketName": bucket.name}
    else:
        store = cluster.object_storage
        client = store.teams[team] if store else ""
        attributes = {
            "clientID": client,
            "containerName": bucket.name,
            "protocol": "fuse2",
            "storageaccount": bucket.parts[0],
        }
    return {"driver": driver, "volumeHandle": handle, "volumeAttributes": attributes}
