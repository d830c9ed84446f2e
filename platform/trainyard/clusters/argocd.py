"""What Argo CD itself reads: projects, Applications and settings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Any

from trainyard.clusters import applications, projects
from trainyard.clusters.applications import Place
from trainyard.operators import Resource
from trainyard.specs.sources import Specs


def resources(specs: Specs, cluster_name: str, folders: Collection[str]) -> Iterator[Resource]:
    """Yield everything of `argocd/`: projects, and an Application for each of the cluster's folders that there are."""
    place = Place(cluster_name, specs.clusters[cluster_name], specs.repository)
    groups = {name: team.group for name, team in specs.teams.items()}
    yield from projects.resources(place, groups, extra_kinds(specs, cluster_name))
    yield from applications.resources(place, folders)


def extra_kinds(specs: Specs, cluster_name: str) -> dict[str, list[tuple[str, str | None]]]:
    """Return kind and namespace of the repository's own objects on the cluster, by their folder."""
    found: dict[str, list[tuple[str, str | None]]] = defaultdict(list)
    for file in specs.extra:
        value: Any = file.source.document.value if file.source.document else None
        if file.cluster != cluster_name or not isinstance(value, dict):
            continue
        group = str(value.get("apiVersion", "")).rpartition("/")[0]
        metadata = value.get("metadata")
        namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
        found[file.folder].append((f"{group}/{value.get('kind', '')}", namespace))
    return dict(found)
