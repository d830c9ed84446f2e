"""Prerequisites of a cluster: what it needs and nothing here installs, by area."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from trainyard.render.clusters import folders, of_files
from trainyard.render.prerequisites import (
    access,
    buckets,
    ceph,
    fabric,
    gpu_operator,
    gpus,
    hardware,
    left_out,
    monitoring,
    nim,
    nodes,
    operators,
    rights,
    scaling,
    storage,
    tracking,
    virtual_clusters,
)
from trainyard.render.prerequisites.base import Prerequisite, Site
from trainyard.render.prerequisites.questions import AllExisting, Existing
from trainyard.specs.sources import Specs

__all__ = ["Prerequisite", "Site", "prerequisites"]

Find = Callable[[Site], Iterator[Prerequisite]]

AREAS: Mapping[str, tuple[Find, ...]] = {
    "Nodes": (
        *(nodes.release, nodes.pools, scaling.pools, scaling.requests),
        *(nodes.labels, nodes.software, nodes.settings, nodes.processes, nodes.memory),
    ),
    "GPUs": (gpus.nvidia, gpu_operator.labels, gpus.fabric_managers, gpus.channels, gpus.amd),
    "Fabric": (fabric.every,),
    "Storage": (storage.drivers, rights.roles, storage.classes, ceph.storage, buckets.stores),
    "Software": (
        *(operators.operators, gpu_operator.quotas, operators.companions, operators.webhooks),
        *(operators.runtimes, operators.network_policies, operators.pipelines, tracking.trackers, nim.models),
        *(virtual_clusters.images,),
    ),
    "Monitoring": (monitoring.every,),
    "Argo CD": (access.argocd, hardware.sync),
    "Access": (access.registries, access.people, access.identities, access.secrets),
}
"""Functions that find prerequisites, by the heading below which these are listed."""

OF_REHEARSAL: Mapping[str, tuple[Find, ...]] = {
    "Nodes": (nodes.release, left_out.nodes),
    "Left out": (left_out.every,),
    "Software": (operators.operators, operators.webhooks),
    "Argo CD": (access.argocd,),
    "Access": (access.people,),
}
"""Those of a rehearsal, whose nodes need nothing."""


def prerequisites(specs: Specs, cluster: str) -> dict[str, list[Prerequisite]]:
    """Return the prerequisites of a cluster by area; areas without any are left out."""
    teams = {name: specs.teams[name] for name in specs.clusters[cluster].teams() if name in specs.teams}
    site = Site(cluster, specs, teams)
    made = rendered(specs, cluster)
    areas = AREAS if site.cluster.simulated is None else OF_REHEARSAL
    found = {area: [one for find in finds for one in find(site)] for area, finds in areas.items()}
    left = {area: [item for item in items if not is_made(item, made)] for area, items in found.items()}
    return {area: items for area, items in left.items() if items}


def rendered(specs: Specs, cluster: str) -> frozenset[tuple[str, str]]:
    """Return kind and `namespace/name` of what is applied to a cluster, the repository's own objects included."""
    ours = [resource.identity for folder in folders(specs, cluster).values() for resource in folder]
    own = [item.identity for items in of_files(specs, cluster).values() for item in items]
    names = ((one.kind, f"{one.namespace}/{one.name}" if one.namespace else one.name) for one in (*ours, *own))
    return frozenset((kind, name) for kind, name in names if kind not in ROOTS)


ROOTS = frozenset({"Application", "AppProject"})
"""Kinds of which a person applies the first."""


def is_made(item: Prerequisite, made: frozenset[tuple[str, str]]) -> bool:
    """Whether all objects that a prerequisite is about are applied from this repository."""
    if isinstance(item.question, AllExisting):
        return all((one.kind, one.name) in made for one in item.question.objects)
    return isinstance(item.question, Existing) and (item.question.kind, item.question.name) in made
