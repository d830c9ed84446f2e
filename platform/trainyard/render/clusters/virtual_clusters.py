"""A virtual cluster on its host: the namespace, what its pods may take and reach, and who gets its kubeconfig.

Kueue never sees its pods, so a ResourceQuota bounds them, and quotas of the pool leave them room. Everything stays when
the file no longer names it: the control plane does, too, and would else run without bounds. Facts: loft-sh/vcluster
v0.36.1 chart/templates/role.yaml, networkpolicy.yaml, statefulset.yaml, pkg/util/kubeconfig.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.labels import PROTECTED
from trainyard.base.quantities import Quantity
from trainyard.render.clusters import limits, nets, virtual_cluster_policies
from trainyard.render.clusters.levels import pod_security
from trainyard.render.operators.vcluster import LEVEL
from trainyard.render.parts.objects import Resource
from trainyard.render.parts.virtual_clusters import CLUSTERS, namespace
from trainyard.render.sizing.gpus import per_node
from trainyard.specs import Cluster, Team
from trainyard.specs.models.virtual_clusters import VirtualCluster

RBAC = "rbac.authorization.k8s.io"
SERVERS = (443, 6443)
"""Ports of API servers, of the host's too: no selector finds these, and addresses differ from cluster to cluster."""

MOST = 500
"""Objects of a kind that the store of the host keeps; each pod has a Secret for its token."""


def resources(cluster: Cluster, name: str, team: Team | None) -> Iterator[Resource]:
    """Yield everything of a virtual cluster's folder, in which nothing is ever pruned."""
    one = cluster.virtual_clusters[name]
    yield guarded("v1", "Namespace", namespace(name), name, labels=pod_security(LEVEL, cluster))
    yield quota(cluster, name, one)
    yield guarded("v1", "ResourceQuota", limits.NO_AFFINITY, name, limits.no_affinity())
    yield from policies(cluster, name)
    if team is not None:
        yield from access(name, team)
    constraint = cluster.distribution.security_constraint
    if constraint is not None:
        yield binding(name, constraint)
    yield from virtual_cluster_policies.resources(cluster, name, one)


def guarded(api: str, kind: str, title: str, name: str, spec: dict[str, Any] | None = None, **more: Any) -> Resource:
    """Return an object of a virtual cluster, which nobody but a person removes."""
    space = None if kind == "Namespace" else namespace(name)
    fields = {"spec": spec} if spec is not None else more.pop("fields", {})
    return Resource(api, kind, title, (CLUSTERS, name), space, annotations=PROTECTED, fields=fields, **more)


def quota(cluster: Cluster, name: str, one: VirtualCluster) -> Resource:
    """Return the quota of all pods: no device of any pool but the GPUs of the file, and nothing faces outside.

    Limits of memory are bounded, too: a pod beyond its requests would take the memory of its neighbours. No LimitRange
    fills in what a container leaves out: the syncer tries to take it back, fails, and never reports the pod as running
    (pkg/controllers/resources/pods/syncer.go resizeHostPodContainerResourcesInPlace, on hosts from 1.35).
    """
    pools = cluster.pools
    none = {f"requests.{device}": "0" for pool in pools.values() for device in per_node(pool)}
    granted = virtual_cluster_policies.gpu_resource(cluster, one)
    hard = {
        "pods": str(one.pods),
        "requests.cpu": str(one.cpus),
        "requests.memory": one.memory,
        "limits.memory": one.memory,
        **none,
        **({f"requests.{granted}": str(one.gpus)} if granted else {}),
        "requests.storage": str(Quantity.parse(one.size).value() + Quantity.parse(one.claims).value()),
        **{f"count/{kind}": str(MOST) for kind in ("configmaps", "persistentvolumeclaims", "secrets", "services")},
        "services.loadbalancers": "0",
        "services.nodeports": "0",
    }
    return guarded("v1", "ResourceQuota", "virtual-cluster", name, {"hard": hard})


def policies(cluster: Cluster, name: str) -> Iterator[Resource]:
    """Yield who talks to whom: all pods to each other, to names and to the world; the control plane to API servers.

    The label `release` is the chart's, and the syncer renames it on pods of the team (pkg/util/translate).
    """
    own: dict[str, Any] = {"podSelector": {}}
    world = nets.world([*nets.own_ranges(cluster), nets.LINK_LOCAL])
    spec = {
        "podSelector": {},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": [own]}],
        "egress": [{"to": [own]}, *nets.names(cluster), world],
    }
    yield guarded("networking.k8s.io/v1", "NetworkPolicy", "pods", name, spec)
    servers = {"ports": [{"port": port, "protocol": "TCP"} for port in SERVERS]}
    chosen = {"matchLabels": {"app": "vcluster", "release": name}}
    spec = {"podSelector": chosen, "policyTypes": ["Egress"], "egress": [servers]}
    yield guarded("networking.k8s.io/v1", "NetworkPolicy", "control-plane", name, spec)


def access(name: str, team: Team) -> Iterator[Resource]:
    """Yield the right of the team's people to read the kubeconfig and to reach its server, and to nothing else."""
    pod = f"{name}-0"
    rules = [
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": [f"vc-{name}"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["pods"], "resourceNames": [pod], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["pods/portforward"], "resourceNames": [pod], "verbs": ["create", "get"]},
        {"apiGroups": [""], "resources": ["resourcequotas"], "verbs": ["get", "list", "watch"]},
    ]
    yield guarded(f"{RBAC}/v1", "Role", "team", name, fields={"rules": rules})
    fields = {
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "team"},
        "subjects": [{"apiGroup": RBAC, "kind": "Group", "name": team.group}],
    }
    yield guarded(f"{RBAC}/v1", "RoleBinding", "team", name, fields=fields)


def binding(name: str, constraint: str) -> Resource:
    """Return the right of its pods to run as users that they name, which OpenShift else refuses (`rights`)."""
    accounts = {"apiGroup": RBAC, "kind": "Group", "name": f"system:serviceaccounts:{namespace(name)}"}
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": f"system:openshift:scc:{constraint}"}
    fields = {"roleRef": role, "subjects": [accounts]}
    return guarded(f"{RBAC}/v1", "RoleBinding", f"pods-{constraint}", name, fields=fields)


KINDS = (
    "/ResourceQuota",
    "/Secret",
    "/Service",
    "/ServiceAccount",
    "apps/StatefulSet",
    "networking.k8s.io/NetworkPolicy",
    "rbac.authorization.k8s.io/Role",
    "rbac.authorization.k8s.io/RoleBinding",
)
"""Namespaced kinds of the chart with our values, and of its folder, as `group/Kind`."""

WIDE = (
    "/Namespace",
    "admissionregistration.k8s.io/ValidatingAdmissionPolicy",
    "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding",
)
"""Cluster-scoped kinds of its folder; the chart makes none."""
