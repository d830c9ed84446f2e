"""Buckets of object stores that a cluster's teams use by an identity, so that no key stands anywhere."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StrictBool, StrictStr, model_validator

from trainyard.base.limits import VOLUMES
from trainyard.specs.models.base import Form, MountPath, Name, Spec, Text, validation_error
from trainyard.specs.models.stage import Staged

Way = Literal["irsa", "pod-identity", "gke", "azure"]
"""How a pod proves to its provider who it is."""

Access = Literal["read", "write"]

DIRECT = "direct"
"""On GKE, what stands for no account of Google: the bucket's policy names the service account itself."""

FORM = "s3://bucket, gs://bucket or az://account/container, with a folder behind it or none"

SIZES = (3, 63)
"""Characters of a bucket's or a container's name; those of Google with dots may have more."""

LONGEST_WITH_DOTS = 222

IP = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")

OF_AMAZON = (("xn--", "sthree-", "amzn-s3-demo-"), ("-s3alias", "--ol-s3", ".mrap", "--table-s3"))
"""Beginnings and ends of names that Amazon keeps for itself (S3 user guide, general purpose bucket naming rules)."""

OF_AZURE = frozenset({"$root", "$web", "$logs"})
"""Containers with a dollar sign that there are (Azure Storage, naming and referencing containers)."""


def name_error(scheme: str, name: str) -> str | None:
    """Return why a provider has no bucket or container of that name, or None.

    Sources: S3 user guide, general purpose bucket naming rules; Cloud Storage, bucket naming guidelines; Azure Storage,
    naming and referencing containers.
    """
    longest = LONGEST_WITH_DOTS if scheme == "gs" and "." in name else SIZES[1]
    if not SIZES[0] <= len(name) <= longest:
        return f"must have {SIZES[0]} to {longest} characters, not {len(name)}"
    if scheme == "az":
        if name.startswith("$"):
            return None if name in OF_AZURE else f"must be one of {', '.join(sorted(OF_AZURE))}, or begin without '$'"
        return "must have no '--', and no '-' at its end" if "--" in name or name.endswith("-") else None
    if IP.fullmatch(name):
        return "must not look like an IP address"
    if ".." in name or (scheme == "s3" and "_" in name):
        return "must have no '..'" if ".." in name else "must have no '_'"
    if scheme == "s3" and (name.startswith(OF_AMAZON[0]) or name.endswith(OF_AMAZON[1])):
        return "begins or ends with a word that Amazon keeps for itself"
    if scheme == "gs" and any(len(part) > SIZES[1] for part in name.split(".")):
        return f"must have at most {SIZES[1]} characters between dots"
    if scheme == "gs" and (name.startswith("goog") or "google" in name):
        return "must not begin with 'goog' or contain 'google'"
    return None


def explain_address(value: str) -> tuple[str, str]:
    """Return the fault of an address in words, and the part that has it."""
    name = re.fullmatch(r"(?:s3|gs)://([^/]*)(?:/.*)?|az://[^/]*/([^/]*)(?:/.*)?", value)
    found = next((one for one in name.groups() if one), "") if name else ""
    if found != found.lower():
        return f"has bucket {found!r}, but names have only lower-case letters; write {found.lower()!r}", found
    return f"must be {FORM}", ""


def named_by_provider(value: str) -> str:
    """Refuse a name that no bucket of the provider can have."""
    scheme, _, path = value.partition("://")
    name = path.split("/")[1 if scheme == "az" else 0]
    wrong = name_error(scheme, name)
    if wrong is not None:
        raise validation_error("form", f"has bucket {name!r}, whose name {wrong}", name)
    return value


Address = Annotated[
    StrictStr,
    Form(
        r"(?:s3|gs)://[a-z0-9][a-z0-9._-]*[a-z0-9](?:/[A-Za-z0-9._-]+)*/?"
        r"|az://[a-z0-9]{3,24}/[a-z0-9$][a-z0-9-]*(?:/[A-Za-z0-9._-]+)*/?",
        FORM,
        explain=explain_address,
    ),
    AfterValidator(named_by_provider),
]
"""Address of a bucket, or of a folder in it, whose name its provider allows."""

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
