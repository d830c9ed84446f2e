"""Buckets of object stores that a cluster's teams use by an identity, so that no key stands anywhere."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, StrictStr, model_validator

from trainyard.base.limits import VOLUMES
from trainyard.specs.models.base import Form, MountPath, Name, Spec, Text, validation_error
from trainyard.specs.models.stage import Staged

Way = Literal["irsa", "pod-identity", "gke", "azure"]
"""How a pod proves to its provider who it is."""

Access = Literal["read", "write"]

DIRECT = "direct"
"""On GKE, what stands for no account of Google: the bucket's policy names the service account itself."""

Address = Annotated[
    StrictStr,
    Form(
        r"(?:s3|gs)://[a-z0-9][a-z0-9._-]*[a-z0-9](?:/[A-Za-z0-9._-]+)*/?"
        r"|az://[a-z0-9]{3,24}/[a-z0-9$][a-z0-9-]*(?:/[A-Za-z0-9._-]+)*/?",
        "s3://bucket, gs://bucket or az://account/container, with a folder behind it or none",
    ),
]
"""What each provider lets a bucket be called, roughly."""

Region = Annotated[StrictStr, Form(r"[a-z]{2,5}(?:-[a-z]+)+-[0-9]{1,2}", "a region such as us-west-2")]
"""A region of AWS, not one of its zones (us-west-2a); botocore 1.40 endpoints.json regionRegex, for all partitions."""


class Bucket(Spec):
    """A bucket that exists, or a folder in one, and the teams that use it."""

    url: Address
    """Address: `s3://bucket/folder`, `gs://bucket/folder` or `az://account/container/folder`."""
    region: Region | None = None
    """Region of an S3 bucket, such as `us-west-2`."""
    teams: Annotated[dict[Name, Access], Field(min_length=1)]
    """Teams that may `read` it or `write` to it; the provider's policies must allow the same."""
    mount: StrictBool = False
    """`true` if jobs may mount it as a folder; list the driver of the provider in `drivers`."""

    @model_validator(mode="after")
    def one_region(self) -> Self:
        """Refuse an S3 bucket without a region, which no SDK guesses, and a region that nothing reads."""
        if self.scheme == "s3" and self.region is None:
            raise validation_error("one-of", "has an S3 bucket, whose region programs need; add region")
        if self.scheme != "s3" and self.region is not None:
            raise validation_error("one-of", "has region, which only S3 buckets need; remove it")
        return self

    @property
    def scheme(self) -> str:
        """The provider's own: `s3`, `gs` or `az`."""
        return self.url.partition(":")[0]

    @property
    def parts(self) -> tuple[str, str, str]:
        """Storage account, bucket or container, and folder without slashes at its ends; empty where there is none."""
        path = self.url.partition("://")[2]
        account, path = path.split("/", 1) if self.scheme == "az" else ("", path)
        name, _, folder = path.partition("/")
        return account, name, folder.strip("/")

    @property
    def name(self) -> str:
        """Name of the bucket or container."""
        return self.parts[1]

    @property
    def folder(self) -> str:
        """Folder in the bucket, without slashes at its ends."""
        return self.parts[2]


class ObjectStorage(Spec):
    """Buckets, and the identity by which each team's pods use them; no key stands in Git or in a Secret."""

    identity: Way
    """`irsa` or `pod-identity` on EKS, `gke` with Workload Identity, `azure` with Workload ID."""
    teams: Annotated[dict[Name, Text], Field(min_length=1)]
    """Identity of each team at the provider: ARN of a role, address of a Google service account or `direct`, or
    client ID."""
    buckets: Annotated[dict[Name, Bucket], Field(min_length=1, max_length=VOLUMES)]
    """Buckets, by the name that jobs use."""

    def of_team(self, team: str) -> dict[str, Bucket]:
        """Return the buckets that a team may use, by name."""
        return {name: bucket for name, bucket in self.buckets.items() if team in bucket.teams}


class BucketUse(Spec):
    """A bucket of the cluster that the run uses, by its own client or as a folder."""

    bucket: Name
    """Name of the bucket in the cluster's `objectStorage`."""
    mount_path: MountPath | None = None
    """Folder in the container; default: none, and the program uses a client of the object store."""
    read_only: StrictBool = True
    """`false` if the run writes to the mounted folder."""
    stage: Staged = None
    """Copy the folder to the pool's `localDisks` before training: `{size: 800Gi}`; default: read it from the bucket."""

    @model_validator(mode="after")
    def one_way(self) -> Self:
        """Refuse what says how a folder is mounted that is not."""
        if self.mount_path is None and "read_only" in self.model_fields_set:
            raise validation_error("one-of", "has readOnly, which only works with mountPath; remove it")
        return self
