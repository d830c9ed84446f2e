"""Folders of operators and of hardware: namespaces, own resources, and what reconfigures nodes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.labels import PROTECTED
from trainyard.render.clusters import karpenter, nim
from trainyard.render.clusters.levels import pod_security
from trainyard.render.operators import Operator, Site
from trainyard.render.operators.install import installed_operators, own_resources
from trainyard.render.parts.nim import OPERATOR
from trainyard.render.parts.objects import Resource
from trainyard.specs import Cluster


def operator(site: Site, known: Operator) -> Iterator[Resource]:
    """Yield everything of `operators/<name>/`: the namespace, if it is the operator's own, and its resources."""
    if site.facts.own_namespace:
        labels = pod_security(site.facts.pod_security, site.cluster)
        yield Resource("v1", "Namespace", site.facts.namespace, site.at, labels=labels, annotations=PROTECTED)
    yield from own_resources(site, known)
    if site.name == OPERATOR:
        yield from nim.resources(site.cluster)


def hardware(cluster: Cluster) -> Iterator[Resource]:
    """Yield everything of `hardware/`: what Karpenter starts nodes by, then operator by operator.

    Simulated machines have nothing to change.
    """
    if cluster.simulated is not None:
        return
    yield from karpenter.resources(cluster)
    for site, known in installed_operators(cluster):
        yield from known.hardware(site)
