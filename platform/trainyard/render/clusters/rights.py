"""What the people of a team may do in their namespace: look at everything, debug, keep secrets; jobs come by Git."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.clusters import ceph_buckets
from trainyard.render.kinds import Kind, available, companions
from trainyard.render.parts.objects import Resource
from trainyard.specs import Cluster, Team
from trainyard.specs.accounts import accounts_on
from trainyard.specs.models.pipelines import Pipelines

NAME, PIPELINES = "team", "pipelines"
READ = ["get", "list", "watch"]
RBAC = "rbac.authorization.k8s.io"

SEEN: dict[str, list[str]] = {
    "": ["configmaps", "events", "persistentvolumeclaims", "pods", "pods/log", "serviceaccounts", "services"],
    "discovery.k8s.io": ["endpointslices"],
    "events.k8s.io": ["events"],
    "k8s.cni.cncf.io": ["network-attachment-definitions"],
    "kueue.x-k8s.io": ["localqueues", "workloads"],
    "networking.k8s.io": ["networkpolicies"],
}
"""What a team sees of its own, by API group; secrets are not among it."""


def resources(cluster: Cluster, name: str, team: Team) -> Iterator[Resource]:
    """Yield the role of the team's people, its binding to their group, and the accounts that jobs may name."""
    source, place = f"team/{name}", cluster.namespace_of(name)
    role = {"apiGroup": RBAC, "kind": "Role", "name": NAME}
    group = {"apiGroup": RBAC, "kind": "Group", "name": team.group}
    fields = {"roleRef": role, "subjects": [group]}
    yield Resource(f"{RBAC}/v1", "Role", NAME, ("group",), place, fields={"rules": rules(cluster, team)}, source=source)
    yield Resource(f"{RBAC}/v1", "RoleBinding", NAME, ("group",), place, fields=fields, source=source)
    if cluster.distribution.security_constraint is not None:
        yield security_constraint(cluster.distribution.security_constraint, name, place)
    if cluster.pipelines is not None and cluster.pipelines.namespace_of(name, cluster.namespace_of) is not None:
        yield from of_pipelines(cluster, cluster.pipelines, name)
    for account, about in accounts_on(cluster, name, team).items():
        own = account in team.accounts
        yield Resource(
            "v1",
            "ServiceAccount",
            account,
            ("serviceAccounts", account) if own else ("objectStorage", "teams", name),
            place,
            annotations=about.annotations,
            fields={"automountServiceAccountToken": False},
            source=source if own else "cluster",
        )


def security_constraint(name: str, team: str, place: str) -> Resource:
    """Return the binding by which the team's pods run as the user that their job names, and never as root.

    OpenShift gives pods users of the namespace's range otherwise, and refuses those that name another; it keeps a
    ClusterRole for each of its constraints (OpenShift documentation, role-based access to SCCs).
    """
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": f"system:openshift:scc:{name}"}
    accounts = {"apiGroup": RBAC, "kind": "Group", "name": f"system:serviceaccounts:{place}"}
    fields = {"roleRef": role, "subjects": [accounts]}
    source = f"team/{team}"
    return Resource(f"{RBAC}/v1", "RoleBinding", f"{NAME}-{name}", ("group",), place, fields=fields, source=source)


def of_pipelines(cluster: Cluster, pipelines: Pipelines, team: str) -> Iterator[Resource]:
    """Yield the roles that let steps of pipelines start, watch and end the team's runs, and nothing else."""
    ending = [kind for kind in available(cluster) if kind.carrier.ending]
    runs = {f"{kind.group}/{kind.object_kind}" for kind in ending}
    beside = {item for kind in ending for item in kind.objects} | companions.kinds(cluster)
    verbs = {False: ["create", "delete", "get"], True: ["create", "delete", "get", "patch"]}
    rules = [
        {"apiGroups": [group], "resources": [f"{name.lower()}s"], "verbs": verbs[run not in runs]}
        for run in sorted(runs | beside)
        for group, _, name in [run.rpartition("/")]
    ]
    fields, place = {"rules": rules}, cluster.namespace_of(team)
    account = {
        "kind": "ServiceAccount",
        "name": pipelines.service_account,
        "namespace": pipelines.namespace_of(team, cluster.namespace_of),
    }
    role = {"apiGroup": RBAC, "kind": "Role", "name": PIPELINES}
    yield Resource(f"{RBAC}/v1", "Role", PIPELINES, ("pipelines",), place, fields=fields)
    yield Resource(
        f"{RBAC}/v1",
        "RoleBinding",
        PIPELINES,
        ("pipelines",),
        place,
        fields={"roleRef": role, "subjects": [account]},
    )


def rules(cluster: Cluster, team: Team) -> list[dict[str, Any]]:
    """Return the role's rules.

    Jobs, queues and quota are read only: a run that did not come through Git would be nobody's. Shells and forwarded
    ports serve to find out why a rank hangs. The team's secrets can be written by name; making one cannot be limited
    to names.
    """
    seen = {group: list(names) for group, names in SEEN.items()}
    if any(storage.snapshots for storage in cluster.storage.values()):
        seen["snapshot.storage.k8s.io"] = ["volumesnapshots"]
    if ceph_buckets.kinds(cluster):
        seen["objectbucket.io"] = ["objectbucketclaims"]
    for kind in available(cluster):
        seen.setdefault(kind.group, []).append(plural(kind))
    found = [{"apiGroups": [group], "resources": sorted(seen[group]), "verbs": READ} for group in sorted(seen)]
    found.append({"apiGroups": [""], "resources": ["pods/exec", "pods/portforward"], "verbs": ["create", "get"]})
    if team.secrets:
        verbs = ["get", "update", "patch", "delete"]
        names = sorted(team.secrets)
        found.append({"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]})
        found.append({"apiGroups": [""], "resources": ["secrets"], "resourceNames": names, "verbs": verbs})
    return found


def plural(kind: Kind) -> str:
    """Return the resource of a kind, as rights name it; those of all training kinds end in s."""
    return f"{kind.object_kind.lower()}s"
