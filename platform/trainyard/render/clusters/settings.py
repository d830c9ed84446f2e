"""What Argo CD must be told once: the health of kinds it does not know, and fields that controllers write."""

from __future__ import annotations

from trainyard.base.documents import dump
from trainyard.base.labels import PROTECTED
from trainyard.render.clusters.applications import CERTIFICATES, LOCAL
from trainyard.render.kinds import kinds
from trainyard.render.operators import operators
from trainyard.render.parts.health_of_kinds import known_health
from trainyard.render.parts.objects import Resource
from trainyard.specs import Cluster
from trainyard.specs.sources import Specs

NAME = "argocd-cm"


def carries(specs: Specs, cluster_name: str) -> bool:
    """Whether the cluster carries the settings of its Argo CD.

    An Argo CD inside a cluster serves that one. All others are taken to share one Argo CD, whose settings may have one
    owner: the first of them by name. With two, each Application would take the ConfigMap from the other for ever. No
    more clusters are looked at than it takes, since a cluster is rendered again when one of these changes.
    """
    if is_local(specs.clusters[cluster_name]):
        return True
    return cluster_name == next(name for name in sorted(specs.clusters) if not is_local(specs.clusters[name]))


def is_local(cluster: Cluster) -> bool:
    """Whether Argo CD runs in the cluster that it syncs."""
    where = cluster.argocd.destination
    return where.server == LOCAL or where.name == "in-cluster"


def resource(cluster: Cluster) -> Resource:
    """Return `argocd-cm` with our keys only; it holds every known kind, so that it is the same for all clusters."""
    labels = {"app.kubernetes.io/part-of": "argocd"}
    namespace = cluster.argocd.namespace
    return Resource(
        "v1", "ConfigMap", NAME, ("argocd",), namespace, labels=labels, annotations=PROTECTED, fields={"data": data()}
    )


def data() -> dict[str, str]:
    """Return the keys and values of `argocd-cm`: health scripts, and fields to ignore in every Application."""
    health = {kind.replace("/", "_"): known.script() for kind, known in known_health().items()}
    for operator in operators().values():
        health |= {key.replace("/", "_"): script for key, script in operator.health.items()}
    health |= {f"{kind.group}_{kind.object_kind}": kind.health for kind in kinds().values() if kind.health}
    found = {f"resource.customizations.health.{key}": script for key, script in health.items()}
    for rule in CERTIFICATES:
        fields = {name: value for name, value in rule.items() if name not in {"group", "kind"}}
        found[f"resource.customizations.ignoreDifferences.{rule['group']}_{rule['kind']}"] = dump(fields)
    return dict(sorted(found.items()))
