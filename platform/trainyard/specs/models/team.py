"""A team: one namespace on every cluster that admits it to a queue."""

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

SecurityLevel = Literal["restricted", "baseline", "privileged"]
"""Kubernetes' Pod Security Standards, strictest first."""

DEFAULT = "default"
"""Where levels differ from cluster to cluster, the key of all others."""

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
            "form", "should be as the identity provider names it, without spaces at its ends and line ends"
        )
    if group.startswith("system:"):
        raise validation_error(
            "form", "is a group of Kubernetes' own, in which are others than the team's people; name theirs"
        )
    return group


class Volume(Spec):
    """A claim in the team's namespace, on every cluster that has the storage class and admits the team."""

    storage: Name
    """A key of the cluster's `storage`."""
    size: Room
    """Bytes; a volume never shrinks."""
    clusters: tuple[Name, ...] = ()
    """Only these clusters; default: all that have the storage."""


class ServiceAccount(Spec):
    """An account that jobs may name, and what a provider reads on it."""

    annotations: OwnLabels = {}
    """Such as `eks.amazonaws.com/role-arn: arn:…`, by which its pods become somebody in the provider's eyes."""


class Egress(Spec):
    """What else the team's pods may reach inside the cluster or on its nodes."""

    namespace: Name | None = None
    """Pods of this namespace."""
    pods: Labels = {}
    """Only pods of the namespace with these labels; default: all."""
    cidr: Cidr | None = None
    """A range of addresses, of nodes or of a server on the cluster's own network."""
    ports: Annotated[tuple[PortRange, ...], AfterValidator(some)]
    """Such as `9000`, `"30000-30100"` or `"4567/UDP"`; of pods, those that they listen on, not their Service's."""
    clusters: tuple[Name, ...] = ()
    """Only these clusters; default: all that admit the team."""

    @model_validator(mode="after")
    def one_of_two(self) -> Egress:
        """Refuse both, since a peer is either, and neither, which would open the ports of everybody."""
        if (self.namespace is None) == (self.cidr is None):
            raise validation_error("one-of", "should have exactly one of: namespace, cidr")
        if self.pods and self.namespace is None:
            raise validation_error(
                "one-of", "has pods, which are those of a namespace; write namespace in place of cidr"
            )
        return self


class Team(Spec):
    """A team's people, Pod Security level, volumes and secrets; its name is the file's."""

    group: Annotated[Text, AfterValidator(people)]
    """The people's group, as the cluster's identity provider names it."""
    pod_security: Annotated[
        Annotated[SecurityLevel, Tag("plain")] | Annotated[dict[Name, SecurityLevel], Tag("map")],
        Discriminator(shape_of),
    ] = STRICTEST
    """The namespace's Pod Security level, or a level for each cluster that differs: `{default: …, <cluster>: …}`."""
    volumes: dict[Name, Volume] = {}
    """Its volumes, by name."""
    secrets: tuple[SubdomainName, ...] = ()
    """Secrets that exist in the namespace; their values are never in Git."""
    config_maps: tuple[SubdomainName, ...] = ()
    """ConfigMaps that exist in the namespace and that jobs may read; `kube-root-ca.crt` is in every one."""
    service_accounts: Annotated[
        Annotated[tuple[Name, ...], Tag("plain")] | Annotated[dict[Name, ServiceAccount], Tag("map")],
        Discriminator(shape_of),
    ] = ()
    """Service accounts that jobs may name, as a list or with their annotations; without one a job gets no token."""
    run_as_user: Amount | None = None
    """Number of the user that its programs are, unless their job says otherwise; default: 1000."""
    run_as_group: Amount | None = None
    """Number of its group, which owns what it writes on shared volumes; default: the user's number."""
    supplemental_groups: tuple[Amount, ...] = ()
    """More groups of the user, such as those that own data sets on a shared file system."""
    egress: tuple[Egress, ...] = ()
    """What its pods may reach inside the cluster, beside each other; the world outside is open."""
    priorities: tuple[Name, ...] = ()
    """Priorities that its jobs may have; none: all that the cluster has."""
    python: StrictBool = False
    """Whether jobs of this team may be Python files."""
    waive: Waive = {}
    """Findings on the team that are accepted, each `rule: reason`."""
    description: str | None = None
    """Words for people."""

    def level_on(self, cluster: str) -> SecurityLevel:
        """Return the Pod Security level of the team's namespace on a cluster."""
        if isinstance(self.pod_security, str):
            return self.pod_security
        return self.pod_security.get(cluster) or self.pod_security.get(DEFAULT, STRICTEST)

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
