"""A team: one namespace on every cluster that admits it to a queue, with the team's name or another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Discriminator, StrictBool, Tag, model_validator

from trainyard.specs.models.base import (
    Amount,
    Cidr,
    Labels,
    Name,
    PortRange,
    Room,
    Spec,
    SubdomainName,
    Text,
    Waive,
    validation_error,
)
from trainyard.specs.models.job import OwnLabels
from trainyard.specs.models.limits import Limits

SecurityLevel = Literal["restricted", "baseline", "privileged"]
"""Kubernetes' Pod Security Standards, strictest first."""

DEFAULT = "default"
"""Where levels or namespaces differ from cluster to cluster, the key of all others."""

STRICTEST: SecurityLevel = "restricted"
"""The level where nothing is said."""


def shape_of(value: object) -> str:
    """Say in which of two forms a field is written: as a map, or plainly."""
    return "map" if isinstance(value, Mapping) else "plain"


def some(ports: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse no port at all, which a policy takes for every port."""
    if not ports:
        raise validation_error("empty", "is empty; write at least one port")
    return ports


def people(group: str) -> str:
    """Refuse a group that nobody is in, as with a space at an end, and those that Kubernetes puts everybody into."""
    if group != group.strip() or not group.isprintable():
        raise validation_error(
            "form", "must be the name at the identity provider, without line breaks or spaces at its ends"
        )
    if group.startswith("system:"):
        raise validation_error("form", "is a group of Kubernetes, with members outside the team; use the team's group")
    return group


class Volume(Spec):
    """A PersistentVolumeClaim of the team, on every cluster that has its storage class."""

    storage: Name
    """A key of the cluster's `storage`."""
    size: Room
    """Bytes; a volume cannot shrink."""
    clusters: tuple[Name, ...] = ()
    """Clusters that get the volume; default: all that have the storage."""
    from_snapshot: SubdomainName | None = None
    """A VolumeSnapshot in the team's namespace that a new volume begins with; an existing volume cannot get one."""


class ServiceAccount(Spec):
    """A service account that jobs may name, with the annotations that its provider reads."""

    annotations: OwnLabels = {}
    """Annotations such as `eks.amazonaws.com/role-arn: arn:…`, which give pods an identity at the provider."""


class Egress(Spec):
    """An additional destination inside the cluster or on its nodes that the team's pods may reach."""

    namespace: Name | None = None
    """Namespace of the pods to reach."""
    pods: Labels = {}
    """Labels of the pods to reach; default: all pods of the namespace."""
    cidr: Cidr | None = None
    """Address range to reach, of nodes or of a server on the cluster's network."""
    ports: Annotated[tuple[PortRange, ...], AfterValidator(some)]
    """Ports to reach, such as `9000`, `"30000-30100"` or `"4567/UDP"`; for pods, the container's ports, not the
    Service's."""
    clusters: tuple[Name, ...] = ()
    """Clusters where the entry applies; default: all that admit the team."""

    @model_validator(mode="after")
    def one_of_two(self) -> Egress:
        """Refuse both, since a peer is either, and neither, which would open the ports of everybody."""
        if (self.namespace is None) == (self.cidr is None):
            raise validation_error("one-of", "must have exactly one of: namespace, cidr")
        if self.pods and self.namespace is None:
            raise validation_error(
                "one-of", "has both pods and cidr, but pods needs namespace; write namespace instead of cidr"
            )
        return self


class Team(Spec):
    """A team's group, namespace, Pod Security level, volumes and secrets; the file's name is the team's name."""

    group: Annotated[Text, AfterValidator(people)]
    """Group of the team's members, as the cluster's identity provider names it."""
    namespace: (
        Annotated[Annotated[Name, Tag("plain")] | Annotated[dict[Name, Name], Tag("map")], Discriminator(shape_of)]
        | None
    ) = None
    """Namespace of the team on every cluster, or one per cluster: `{default: …, <cluster>: …}`; default: the team's
    name. It cannot change while the team has runs there."""
    pod_security: Annotated[
        Annotated[SecurityLevel, Tag("plain")] | Annotated[dict[Name, SecurityLevel], Tag("map")],
        Discriminator(shape_of),
    ] = STRICTEST
    """Pod Security level of the namespace, or one level per cluster: `{default: …, <cluster>: …}`."""
    volumes: dict[Name, Volume] = {}
    """Volumes of the team, by name."""
    secrets: tuple[SubdomainName, ...] = ()
    """Secrets that exist in the namespace; their values are never in Git."""
    config_maps: tuple[SubdomainName, ...] = ()
    """ConfigMaps in the namespace that jobs may read; `kube-root-ca.crt` exists everywhere and needs no entry."""
    service_accounts: Annotated[
        Annotated[tuple[Name, ...], Tag("plain")] | Annotated[dict[Name, ServiceAccount], Tag("map")],
        Discriminator(shape_of),
    ] = ()
    """Service accounts that jobs may name, as a list or as a map with annotations; jobs without one get no token."""
    run_as_user: Amount | None = None
    """User ID of the team's programs, unless the job sets one; default: 1000."""
    run_as_group: Amount | None = None
    """Group ID of the team's programs, which owns their files on shared volumes; default: the user ID."""
    supplemental_groups: tuple[Amount, ...] = ()
    """Further group IDs, such as those that own data sets on a shared file system."""
    egress: tuple[Egress, ...] = ()
    """Destinations inside the cluster that the team's pods may reach in addition to each other; outside the cluster
    all are open."""
    priorities: tuple[Name, ...] = ()
    """Priorities that the team's jobs may have; default: all priorities of the cluster."""
    limits: Limits | None = None
    """Limits of the namespace beside the quota of queues; default: none."""
    python: StrictBool = False
    """Whether the team's jobs may be Python files."""
    waive: Waive = {}
    """Accepted findings on the team, each `rule: reason`."""
    description: str | None = None
    """Free text for readers."""

    def level_on(self, cluster: str) -> SecurityLevel:
        """Return the Pod Security level of the team's namespace on a cluster."""
        if isinstance(self.pod_security, str):
            return self.pod_security
        return self.pod_security.get(cluster) or self.pod_security.get(DEFAULT, STRICTEST)

    def namespace_on(self, cluster: str) -> str | None:
        """Return the namespace that the file gives the team on a cluster; None where it has the team's name."""
        if isinstance(self.namespace, Mapping):
            return self.namespace.get(cluster) or self.namespace.get(DEFAULT)
        return self.namespace

    @property
    def accounts(self) -> Mapping[str, ServiceAccount]:
        """The service accounts by name, in whichever form they are written."""
        if isinstance(self.service_accounts, tuple):
            return {name: ServiceAccount() for name in self.service_accounts}
        return self.service_accounts

    def opens(self, cluster: str) -> tuple[tuple[int, Egress], ...]:
        """Return the egress entries that hold on a cluster, each with its place in the file."""
        return tuple(
            (at, egress) for at, egress in enumerate(self.egress) if not egress.clusters or cluster in egress.clusters
        )
