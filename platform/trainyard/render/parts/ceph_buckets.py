"""Buckets of Ceph that a run uses: where they are, and the Secret with the keys, which Rook makes with the bucket.

Facts: rook/rook v1.20.6 Documentation/Storage-Configuration/Object-Storage-RGW/ceph-object-bucket-claim.md,
pkg/operator/ceph/object/s3-handlers.go CephRegion, pkg/operator/ceph/object/spec.go rgwPortInternalPort.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.parts.buckets import REGIONS, variable
from trainyard.render.sizing import Sized
from trainyard.specs import Cluster
from trainyard.specs.models.buckets import BucketUse
from trainyard.specs.models.ceph import CephBucket
from trainyard.specs.releases import release
from trainyard.specs.run import Run

ROOK = "rook"

PORT, LISTENING = 80, 8080
"""Port of a store's Service, and that of its pods, which policies of a network see."""

SECURE = 8443
"""Port of HTTPS of a store's Service and of its pods: OpenShift lets no pod bind one below 1024."""

AUTHORITY = "ceph-authority"
"""Volume with the certificates of a store's authority."""

FOLDER, FILE = "/etc/ceph-authority", "ca.crt"
"""Where that volume is mounted, and its one file."""

TRUST = "AWS_CA_BUNDLE"
"""Variable by which clients of S3 find the authorities that they trust (AWS SDKs and tools reference)."""

REGION = "us-east-1"
"""The region that clients must name; Ceph itself has none."""

ENDPOINT = "AWS_ENDPOINT_URL_S3"
"""Variable by which clients find another server than Amazon's (AWS SDKs and tools reference)."""

KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
"""Keys of a claim's Secret, and the variables that clients read."""


def space() -> str:
    """Return the namespace of Rook, where object stores are."""
    facts = release(ROOK)
    assert facts is not None
    return facts.namespace


def host(store: str) -> str:
    """Return the name of a store's Service, which its certificate must have."""
    return f"rook-ceph-rgw-{store}.{space()}.svc"


def authority_name(store: str) -> str:
    """Return the name of the ConfigMap with the certificates of a store's authority, in each team's namespace."""
    return f"ceph-{store}-authority"


def class_name(store: str) -> str:
    """Return the name of the StorageClass of a store's buckets."""
    return f"ceph-buckets-{store}"


def claim_name(store: str, bucket: str) -> str:
    """Return the name of a bucket's claim, of its Secret and its ConfigMap: another store is another claim.

    Rook ignores another class in a claim that exists (lib-bucket-provisioner pkg/provisioner/controller.go
    updateSupported).
    """
    return f"bucket-{store}.{bucket}"


def bucket_name(team: str, bucket: str) -> str:
    """Return the name of a bucket in its store; no name of a team has a dot, so no two are the same."""
    return f"{team}.{bucket}"


def of_team(cluster: Cluster, team: str) -> dict[str, tuple[str, CephBucket]]:
    """Return a team's buckets of Ceph by the name that jobs use, each with its store."""
    found = cluster.ceph.buckets() if cluster.ceph is not None else ()
    return {name: (store, bucket) for store, name, bucket in found if bucket.team == team}


def claim_names(cluster: Cluster, team: str) -> list[str]:
    """Return the names of a team's claims, whose Secrets its runs may read."""
    return [claim_name(store, name) for name, (store, _) in of_team(cluster, team).items()]


def authorities(cluster: Cluster, team: str) -> dict[str, str]:
    """Return the certificates of the authorities of the stores that have a team's buckets, by store."""
    stores = cluster.ceph.object_stores if cluster.ceph is not None else {}
    names = sorted({store for store, _ in of_team(cluster, team).values()})
    return {name: tls.authority for name in names if (tls := stores[name].tls) is not None}


def trusted(run: Run) -> str | None:
    """Return the store whose authority a run trusts: that of its first bucket; None where it opens none by HTTPS."""
    there = authorities(run.cluster, run.team_name)
    return next((store for _, store in used(run) if store in there), None)


def volumes(run: Run) -> list[dict[str, Any]]:
    """Return the volume with the certificates of the authority that a run trusts."""
    store = trusted(run)
    return [{"name": AUTHORITY, "configMap": {"name": authority_name(store)}}] if store is not None else []


def mounts(run: Run) -> list[dict[str, Any]]:
    """Return the mount of these certificates."""
    return [{"name": AUTHORITY, "mountPath": FOLDER, "readOnly": True}] if trusted(run) is not None else []


def used(run: Run) -> Iterator[tuple[BucketUse, str]]:
    """Yield the buckets of Ceph that a run uses, each with its store."""
    known = of_team(run.cluster, run.team_name)
    for use in run.job.buckets:
        if use.bucket in known:
            yield use, known[use.bucket][0]


def opened(run: Run) -> str | None:
    """Return the claim whose keys a run has: that of its first bucket of Ceph, as a pod has one pair of them."""
    return next((claim_name(store, use.bucket) for use, store in used(run)), None)


def environment(run: Run) -> dict[str, Sized[str]]:
    """Return the variables by which clients find a run's buckets, each with its origin; keys are not here."""
    found: dict[str, Sized[str]] = {}
    there = authorities(run.cluster, run.team_name)
    for use, store in used(run):
        why = f"ceph.objectStores.{store} of the cluster"
        secure = store in there
        address = f"https://{host(store)}:{SECURE}" if secure else f"http://{host(store)}"
        told = {ENDPOINT: address, **({TRUST: f"{FOLDER}/{FILE}"} if secure else {}), **dict.fromkeys(REGIONS, REGION)}
        found = {**{name: Sized(value, why) for name, value in told.items()}, **found}
        bucket = f"s3://{bucket_name(run.team_name, use.bucket)}"
        found[variable(use.bucket)] = Sized(bucket, f"ceph.objectStores.{store}.buckets of the cluster")
    return found


def secrets(run: Run) -> dict[str, str]:
    """Return the variables with keys, each as `secret/key`."""
    claim = opened(run)
    return {name: f"{claim}/{name}" for name in KEYS} if claim is not None else {}


def secret_origins(run: Run) -> dict[str, Sized[str]]:
    """Return the Secrets of these variables, for a person to read; never their values."""
    why = "Rook makes it with the bucket"
    return {name: Sized(f"Secret {reference}", why) for name, reference in secrets(run).items()}


def reserved(run: Run) -> tuple[str, ...]:
    """Return the variables that a job may not set: with another server or other keys its bucket is not opened."""
    trust = (TRUST,) if trusted(run) is not None else ()
    return (ENDPOINT, *KEYS, *trust) if opened(run) is not None else ()
