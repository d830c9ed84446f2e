"""Prerequisites of virtual clusters: registries of their images."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.render.parts.virtual_clusters import CLUSTERS, OPERATOR
from trainyard.render.prerequisites.base import Prerequisite, Site, names_text
from trainyard.specs.releases.facts import lookup

MIRROR = "controlPlane.advanced.defaultImageRegistry"
FROM = "ghcr.io, docker.io and mirror.gcr.io"
"""Registries of the images that the chart and its CoreDNS name (loft-sh/vcluster v0.36.1 chart/values.yaml)."""


def images(site: Site) -> Iterator[Prerequisite]:
    """Yield the registry from which nodes with virtual clusters pull."""
    choice, found = site.cluster.operators.get(OPERATOR), site.cluster.virtual_clusters.values()
    if choice is None or not found:
        return
    mirror = lookup(choice.values, MIRROR)
    pools = names_text(sorted({f"`{one.pool}`" for one in found}))
    yield Prerequisite(
        f"nodes of pool {pools} can pull images of vCluster from {mirror or FROM}",
        "control planes and DNS of virtual clusters start from them",
        (CLUSTERS,),
        f"copy the images there ({MIRROR})"
        if mirror
        else f"open the registries, or set {MIRROR} in values of vcluster",
        look=f"`kubectl get pods -n vc-{next(iter(site.cluster.virtual_clusters))}` shows no ImagePullBackOff",
    )
