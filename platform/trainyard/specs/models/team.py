"""A team: one namespace on every cluster that admits it to a queue."""

from __future__ import annotations

from typing import Literal

from pydantic import StrictBool

from trainyard.specs.models.base import Name, Size, Spec, SubdomainName, Text, Waive


class Volume(Spec):
    """A claim in the team's namespace, on every cluster that has the storage class and admits the team."""

    storage: Name
    """A key of the cluster's `storage`."""
    size: Size
    clusters: tuple[Name, ...] = ()
    """Only these clusters; default: all that have the storage."""


class Team(Spec):
    """A team's people, Pod Security level, volumes and secrets; its name is the file's."""

    group: Text
    """The people's group, as the cluster's identity provider names it."""
    pod_security: Literal["restricted", "baseline", "privileged"] = "restricted"
    volumes: dict[Name, Volume] = {}
    secrets: tuple[SubdomainName, ...] = ()
    """Secrets that exist in the namespace; their values are never in Git."""
    service_accounts: tuple[Name, ...] = ()
    """Service accounts that jobs may name; without one a job gets no token."""
    priorities: tuple[Name, ...] = ()
    """Priorities that its jobs may have; none: all that the cluster has."""
    python: StrictBool = False
    """Whether jobs of this team may be Python files."""
    waive: Waive = {}
    """Findings on the team that are accepted, each `rule: reason`."""
    description: str | None = None
