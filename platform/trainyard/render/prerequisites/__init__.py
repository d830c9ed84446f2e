"""Prerequisites of a cluster: what it needs and nothing here installs, by area."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from trainyard.render.prerequisites import access, fabric, gpus, nodes, operators, storage
from trainyard.render.prerequisites.base import Prerequisite, Site
from trainyard.specs.sources import Specs

__all__ = ["Prerequisite", "Site", "prerequisites"]

Find = Callable[[Site], Iterator[Prerequisite]]

AREAS: Mapping[str, tuple[Find, ...]] = {
    "Nodes": (nodes.release, nodes.pools, nodes.labels, nodes.software, nodes.settings, nodes.memory),
    "GPUs": (gpus.nvidia, gpus.channels, gpus.amd),
    "Fabric": (fabric.every,),
    "Storage": (storage.drivers, storage.classes),
    "Software": (operators.operators, operators.runtimes, operators.network_policies, operators.pipelines),
    "Argo CD": (access.argocd,),
    "Access": (access.registries, access.people, access.identities, access.secrets),
}
"""Functions that find prerequisites, by the heading below which these are listed."""


def prerequisites(specs: Specs, cluster: str) -> dict[str, list[Prerequisite]]:
    """Return the prerequisites of a cluster by area; areas without any are left out."""
    teams = {name: specs.teams[name] for name in specs.clusters[cluster].teams() if name in specs.teams}
    site = Site(cluster, specs, teams)
    found = {area: [one for find in finds for one in find(site)] for area, finds in AREAS.items()}
    return {area: items for area, items in found.items() if items}
