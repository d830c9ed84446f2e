"""Buckets of a run: variables for its program, and folders that drivers mount by the identity of its pods.

Facts: awslabs/mountpoint-s3-csi-driver v2.7.0 docs/CONFIGURATION.md, pkg/driver/node/node.go;
GoogleCloudPlatform/gcs-fuse-csi-driver docs/usage.md; kubernetes-sigs/blob-csi-driver
docs/workload-identity-static-pv-mount.md; boto/botocore configprovider.py (AWS_DEFAULT_REGION, never AWS_REGION).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.render.sizing import Sized
from trainyard.render.sizing.injected import SIDECAR
from trainyard.specs.models.buckets import Bucket, BucketUse
from trainyard.specs.run import Run

PREFIX = "bucket-"
"""Before a bucket's name in the name of its claim, and of its volume in pods."""

VARIABLE = "BUCKET_"
"""Before a bucket's name in the variable with its address."""

REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
"""Variables by which clients of S3 find the region: most SDKs read the first, boto3 the second alone."""

ACCOUNT = "AZURE_STORAGE_ACCOUNT_NAME"
"""Variable by which clients of Azure find the storage account."""

FUSE = "gke-gcsfuse"
"""Group of the annotations by which GKE puts the program that mounts a bucket into a pod."""


def used(run: Run) -> Iterator[tuple[BucketUse, Bucket]]:
    """Yield the buckets that a run uses, each with what its cluster says of it."""
    store = run.cluster.object_storage
    for use in run.job.buckets:
        if store is not None and use.bucket in store.buckets:
            yield use, store.buckets[use.bucket]


def mounted(run: Run) -> list[tuple[BucketUse, Bucket]]:
    """Return the buckets that a run mounts."""
    return [(use, bucket) for use, bucket in used(run) if use.mount_path is not None]


def variable(bucket: str) -> str:
    """Return the name of the variable with a bucket's address."""
    return VARIABLE + bucket.upper().replace("-", "_")


def environment(run: Run) -> dict[str, Sized[str]]:
    """Return the variables of a run's buckets, each with its origin; those of a provider a job may change."""
    found: dict[str, Sized[str]] = {}
    told: dict[str, Sized[str]] = {}
    for use, bucket in sorted(used(run), key=lambda pair: pair[0].mount_path is not None):
        for name, value, field in of_provider(bucket):
            told.setdefault(name, Sized(value, f"objectStorage.buckets.{use.bucket}.{field} of the cluster"))
    for use, bucket in used(run):
        found[variable(use.bucket)] = Sized(bucket.url, f"objectStorage.buckets.{use.bucket}.url of the cluster")
        found |= {name: told[name] for name, _, _ in of_provider(bucket)}
    return found


def of_provider(bucket: Bucket) -> Iterator[tuple[str, str, str]]:
    """Yield the variables that a client of the bucket's provider reads, with their values and the bucket's field.

    A pod has each once, so a bucket that a client opens comes before one that a driver mounts, which needs none.
    """
    if bucket.region is not None:
        for name in REGIONS:
            yield name, bucket.region, "region"
    if bucket.scheme == "az":
        yield ACCOUNT, bucket.parts[0], "url"


def reserved(run: Run) -> tuple[str, ...]:
    """Return the variables that a job may not set, since the cluster says where its buckets are."""
    return tuple(variable(use.bucket) for use in run.job.buckets)


def claim(bucket: str) -> str:
    """Return the name of a team's claim on a bucket, which is that of the volume in pods, too."""
    return PREFIX + bucket


def volumes(run: Run) -> list[dict[str, Any]]:
    """Return the volumes of the buckets that a run mounts, each once."""
    names = dict.fromkeys(claim(use.bucket) for use, _ in mounted(run))
    return [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]


def mounts(run: Run) -> list[dict[str, Any]]:
    """Return the mounts of the buckets that training reads and writes itself; others are staged before."""
    return [
        {
            "name": claim(use.bucket),
            "mountPath": use.mount_path,
            **({"readOnly": True} if use.read_only else {}),
        }
        for use, _ in mounted(run)
        if use.stage is None
    ]


def pod_annotations(run: Run) -> Mapping[str, str]:
    """Return the annotations by which GKE mounts buckets in a pod: without them every access hangs.

    The amounts are stated, so that the pod is as large as it was planned, whatever the driver's defaults become.
    """
    if not any(bucket.scheme == "gs" for _, bucket in mounted(run)):
        return {}
    return fuse_annotations()


def fuse_annotations() -> dict[str, str]:
    """Return the annotations of a pod in which GKE mounts buckets."""
    amounts = {f"{FUSE}/{name}-{kind}": amount for name, amount in SIDECAR.items() for kind in ("limit", "request")}
    return {f"{FUSE}/volumes": "true", **amounts}
