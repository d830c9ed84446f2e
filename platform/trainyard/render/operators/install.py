"""The operators of one cluster: which are ours to install, with which values, and who brings what they share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.operators import operators
from trainyard.render.operators.base import Operator, Site, merge, nest_value
from trainyard.render.parts.objects import Resource
from trainyard.specs import Cluster
from trainyard.specs.releases import Bundle, release
from trainyard.specs.releases.facts import lookup


def sites(cluster: Cluster) -> Iterator[Site]:
    """Yield every known operator of the cluster, whoever installs it, in the order of its file."""
    for name, choice in cluster.operators.items():
        facts = release(name)
        if facts is not None:
            yield Site(name, cluster, choice, facts)


def installed_operators(cluster: Cluster) -> Iterator[tuple[Site, Operator]]:
    """Yield the operators that are ours to install, in the order of the cluster's file; a rehearsal leaves some out."""
    known = operators()
    for site in sites(cluster):
        if site.choice.managed and site.name in known and site.name not in cluster.left_out:
            yield site, known[site.name]


def driver_operators(cluster: Cluster) -> dict[str, list[Site]]:
    """Return by provisioner the operators of the cluster that bring its storage driver, whoever installs them."""
    found: dict[str, list[Site]] = {}
    for site in sites(cluster):
        for provisioner in site.facts.provisions.provisioners if site.facts.provisions else ():
            found.setdefault(provisioner, []).append(site)
    return found


CRITICAL_PODS = 100_000
"""Pods of system priority in an operator's namespace: more than its daemons on any number of nodes."""


def own_resources(site: Site, operator: Operator) -> Iterator[Resource]:
    """Yield an operator's own resources, and leave for its pods where the provider gives system priority to few."""
    if site.facts.critical_pods and site.facts.own_namespace and site.cluster.distribution.critical_quota:
        yield critical_quota(site)
    yield from operator.own(site)


def critical_quota(site: Site) -> Resource:
    """Return a ResourceQuota for pods of system priority: room for every daemon on every node."""
    classes = ["system-node-critical", "system-cluster-critical"]
    scope = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": classes}]}
    spec = {"hard": {"pods": str(CRITICAL_PODS)}, "scopeSelector": scope}
    return Resource("v1", "ResourceQuota", "critical-pods", site.at, site.facts.namespace, fields={"spec": spec})


def ceded_definitions(site: Site) -> frozenset[str]:
    """Return the definitions of a release that are not installed with it: one that is ours may leave some to others."""
    known = operators().get(site.name) if site.choice.managed else None
    return known.cedes(site) if known is not None else frozenset()


def bundlers(cluster: Cluster, project: str) -> list[tuple[Site, Bundle]]:
    """Return the operators that bring the project along unless told otherwise, the first choice first."""
    found = [(site, bundle) for site in sites(cluster) for bundle in site.facts.bundles if bundle.project == project]
    willing = [(site, bundle) for site, bundle in found if is_wanted(site, bundle)]
    return sorted(willing, key=lambda pair: (pair[1].rank, pair[0].name))


def is_wanted(site: Site, bundle: Bundle) -> bool:
    """Whether the operator brings the project: as its values say, else as its chart does."""
    said = lookup(site.choice.values, bundle.switch)
    return said if isinstance(said, bool) else bundle.default


def switches(site: Site) -> dict[str, Any]:
    """Return the values by which one operator alone brings a shared project, or none where it is installed itself."""
    values: dict[str, Any] = {}
    for bundle in site.facts.bundles:
        first = bundlers(site.cluster, bundle.project)[:1]
        brings = bundle.project not in site.cluster.operators and any(
            one_site.name == site.name for one_site, _ in first
        )
        if brings != bundle.default or brings:
            values = merge(values, nest_value(bundle.switch, brings))
    return values


def values(site: Site, operator: Operator) -> dict[str, Any]:
    """Return the chart's values: those that follow from the cluster, and over them the cluster file's own."""
    return operator.join(merge(merge(switches(site), amounts(site)), operator.values(site)), site.choice.values)


def amounts(site: Site) -> dict[str, Any]:
    """Return the requests of daemons, where the facts replace the chart's default."""
    found: dict[str, Any] = {}
    for container in (daemon_container for daemon in site.facts.daemons for daemon_container in daemon.containers):
        if container.value and container.sets:
            found = merge(found, nest_value(container.value, container.sets.model_dump()))
    return found
