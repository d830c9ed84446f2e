"""What Argo CD itself reads: projects, Applications and settings."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from trainyard.render.clusters import applications, projects
from trainyard.render.clusters.applications import Follower
from trainyard.render.clusters.projects import Extra
from trainyard.render.parts.objects import Resource
from trainyard.specs.sources import Specs


def resources(specs: Specs, cluster_name: str, folders: Collection[str], own: Extra) -> Iterator[Resource]:
    """Yield everything of `argocd/`: projects, and an Application for each of the cluster's folders that there are.

    `own` are the kinds of the repository's own objects, by folder.
    """
    follower = Follower(cluster_name, specs.clusters[cluster_name], specs.repository)
    groups = {name: team.group for name, team in specs.teams.items()}
    yield from projects.resources(follower, groups, own)
    yield from applications.resources(follower, folders)
