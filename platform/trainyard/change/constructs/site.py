"""What constructs are told once: the cluster with its name, and a team on it with its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trainyard.specs import Cluster, Repository, Team

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Site:
    """A cluster, by the name that its file and its folder below `generated/` have."""

    name: str
    cluster: Cluster
    repository: Repository = field(default_factory=lambda: Repository(live=True, repo_url="https://none"))
    """The settings of all clusters: registries, labels, and policies that are switched off."""


@dataclass(frozen=True)
class Space:
    """A team on a cluster, by its name; its namespace has that too, unless the team's fields say another."""

    name: str
    team: Team
    site: Site
    own: Sequence[Document] = ()
    """Objects that the platform adds to the cluster: runtimes and templates of claims which runs may name."""

    def __post_init__(self) -> None:
        """Let the cluster know the team's namespace, which one that is written in a program does not."""
        cluster, said = self.site.cluster, self.team.namespace_on(self.site.name)
        if said is not None:
            known = cluster.with_namespaces({**cluster.other_namespaces, self.name: said})
            object.__setattr__(self, "site", replace(self.site, cluster=known))
