"""A server with tenants' lines on it: who asks it, what is put there before, and what a refusal looks like."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from attached_runs import may, on_rails
from conftest import ROOT
from everything import EVERYTHING
from make import make_cluster, make_team
from tenants import everything, with_daemon
from trainyard.judge.preflight.job.tenants import of_team
from trainyard.render.clusters.rights import resources as rights
from trainyard.render.clusters.team import affinity
from trainyard.render.tenancy import Allowance
from trainyard.render.tenancy.policies import binding, policies
from trainyard.specs import Cluster
from trainyard.specs.load import read_repository
from trainyard.upstream.apiserver.admission.policies.request import guess_of

SPACE = "tenants-line"
DIRECT = f"{SPACE}-direct"
"""A namespace on a fabric that brings a container of its own."""
BESIDE = f"{SPACE}-beside"
"""One of a team on the same cluster that may not be on the fabric."""
RAILS = f"{SPACE}-rails"
"""One whose pods may name networks of virtual functions."""

NAMED_SPACE = f"{SPACE}-named"
"""One of team `nlp`, whose name it does not have."""

LABELLED = [("nlp", False), (NAMED_SPACE, True), ("ads", True)]
"""Teams that a run in that namespace may say it is of, and whether it is refused."""

RBAC = "rbac.authorization.k8s.io"
WRITER = "bob"
"""Somebody who may write whatever there is in the namespaces, as no team's Role lets its people do."""
ARGOCD = f"system:serviceaccount:{SPACE}-argocd:controller"


Object = dict[str, Any]


class Somebody:
    """A connection to the server as one user."""

    def __init__(self, user: str | None = None, group: str | None = None) -> None:
        from kubernetes import config

        self.client = config.new_client_from_config(os.environ["TRAINYARD_KUBECONFIG"])
        for header, value in (("Impersonate-User", user), ("Impersonate-Group", group)):
            if value:
                self.client.set_default_header(header, value)

    def ask(self, method: str, path: str, body: Any = None, **query: str) -> tuple[int, Any]:
        """Send a request, and return the code and the body of the answer."""
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        prepared = self.client.param_serialize(
            method, path, query_params=list(query.items()), header_params=headers, body=body
        )
        response = self.client.call_api(*prepared)
        data = response.read().decode() or "{}"
        return response.status, json.loads(data) if data.startswith("{") else {"message": data}

    def create(self, value: Object, **query: str) -> tuple[int, str]:
        """Create an object, and return the code and what is said."""
        code, body = self.ask("POST", collection(value), value, **query)
        return code, str(body.get("message", ""))

    def delete(self, value: Object) -> None:
        """Delete an object and what was made of it."""
        path = f"{collection(value)}/{value['metadata']['name']}"
        self.ask("DELETE", path, {"propagationPolicy": "Background", "gracePeriodSeconds": 0})


def collection(value: Object) -> str:
    """Return the path at which objects of a kind are made."""
    kind = guess_of(value["apiVersion"], value["kind"])
    space = value["metadata"].get("namespace")
    top = f"/apis/{value['apiVersion']}" if kind.group else "/api/v1"
    return f"{top}/namespaces/{space}/{kind.plural}" if space else f"{top}/{kind.plural}"


def here(value: Mapping[str, Any], name: str = SPACE) -> Object:
    """Return an object of the team's in a namespace of the test's."""
    found: Object = json.loads(json.dumps(value).replace('"nlp"', f'"{name}"'))
    return found


def head(api_version: str, kind: str, name: str, **more: Any) -> Object:
    """Return an object of the whole cluster."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **more}


def in_space(value: Mapping[str, Any], name: str, team: str) -> Object:
    """Return an object of a run in a namespace, which says of all its parts that they are of a team."""
    found: Object = json.loads(
        json.dumps(value).replace('"trainyard.dev/team": "nlp"', f'"trainyard.dev/team": "{team}"')
    )
    return {**found, "metadata": {**found["metadata"], "namespace": name}}


def space(name: str, allowed: Allowance, team: str = "") -> Object:
    """Return a namespace with what runs in it may use; by default it has its team's name."""
    labels = {"trainyard.dev/team": team or name}
    return head("v1", "Namespace", name) | {
        "metadata": {"name": name, "annotations": allowed.annotations(), "labels": labels}
    }


def held(name: str, cluster: Cluster, suffix: str, *spaces: str) -> Iterator[Object]:
    """Yield the policies of a cluster under other names, bound to namespaces."""
    for policy, spec in policies(name, cluster):
        bound = json.loads(json.dumps(binding(policy, cluster)))
        bound["policyName"] = f"{policy}-{suffix}"
        bound["matchResources"]["namespaceSelector"]["matchExpressions"][0]["values"] = list(spaces)
        kind = "ValidatingAdmissionPolicy"
        yield head("admissionregistration.k8s.io/v1", kind, f"{policy}-{suffix}", spec=spec)
        yield head("admissionregistration.k8s.io/v1", f"{kind}Binding", f"{policy}-{suffix}", spec=bound)


def bound(name: str, role: str, subject: Object) -> Object:
    """Return a binding to a ClusterRole in the test's namespace."""
    ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}
    value = head(f"{RBAC}/v1", "RoleBinding", name, roleRef=ref, subjects=[{**subject, "apiGroup": RBAC}])
    return {**value, "metadata": {"name": name, "namespace": SPACE}}


def around() -> Iterator[Object]:
    """Yield what the test puts on the cluster: namespaces, rights, policies, queues."""
    yield space(SPACE, everything())
    yield space(DIRECT, replace(with_daemon("gpudirect-tcpxo")[2], kinds=everything().kinds))
    yield space(BESIDE, may("gpudirect-tcpxo", "restricted"))
    yield space(RAILS, on_rails()[1])
    yield space(NAMED_SPACE, everything(), "nlp")
    for right in (*rights(make_cluster(), "nlp", make_team()), affinity(make_cluster(), "nlp")):
        yield here(right.value())
    yield bound("writers", "admin", {"kind": "User", "name": WRITER})
    shells = {**bound("shells", "admin", {"kind": "User", "name": WRITER})}
    yield {**shells, "metadata": {"name": "shells", "namespace": DIRECT}}
    account = {"kind": "User", "name": ARGOCD, "apiGroup": RBAC}
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"}
    yield head(f"{RBAC}/v1", "ClusterRoleBinding", SPACE, roleRef=role, subjects=[account])
    yield from held("test", Cluster.model_validate(EVERYTHING), "line", SPACE)
    yield from held("test", with_daemon("gpudirect-tcpxo")[0], "direct", DIRECT, BESIDE, RAILS)
    other = Cluster.model_validate(EVERYTHING).with_namespaces({"nlp": NAMED_SPACE})
    yield from held("test", other, "named", NAMED_SPACE)
    names = ["cpu", "memory", "ephemeral-storage", "nvidia.com/gpu"]
    quota = {"name": SPACE, "resources": [{"name": name, "nominalQuota": "1000000Gi"} for name in names]}
    group = {"coveredResources": names, "flavors": [quota]}
    yield head("kueue.x-k8s.io/v1beta2", "ResourceFlavor", SPACE, spec={})
    spec = {"namespaceSelector": {}, "resourceGroups": [group]}
    yield head("kueue.x-k8s.io/v1beta2", "ClusterQueue", SPACE, spec=spec)
    queue = head("kueue.x-k8s.io/v1beta2", "LocalQueue", "research", spec={"clusterQueue": SPACE})
    yield {**queue, "metadata": {"name": "research", "namespace": SPACE}}
    yield head("kueue.x-k8s.io/v1beta2", "WorkloadPriorityClass", "normal", value=100, description="normal")


def holds(code: int, said: str) -> bool:
    """Whether a policy of ours refused, or the server found the object wrong before it came to one."""
    return code in {400, 422} or (code == 403 and ("(run/tenant-" in said or "(sec-digest)" in said))


def tree_around(name: str) -> Iterator[Object]:
    """Yield namespaces of a cluster's teams under other names, and its policies for them."""
    specs = read_repository(ROOT).specs
    cluster = specs.clusters[name]
    for team in cluster.teams():
        yield space(f"{SPACE}-{team}", of_team(specs, name, team))
    spaces = [f"{SPACE}-{team}" for team in cluster.teams()]
    yield from held(name, cluster, name, *spaces)
