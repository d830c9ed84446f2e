"""Pools whose nodes come and go: how many there can be, who starts them, and until when capacity is reserved."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Discriminator, Field, StrictStr, Tag, model_validator

from trainyard.specs.models.base import Amount, Count, Form, Room, Spec, Text, validation_error

Autoscaler = Literal["karpenter", "cluster-autoscaler"]
"""Who starts and removes nodes."""

ProvisioningClass = Literal[
    "queued-provisioning.gke.io",
    "check-capacity.autoscaling.x-k8s.io",
    "best-effort-atomic-scale-up.autoscaling.x-k8s.io",
]
"""Classes of ProvisioningRequests: GKE's flex-start, and those of cluster-autoscaler (kubernetes/autoscaler
cluster-autoscaler/apis/provisioningrequest/autoscaling.x-k8s.io/v1/types.go)."""

DIGITS = r"(?:[0-9a-f]{8}|[0-9a-f]{17})"
"""End of an ID of EC2 (Amazon EC2 user guide, resource IDs: 8 digits in the oldest accounts, 17 since 2016)."""

SubnetId = Annotated[
    StrictStr, Form(f"subnet-{DIGITS}", "the ID of a subnet with 17 digits such as subnet-0a1b2c3d4e5f60718")
]
SecurityGroupId = Annotated[
    StrictStr, Form(f"sg-{DIGITS}", "the ID of a security group with 17 digits such as sg-0a1b2c3d4e5f60718")
]
ImageAlias = Annotated[
    StrictStr,
    Form(r"(?:al2023|bottlerocket)@v?[0-9][0-9.]*", "a release of EKS's images such as al2023@v20260810"),
]


class NodeRange(Spec):
    """Fewest and most nodes of a pool that scales."""

    min: Amount = 0
    """Number of nodes that are always there; default: none."""
    max: Count
    """Largest number of nodes; quotas count all of them."""

    @model_validator(mode="after")
    def ordered(self) -> NodeRange:
        """Refuse a range that is none."""
        if self.min >= self.max:
            raise validation_error(
                "range", f"has min {self.min} and max {self.max}; use a greater max, or one number for a fixed pool"
            )
        return self


Nodes = Annotated[
    Annotated[Count, Tag("a number")] | Annotated[NodeRange, Tag("a range")],
    Discriminator(lambda value: "a range" if isinstance(value, (dict, NodeRange)) else "a number"),
]
"""How many nodes a pool has, or between which numbers it scales."""


class NodeClass(Spec):
    """What Karpenter starts nodes of a pool with on AWS, where the shape and the pool do not say it."""

    image: ImageAlias
    """Release of EKS's images, such as `al2023@v20260810`; with a new one, Karpenter replaces idle nodes only."""
    role: Text
    """Name of the IAM role of the nodes."""
    subnets: Annotated[tuple[SubnetId, ...], Field(min_length=1)]
    """IDs of subnets; EFA needs all nodes of a run in one."""
    security_groups: Annotated[tuple[SecurityGroupId, ...], Field(min_length=1)]
    """IDs of security groups, which are all that nodes have: the cluster's, and for EFA one that admits all traffic of
    its own members."""
    placement_group: Text | None = None
    """Name of a placement group for all nodes of the pool, near each other with strategy `cluster`; default: none."""
    root_volume: Room = "200Gi"
    """Size of the nodes' root volume."""


class Scaling(Spec):
    """How nodes of a pool are started and removed."""

    by: Autoscaler | None = None
    """Program that starts nodes; default: `karpenter` on EKS, else `cluster-autoscaler`."""
    start_minutes: Count = 15
    """Minutes from a waiting pod to a node that takes it, drivers and device plugins included."""
    idle_minutes: Count = 10
    """Minutes without pods after which a node is removed; only for Karpenter."""
    provisioning: ProvisioningClass | None = None
    """Class of the requests by which Kueue asks for all nodes of a job before it starts; default: none, so pods
    wait until nodes come. Only for cluster-autoscaler."""
    node_class: NodeClass | None = None
    """Image, role and network of the nodes; needed for Karpenter."""


def moment(value: str) -> str:
    """Refuse a time that does not exist, such as one of February 30."""
    try:
        datetime.fromisoformat(value)
    except ValueError:
        raise validation_error("form", f"must be {TIME}") from None
    return value


TIME = "a time in UTC such as 2026-12-24T11:30Z"

Moment = Annotated[
    StrictStr, Form(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?Z", TIME), AfterValidator(moment)
]
"""A point in time, in UTC."""


class Reservation(Spec):
    """Capacity that the provider keeps for a pool for a time."""

    id: Text
    """Name of the reservation at the provider, such as `cr-0a1b2c3d4e5f60718`."""
    starts: Moment
    """Beginning, such as 2026-12-10T11:30Z."""
    ends: Moment
    """End, such as 2026-12-24T11:30Z; the provider then takes the nodes away."""
    early_minutes: Amount = 0
    """Minutes before the end at which the provider begins to end nodes: 30 for a capacity block of EC2; default: 0."""

    @property
    def hours(self) -> float:
        """Hours that a run has at most, from the first to the last minute of the nodes."""
        start, end = (datetime.fromisoformat(text) for text in (self.starts, self.ends))
        return (end - start).total_seconds() / 3600 - self.early_minutes / 60

    @model_validator(mode="after")
    def ordered(self) -> Reservation:
        """Refuse a reservation that leaves no time."""
        if self.hours <= 0:
            raise validation_error("range", "ends before it starts, less earlyMinutes; use a later end")
        return self
