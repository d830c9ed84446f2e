"""Which kinds a cluster serves: those of its Kubernetes, of its operators at their releases, and of Argo CD."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from trainyard.base.findings import Finding, Location
from trainyard.render.clusters import gke_networks, monitors
from trainyard.render.operators import Site
from trainyard.render.operators.install import ceded_definitions, sites
from trainyard.specs import Cluster
from trainyard.upstream.apiserver import Catalog, catalog
from trainyard.upstream.apiserver.catalog.releases import Shelf


def served_catalog(cluster: Cluster, schemas: Path, where: Callable[[str], Location]) -> tuple[Catalog, list[Finding]]:
    """Return the kinds that a cluster serves, and what is said of releases that are judged by others.

    `where` says where a project's release is written.
    """
    return catalog.load(
        schemas,
        kubernetes=cluster.kubernetes,
        projects=served_projects(cluster, Shelf(schemas)),
        without={site.name: ceded_definitions(site) for site in sites(cluster)},
        declared={site.name: site.version for site in sites(cluster)},
        where=where,
    )


def served_projects(cluster: Cluster, shelf: Shelf) -> dict[str, str]:
    """Return the release of each project whose API types the cluster serves: its operators' and its provider's."""
    typed = shelf.projects()
    projects = {site.name: release(site, shelf) for site in sites(cluster) if site.name in typed}
    if gke_networks.kinds(cluster) and gke_networks.PROJECT in typed:
        projects[gke_networks.PROJECT] = gke_networks.RELEASE
    if cluster.monitoring is not None and monitors.PROJECT in typed:
        projects[monitors.PROJECT] = monitors.RELEASE
    return {**projects, "argo-cd": cluster.argocd.version}


def release(site: Site, shelf: Shelf) -> str:
    """Return the release of an operator that its objects are judged by.

    One that the schemas lack is judged as it is rendered, by the nearest that is known, which is said elsewhere.
    """
    return site.version if shelf.carries(site.name, site.version) else site.known_version
