"""On a real API server nobody crosses a tenant's line: not Argo CD's account, not a team's own people.

Needs TRAINYARD_KUBECONFIG, the operators of the kinds, and TRAINYARD_THROWAWAY=1, which says that the cluster may be
changed: a namespace, a queue and the policies are made there, and taken away again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from everything import EVERYTHING
from make import make_cluster, make_team
from tenants import everything, rendered, target, with_metadata
from trainyard.apiserver.admission.policies.request import guess_of
from trainyard.clusters.rights import resources as rights
from trainyard.clusters.team import affinity
from trainyard.documents import load
from trainyard.kinds import kinds
from trainyard.specs import Cluster
from trainyard.specs.load import read_repository
from trainyard.tenancy import allowance
from trainyard.tenancy.policies import binding, policies
from tries_of_objects import OBJECTS, RIGHT, SERVICE, WORKLOADS
from tries_of_pods import PODS

pytestmark = pytest.mark.cluster

SPACE = "tenants-line"
ARGOCD = f"system:serviceaccount:{SPACE}-argocd:controller"
KINDS = sorted(kinds())
GROUPS = {"kind": "Group", "name": "nlp-people"}
UNTIL = 120
"""Seconds until policies are in effect, or pods there."""

DROPPED = {"a field that nobody knows yet"}
"""What a server takes out before any policy sees it."""

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


def here(value: Mapping[str, Any]) -> Object:
    """Return an object of the team's in the test's namespace."""
    found: Object = json.loads(json.dumps(value).replace('"nlp"', f'"{SPACE}"'))
    return found


def head(api_version: str, kind: str, name: str, **more: Any) -> Object:
    """Return an object of the whole cluster."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **more}


def around() -> Iterator[Object]:
    """Yield what the test puts on the cluster: namespace, rights, policies, queues."""
    yield {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": SPACE, "annotations": everything().annotations(), "labels": {"trainyard.dev/team": SPACE}},
    }
    for each in (*rights(make_cluster(), "nlp", make_team()), affinity("nlp")):
        yield here(each.value())
    account = {"kind": "User", "name": ARGOCD, "apiGroup": "rbac.authorization.k8s.io"}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    yield head("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", SPACE, roleRef=role, subjects=[account])
    for name, spec in policies("test", Cluster.model_validate(EVERYTHING)):
        bound = json.loads(json.dumps(binding(name, Cluster.model_validate(EVERYTHING))))
        bound["policyName"] = f"{name}-line"
        bound["matchResources"]["namespaceSelector"]["matchExpressions"][0]["values"] = [SPACE]
        yield head("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", f"{name}-line", spec=spec)
        yield head("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", f"{name}-line", spec=bound)
    names = ["cpu", "memory", "ephemeral-storage", "nvidia.com/gpu"]
    quota = {"name": SPACE, "resources": [{"name": each, "nominalQuota": "1000000Gi"} for each in names]}
    group = {"coveredResources": names, "flavors": [quota]}
    yield head("kueue.x-k8s.io/v1beta2", "ResourceFlavor", SPACE, spec={})
    spec = {"namespaceSelector": {}, "resourceGroups": [group]}
    yield head("kueue.x-k8s.io/v1beta2", "ClusterQueue", SPACE, spec=spec)
    queue = head("kueue.x-k8s.io/v1beta2", "LocalQueue", "research", spec={"clusterQueue": SPACE})
    yield {**queue, "metadata": {"name": "research", "namespace": SPACE}}
    yield head("kueue.x-k8s.io/v1beta2", "WorkloadPriorityClass", "normal", value=100, description="normal")


@pytest.fixture(scope="module")
def admin() -> Iterator[Somebody]:
    """The cluster with the policies in effect, or a loud skip."""
    if not os.environ.get("TRAINYARD_KUBECONFIG") or os.environ.get("TRAINYARD_THROWAWAY") != "1":
        pytest.skip("tenants' lines on a real server: set TRAINYARD_KUBECONFIG and TRAINYARD_THROWAWAY=1")
    assert Path(os.environ["TRAINYARD_KUBECONFIG"]).is_file()
    somebody, made = Somebody(), list(around())
    for value in made:
        code, said = somebody.create(value)
        assert code in {200, 201, 409}, said
    probe = here(rendered("Job", {"object": "Pod", "merge": PODS["processes of the node"].merge})[0])
    end = time.monotonic() + UNTIL
    while "(run/tenant-" not in Somebody(ARGOCD).create(probe, dryRun="All")[1]:
        assert time.monotonic() < end, "policies are not in effect"
        time.sleep(1)
    yield somebody
    for value in reversed(made):
        somebody.delete(value)


@pytest.fixture(scope="module")
def argocd(admin: Somebody) -> Somebody:
    """Argo CD's account, which may do anything but what policies refuse."""
    return Somebody(ARGOCD)


@pytest.fixture(scope="module")
def person(admin: Somebody) -> Somebody:
    """One of the team's people, with the team's Role."""
    return Somebody("ann", "nlp-people")


def holds(code: int, said: str) -> bool:
    """Whether a policy of ours refused, or the server found the object wrong before it came to one."""
    return code == 422 or (code == 403 and ("(run/tenant-" in said or "(sec-digest)" in said))


@pytest.mark.parametrize("case", sorted(set(PODS) - DROPPED))
def test_no_pod_crosses_a_line(argocd: Somebody, person: Somebody, case: str) -> None:
    """Whoever applies it, in the kind that every server has."""
    value = here(rendered("Job", {"object": "Pod", "merge": PODS[case].merge})[0])
    code, said = argocd.create(value, dryRun="All")
    assert holds(code, said), (code, said)
    assert person.create(value, dryRun="All")[0] == 403


@pytest.mark.parametrize("case", WORKLOADS)
def test_no_workload_crosses_a_line(argocd: Somebody, case: str) -> None:
    """In the kinds of operators, what a kind's own fields make is refused."""
    kind, merge, _ = WORKLOADS[case]
    value = here(rendered(kind, {"object": target(kind), "merge": merge})[0])
    code, said = argocd.create(value, dryRun="All")
    assert holds(code, said) or "admission webhook" in said, (code, said)


@pytest.mark.parametrize("case", SERVICE)
def test_services_are_headless(argocd: Somebody, person: Somebody, case: str) -> None:
    """No Service of a run takes an address."""
    values = rendered("Job", {"object": "Service", "merge": {"spec": SERVICE[case]}})
    value = here(next(each for each in values if each["kind"] == "Service"))
    code, said = argocd.create(value, dryRun="All")
    assert holds(code, said), (code, said)
    assert person.create(value, dryRun="All")[0] == 403


@pytest.mark.parametrize("case", OBJECTS)
def test_no_object_is_anothers(argocd: Somebody, case: str) -> None:
    """Labels, annotations, owners and finalizers are the run's own."""
    code, said = argocd.create(here(with_metadata(rendered("Job")[0], OBJECTS[case][1])), dryRun="All")
    assert holds(code, said), (code, said)


def test_people_write_their_secrets_and_no_tokens(person: Somebody) -> None:
    """What a team's Role lets them make is no token of an account."""
    value = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "tokens", "namespace": SPACE}, "type": "Opaque"}
    assert person.create(value, dryRun="All")[0] == 201
    notes = {"kubernetes.io/service-account.name": "default"}
    token = {**with_metadata(value, {"annotations": notes}), "type": "kubernetes.io/service-account-token"}
    assert person.create(token, dryRun="All")[0] == 403


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_within_the_lines_is_admitted(argocd: Somebody, kind: str) -> None:
    """Of every kind, as it is rendered and with what teams may add."""
    for values in (rendered(kind), rendered(kind, *({"object": "Pod", "merge": each} for each in RIGHT.values()))):
        for value in map(here, values):
            code, said = argocd.create(value, dryRun="All")
            assert "tenant-" not in said, said
            assert code == 201 or "admission webhook" in said, (code, said)


def test_controllers_make_pods_of_every_kind(admin: Somebody, argocd: Somebody) -> None:
    """Launchers, heads, init containers, Secrets and variables that operators add are refused by no policy of ours."""
    made: list[Object] = []
    first = ("ConfigMap", "TrainingRuntime", "Service")
    able = [kind for kind in KINDS if kinds()[kind].scheduler == "kueue"]
    for kind in able:
        values = sorted(
            map(here, rendered(kind, name=f"as-{kind.lower()[:20]}")), key=lambda each: each["kind"] not in first
        )
        for value in values:
            code, said = argocd.create(value)
            assert code in {201, 409}, (kind, said)
            made.append(value)
    end, missing = time.monotonic() + UNTIL, set(able)
    while missing and time.monotonic() < end:
        _, pods = admin.ask("GET", f"/api/v1/namespaces/{SPACE}/pods")
        there = {each["metadata"].get("labels", {}).get("trainyard.dev/job", "") for each in pods["items"]}
        missing = {kind for kind in able if f"as-{kind.lower()[:20]}" not in there}
        time.sleep(2)
    _, events = admin.ask("GET", f"/api/v1/namespaces/{SPACE}/events")
    refused = [each["message"] for each in events["items"] if "tenant-" in each.get("message", "")]
    for value in made:
        admin.delete(value)
    assert not refused
    assert not missing


def tree_around(name: str) -> Iterator[Object]:
    """Yield namespaces of a cluster's teams under other names, and its policies for them."""
    specs = read_repository(ROOT).specs
    cluster = specs.clusters[name]
    for team in cluster.teams():
        allowed = allowance.of(specs.repository, name, cluster, team, specs.teams[team])
        yield head("v1", "Namespace", f"{SPACE}-{team}") | {
            "metadata": {"name": f"{SPACE}-{team}", "annotations": allowed.annotations()}
        }
    spaces = [f"{SPACE}-{team}" for team in cluster.teams()]
    for policy, spec in policies(name, cluster):
        bound = json.loads(json.dumps(binding(policy, cluster)))
        bound["policyName"] = f"{policy}-{name}"
        bound["matchResources"]["namespaceSelector"]["matchExpressions"][0]["values"] = spaces
        yield head("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", f"{policy}-{name}", spec=spec)
        kind = "ValidatingAdmissionPolicyBinding"
        yield head("admissionregistration.k8s.io/v1", kind, f"{policy}-{name}", spec=bound)


@pytest.mark.parametrize("cluster", sorted(path.stem for path in (ROOT / "platform/clusters").glob("*.yaml")))
def test_every_run_of_the_tree_is_admitted(argocd: Somebody, admin: Somebody, cluster: str) -> None:
    """By the policies of its own cluster, with what they may use there; what the server lacks is not theirs to say."""
    made = list(tree_around(cluster))
    for value in made:
        code, said = admin.create(value)
        assert code in {201, 409}, said
    time.sleep(5)
    wrong, count = [], 0
    for path in sorted((ROOT / "generated" / cluster / "runs").glob("*/*/*.yaml")):
        (document,) = load(path.read_bytes(), file=path.name)[0]
        team = path.parts[-3]
        value = json.loads(json.dumps(document.value).replace(f'"{team}"', f'"{SPACE}-{team}"'))
        _, said = argocd.create(value, dryRun="All")
        wrong += [f"{path.name}: {said}"] if "tenant-" in said else []
        count += 1
    for value in reversed(made):
        admin.delete(value)
    assert count
    assert not wrong
