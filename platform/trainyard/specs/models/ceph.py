"""Ceph on nodes of the cluster: which nodes and disks it has, its file systems and its pools."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StrictInt, StrictStr, model_validator

from trainyard.specs.models.base import (
    Count,
    Form,
    Image,
    LabelKey,
    LabelValue,
    Name,
    Room,
    Spec,
    SubdomainName,
    validation_error,
)
from trainyard.specs.models.pools import Taint

Domain = Literal["host", "rack", "zone"]
"""What may fail as a whole (rook v1.20 Documentation/CRDs/Cluster/ceph-cluster-crd.md, OSD topology)."""

BLOCK = re.compile(r"-----BEGIN ([^\n-]+)-----([^-]*)-----END \1-----")
"""A block of PEM (RFC 7468): its label and its body."""

Copies = Annotated[StrictInt, Field(ge=1, le=9)]
Mons = Annotated[StrictInt, Field(ge=1, le=9)]

DeviceNames = Annotated[
    StrictStr, Form(r"\^[A-Za-z0-9\[\](){}|?+*.,\\-]+\$?", "a regular expression from '^' on, such as ^nvme[1-8]n1$")
]
"""A pattern that begins with `^`: without it `sd` is in the name of every disk, that of the system too."""


class CephNodes(Spec):
    """Nodes that carry Ceph's daemons, which need not be nodes of a pool."""

    labels: Annotated[dict[LabelKey, LabelValue], Field(min_length=1)]
    """Labels that select them."""
    count: Count
    """How many there are."""
    taints: tuple[Taint, ...] = ()
    """Their taints, which Ceph's daemons tolerate."""
    racks: Count | None = None
    """How many values of the node label `topology.rook.io/rack` they have; default: none is set."""
    zones: Count | None = None
    """How many values of the node label `topology.kubernetes.io/zone` they have; default: none is set."""

    def domains(self, level: Domain) -> int:
        """Return how many parts of a level there are that can fail."""
        return {"host": self.count, "rack": self.racks or 0, "zone": self.zones or 0}[level]


class CephDisks(Spec):
    """Disks that Ceph takes for itself: raw devices of its nodes, or volumes of a storage."""

    devices: DeviceNames | None = None
    """Names of raw, empty devices on each node, as a regular expression from `^` on: `^nvme[1-8]n1$`."""
    storage: Name | None = None
    """A key of the cluster's `storage` that makes raw volumes, instead of `devices`."""
    size: Room | None = None
    """Bytes of each volume of `storage`."""
    count: Count | None = None
    """Number of volumes of `storage`."""

    @model_validator(mode="after")
    def one_kind(self) -> Self:
        """Refuse both kinds of disks, and volumes whose size or number nobody says."""
        if (self.devices is None) == (self.storage is None):
            raise validation_error("one-of", "must have exactly one of: devices, storage")
        if self.storage is not None and (self.size is None or self.count is None):
            raise validation_error("one-of", "has storage, which needs size and count; add both")
        if self.devices is not None and (self.size is not None or self.count is not None):
            raise validation_error("one-of", "has devices, of which size and count are known; remove both")
        return self


class CephPool(Spec):
    """A pool of Ceph, or the pools of a file system: how many copies there are, and where."""

    replicas: Copies = 3
    """Copies of all data, each in another failure domain."""
    failure_domain: Domain = "host"
    """Part that may fail with one copy: a `host`, `rack` or `zone`."""


def certificates(text: str) -> str:
    """Refuse a text that is not certificates in PEM; what stands around the blocks is a comment."""
    kinds = [match[1] for match in BLOCK.finditer(text)]
    if any(kind != "CERTIFICATE" for kind in kinds):
        wrong = next(kind for kind in kinds if kind != "CERTIFICATE")
        raise validation_error("form", f"has a block {wrong[:40]!r}; only certificates belong here", wrong)
    bodies = [match[2] for match in BLOCK.finditer(text)]
    if not bodies:
        raise validation_error("form", "must be certificates in PEM, with a line that begins each and one that ends it")
    for number, body in enumerate(bodies, start=1):
        if not is_certificate(body):
            raise validation_error("form", f"must be certificates in PEM; number {number} is broken, so copy it again")
    return text


def is_certificate(body: str) -> bool:
    """Whether the body of a block is base64 of a sequence, as each certificate is one (RFC 5280, section 4.1)."""
    try:
        return base64.b64decode("".join(body.split()), validate=True)[:1] == b"\x30"
    except ValueError:
        return False


class CephTls(Spec):
    """HTTPS of an object store, beside HTTP, which runs from before go on using."""

    issuer: SubdomainName | None = None
    """A ClusterIssuer of cert-manager that signs the certificate of the store."""
    secret: SubdomainName | None = None
    """A Secret of type kubernetes.io/tls in Rook's namespace with the certificate, instead of `issuer`."""
    authority: Annotated[StrictStr, AfterValidator(certificates)]
    """Certificates in PEM of the authority that signs it, which clients in new runs trust; they are no secret."""

    @model_validator(mode="after")
    def one_source(self) -> Self:
        """Refuse both sources of the certificate, and none."""
        if (self.issuer is None) == (self.secret is None):
            raise validation_error("one-of", "must have exactly one of: issuer, secret")
        return self


class CephBucket(Spec):
    """A bucket of an object store, which Rook makes for one team; its keys are a Secret in the team's namespace."""

    team: Name
    """Team whose jobs read and write it."""
    size: Room
    """Bytes that it may hold; beyond them writes are refused."""


class CephObjectStore(CephPool):
    """An object store that speaks S3, and its buckets."""

    replicas: Copies = 3
    """Copies of all objects, each in another failure domain."""
    failure_domain: Domain = "host"
    """Part that may fail with one copy: a `host`, `rack` or `zone`."""
    gateways: Count = 2
    """Number of pods that serve it."""
    tls: CephTls | None = None
    """HTTPS for new runs; default: HTTP alone."""
    buckets: dict[Name, CephBucket] = {}
    """Buckets, by the name that jobs use."""


class Ceph(Spec):
    """A Ceph cluster by Rook on nodes of the cluster; nothing here deletes it or its data."""

    image: Image
    """Image of Ceph by digest."""
    nodes: CephNodes
    """Nodes that carry its daemons."""
    disks: CephDisks
    """Disks that hold the data."""
    mons: Mons = 3
    """Number of monitors, each on another node; more than half of them must run."""
    filesystems: dict[Name, CephPool] = {}
    """File systems, by the name that a class gives as `fsName`."""
    pools: dict[Name, CephPool] = {}
    """Pools of block devices, by the name that a class gives as `pool`."""
    object_stores: dict[Name, CephObjectStore] = {}
    """Object stores with their buckets, by name."""

    def buckets(self) -> Iterator[tuple[str, str, CephBucket]]:
        """Yield the name of a store, and the name and fields of each of its buckets."""
        for store, found in self.object_stores.items():
            yield from ((store, name, bucket) for name, bucket in found.buckets.items())
