"""vCluster: its chart, once for each virtual cluster, with the least that a team's API server needs.

Nothing of it is outside of its namespace: no ClusterRole, no nodes, no classes are copied. One pod runs the API server,
the controllers and the syncer as nobody's user, with a database in a file. The open-source image has no modules that
need a licence. Facts: loft-sh/vcluster v0.36.1 chart/values.yaml, chart/templates/_rbac.tpl, statefulset.yaml,
pkg/controllers/resources/pods/syncer.go; loft-sh/vcluster-docs of 0.36 kubernetes-pod/security/rootless-mode.mdx.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.operators.base import Conflict, Instance, Operator, Site, merge
from trainyard.render.operators.stated_values import leaves
from trainyard.render.parts import unprivileged
from trainyard.render.parts.virtual_clusters import ASKED, CLUSTERS, namespace
from trainyard.specs.models.virtual_clusters import VirtualCluster

CHART = "loft-sh/vcluster v0.36.1 chart/values.yaml"

OPEN = ("controlPlane.advanced.defaultImageRegistry", "controlPlane.coredns", "logging", "telemetry")
"""Sections of the chart's values that a cluster's file may set: nothing of what a team may do on the host is there."""

LEVEL = "restricted"
"""Pod Security level of the namespace, which the syncer tells teams of before the host refuses a pod."""


class VCluster(Operator):
    """vCluster from its chart, which is no operator itself: each virtual cluster is an installation of it."""

    name = "vcluster"

    def instances(self, site: Site) -> Iterator[Instance]:
        """Yield the control plane of each virtual cluster."""
        for name, one in site.cluster.virtual_clusters.items():
            values = merge(control_plane(site, one), site.choice.values)
            yield Instance(name, namespace(name), (CLUSTERS, name), values)

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield every value beyond images and logs, since these say what a team can do on the cluster."""
        for path, _ in leaves(site.choice.values):
            if not path.startswith(OPEN):
                message = f"{path} follows from virtualClusters, which bound what their teams can do; remove it"
                yield Conflict(path, message, CHART)


def control_plane(site: Site, one: VirtualCluster) -> dict[str, Any]:
    """Return the values of one virtual cluster."""
    where = placed(site, one)
    restricted = {"runAsNonRoot": True, "runAsUser": unprivileged.NOBODY, "runAsGroup": unprivileged.NOBODY}
    stateful = {
        "image": image(site, "syncer"),
        "imagePullPolicy": "IfNotPresent",
        "enableServiceLinks": False,
        "resources": ASKED,
        "security": {
            "podSecurityContext": {"fsGroup": unprivileged.NOBODY, "seccompProfile": {"type": "RuntimeDefault"}},
            "containerSecurityContext": {**unprivileged.LEAST, **restricted},
        },
        "persistence": {"volumeClaim": {"enabled": True, "size": one.size, "storageClass": one.storage}},
        "scheduling": where,
    }
    distro = {
        "enabled": True,
        "image": image(site, f"kubernetes-{one.kubernetes or site.cluster.minor}"),
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {**unprivileged.LEAST, **restricted},
    }
    return {
        "controlPlane": {
            "distro": {"k8s": distro},
            "backingStore": {"database": {"embedded": {"enabled": True}}},
            "statefulSet": stateful,
        },
        "sync": synced(site, one),
        "rbac": {"clusterRole": {"enabled": False}},
        "networking": {"advanced": {"proxyKubelets": {"byHostname": False, "byIP": False}}},
        "policies": {
            "podSecurityStandard": LEVEL,
            "resourceQuota": {"enabled": False},
            "limitRange": {"enabled": False},
        },
        "telemetry": {"enabled": False},
    }


def image(site: Site, component: str) -> dict[str, str]:
    """Return a component's image in ghcr.io, by digest where there is one; nothing of a minor without an image."""
    found = site.components.get(component)
    if found is None:
        return {}
    repository, version = found["image"], found["version"]
    if version.startswith("sha256:"):
        return {"repository": f"{repository}@sha256", "tag": version.removeprefix("sha256:")}
    return {"repository": repository, "tag": version}


def synced(site: Site, one: VirtualCluster) -> dict[str, Any]:
    """Return the values of the syncer: every pod goes to its pool, whatever it says, and past the pool's taints.

    The selector is added to each pod although no node is copied (pkg/controllers/resources/pods/syncer.go). Tokens of
    service accounts are kept in Secrets, as they are good for ten years, and annotations are read by many.
    """
    tolerated = [toleration_text(toleration) for toleration in placed(site, one).get("tolerations", ())]
    pods = {"useSecretsForSATokens": True, "enforceTolerations": tolerated}
    selected = {"nodes": {"enabled": False, "selector": {"labels": dict(site.cluster.selectors[one.pool])}}}
    return {"toHost": {"pods": pods}, "fromHost": selected}


def placed(site: Site, one: VirtualCluster) -> dict[str, Any]:
    """Return node selector and tolerations of its pool."""
    tolerations = site.cluster.pools[one.pool].tolerations()
    selector = {"nodeSelector": dict(site.cluster.selectors[one.pool])}
    return {**selector, "tolerations": tolerations} if tolerations else selector


def toleration_text(toleration: dict[str, Any]) -> str:
    """Return a toleration as the syncer reads it: `key=value:effect`, or `key:effect` for any value."""
    value = f"={toleration['value']}" if toleration.get("value") else ""
    effect = f":{toleration['effect']}" if toleration.get("effect") else ""
    return f"{toleration['key']}{value}{effect}"


OPERATOR = VCluster()
