"""Everything of a cluster but its runs, as plain objects: which folders it has, and what is in each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from trainyard.base.findings import Location
from trainyard.base.manifests import Identity, identity_of
from trainyard.render.clusters import (
    alerts,
    argocd,
    dashboards,
    monitors,
    nodes,
    platform,
    settings,
    software,
    team,
    virtual_clusters,
)
from trainyard.render.clusters.applications import SETTINGS, VIRTUAL
from trainyard.render.operators.install import installed_operators, sites
from trainyard.render.operators.trainer import Trainer, cluster_runtimes
from trainyard.render.parts.objects import PlainFile, Resource
from trainyard.specs import Cluster
from trainyard.specs.sources import Specs
from trainyard.specs.tracked import on

__all__ = ["SETTINGS", "Own", "folders", "node_files", "of_files", "of_team", "own_kinds"]


class Own(NamedTuple):
    """An object of the repository's own below `platform/extra`, and the place that it comes from."""

    value: Mapping[str, Any]
    place: Location

    @property
    def identity(self) -> Identity:
        """What tells it from every other object."""
        return identity_of(self.value)


Owns = Mapping[str, Sequence[Own]]
"""Objects of the repository's own, by folder: `platform` or `teams/<team>`."""


def folders(
    specs: Specs, cluster_name: str, policies: Sequence[Mapping[str, Any]] = (), own: Owns | None = None
) -> dict[str, list[Resource]]:
    """Return the resources in every folder of the cluster that has any, by path.

    An object of the repository's own takes the place of ours of the same name. `policies` are the
    ValidatingAdmissionPolicies that the repository ships; `own` are by default the plain objects of its files.
    """
    own = of_files(specs, cluster_name) if own is None else own
    found: dict[str, list[Resource]] = {}
    for path, resources in parts(specs, cluster_name, policies):
        theirs = {item.identity for item in own.get(path, ())}
        ours = [resource for resource in resources if resource.identity not in theirs]
        if ours or theirs:
            found[path] = ours
    return {"argocd": list(argocd.resources(specs, cluster_name, found, own_kinds(own))), **found}


def parts(
    specs: Specs, cluster_name: str, policies: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, Iterable[Resource]]]:
    """Yield path and contents of every folder that there may be, but that of Applications."""
    cluster = specs.clusters[cluster_name]
    if settings.carries(specs, cluster_name):
        yield SETTINGS, [settings.resource(cluster)]
    for site, known in installed_operators(cluster):
        yield f"operators/{site.name}", software.operator(site, known)
    yield "hardware", software.hardware(cluster)
    shipped = [*platform.policies(specs.repository, policies), *platform.tenancy(cluster_name, cluster)]
    yield "platform", [*platform.resources(cluster), *shipped]
    yield (
        "monitoring",
        [
            *monitors.resources(cluster),
            *alerts.resources(cluster),
            *dashboards.resources(cluster),
        ],
    )
    for name, one in cluster.virtual_clusters.items():
        objects = virtual_clusters.resources(cluster, name, specs.teams.get(one.team))
        yield f"{VIRTUAL}/{name}", objects
    for name in cluster.teams():
        if name in specs.teams:
            own = of_team(specs, cluster_name, name)
            yield f"teams/{name}", team.resources(cluster_name, cluster, name, specs.teams[name], specs.repository, own)
            yield f"runs/{name}", [team.permanent(cluster, name)]


def node_files(cluster: Cluster) -> dict[str, list[PlainFile]]:
    """Return the files of every folder of nodes that has any, by path; they are no objects, and nobody syncs them.

    Simulated machines have none.
    """
    if cluster.simulated is not None:
        return {}
    found = {f"nodes/{name}": list(nodes.files(cluster, name)) for name in cluster.pools}
    return {path: files for path, files in found.items() if files}


def of_files(specs: Specs, cluster_name: str) -> dict[str, list[Own]]:
    """Return the plain objects of the repository's own on a cluster, by folder: what is whole, and each once."""
    found: dict[str, list[Own]] = defaultdict(list)
    seen: set[Identity] = set()
    for file in on(specs.extra, cluster_name):
        value: Any = file.source.document.value if file.source.document else None
        if isinstance(value, Mapping):
            own = Own(value, file.source.location(("metadata", "name")))
            if own.identity.kind and own.identity.name and own.identity not in seen:
                found[file.folder].append(own)
                seen.add(own.identity)
    return dict(found)


def of_team(specs: Specs, cluster_name: str, name: str) -> list[Mapping[str, Any]]:
    """Return the plain objects beside ours that a team's runs may meet: runtimes of Trainer, the platform's, its own.

    Those of the platform and the team are the repository's own, and a runtime of theirs goes before Trainer's.
    """
    found = of_files(specs, cluster_name)
    own = [item.value for folder in ("platform", f"teams/{name}") for item in found.get(folder, ())]
    there = {identity_of(value) for value in own}
    trainers = [site for site in sites(specs.clusters[cluster_name]) if site.name == Trainer.name]
    brought = [value for site in trainers for value in cluster_runtimes(site) if identity_of(value) not in there]
    return [*brought, *own]


def own_kinds(own: Owns) -> dict[str, list[tuple[str, str | None]]]:
    """Return `group/Kind` and namespace of the repository's own objects, by folder."""
    return {
        folder: [(f"{item.identity.group}/{item.identity.kind}", item.identity.namespace or None) for item in objects]
        for folder, objects in own.items()
    }
