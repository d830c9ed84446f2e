"""On a real API server nobody crosses a tenant's line: not Argo CD's account, not a team's own people.

Needs TRAINYARD_KUBECONFIG, the operators of the kinds, and TRAINYARD_THROWAWAY=1, which says that the cluster may be
changed: a namespace, a queue and the policies are made there, and taken away again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from attached_runs import GPUS, NAMED, RAIL, SHARES, notes_of, on_rails, with_counts, with_notes
from conftest import ROOT
from fabric_crossings import FABRIC, PATCHED
from object_crossings import LARGE, OBJECTS, RIGHT, RIGHT_WORKLOADS, SERVICE, WORKLOADS
from pod_crossings import PODS
from tenancy_server import (
    ARGOCD,
    BESIDE,
    DIRECT,
    LABELLED,
    NAMED_SPACE,
    RAILS,
    SPACE,
    WRITER,
    Object,
    Somebody,
    around,
    here,
    holds,
    in_space,
    tree_around,
)
from tenants import on_fabric, rendered, target, with_daemon, with_metadata
from trainyard.base.documents import load
from trainyard.base.labels import NETWORKS
from trainyard.render.kinds import kinds

pytestmark = pytest.mark.cluster

KINDS = sorted(kinds())
UNTIL = 120
"""Seconds until policies are in effect, or pods there."""

DROPPED = {"a field that nobody knows yet", "a gang of the scheduler's", "an elastic policy that nobody knows yet"}
"""What a server takes out before any policy sees it."""


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
    wrong = rendered("Job", {"object": "Pod", "merge": PODS["processes of the node"].merge})[0]
    end = time.monotonic() + UNTIL
    for place in (SPACE, DIRECT, BESIDE, RAILS, NAMED_SPACE):
        while "(run/tenant-" not in Somebody(ARGOCD).create(here(wrong, place), dryRun="All")[1]:
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


@pytest.mark.parametrize("case", sorted(set(PODS) - DROPPED))
def test_no_pod_crosses_a_line(argocd: Somebody, person: Somebody, case: str) -> None:
    """Whoever applies it, in the kind that every server has."""
    value = here(rendered("Job", {"object": "Pod", "merge": PODS[case].merge})[0])
    code, said = argocd.create(value, dryRun="All")
    assert holds(code, said), (code, said)
    assert person.create(value, dryRun="All")[0] == 403


@pytest.mark.parametrize("case", sorted(set(WORKLOADS) - DROPPED))
def test_no_workload_crosses_a_line(argocd: Somebody, case: str) -> None:
    """In the kinds of operators, what a kind's own fields make is refused."""
    kind, merge, _ = WORKLOADS[case]
    value = here(rendered(kind, {"object": target(kind), "merge": merge})[0])
    code, said = argocd.create(value, dryRun="All")
    assert holds(code, said) or "admission webhook" in said, (code, said)


@pytest.mark.parametrize("case", FABRIC)
def test_a_fabrics_container_is_what_it_is(argocd: Somebody, case: str) -> None:
    """Nobody makes it do something else, and no other container is taken for it."""
    code, said = argocd.create(here(on_fabric("gpudirect-tcpxo", FABRIC[case][0])[-1], DIRECT), dryRun="All")
    assert holds(code, said) or "admission webhook" in said, (code, said)


@pytest.mark.parametrize("case", PATCHED)
def test_no_train_job_patches_a_fabrics_container(argocd: Somebody, case: str) -> None:
    """What a runtime says is as it stays."""
    cluster, team, _ = with_daemon("gpudirect-tcpxo")
    merge = {"object": "TrainJob", "merge": PATCHED[case][0]}
    value = rendered("TrainJob", merge, cluster=cluster, team=team, gpusPerNode=8, fabric="rdma")[0]
    code, said = argocd.create(here(value, DIRECT), dryRun="All")
    assert holds(code, said) or "admission webhook" in said, (code, said)


def test_what_a_fabric_brings_is_admitted(argocd: Somebody) -> None:
    """Its container, its folders of the node and its annotations."""
    for value in on_fabric("gpudirect-tcpxo"):
        code, said = argocd.create(here(value, DIRECT), dryRun="All")
        assert code == 201, (code, said)


@pytest.mark.parametrize("case", SHARES)
def test_a_fabric_goes_with_all_gpus_of_a_node(argocd: Somebody, case: str) -> None:
    """Its interfaces and devices are for teams that may be on it, on pods that have a whole node's GPUs."""
    counts = SHARES[case]
    plain = with_counts(on_fabric("gpudirect-tcpxo", fabric="tcp"), GPUS, *counts)
    for place, (key, text) in product((DIRECT, BESIDE), notes_of("gpudirect-tcpxo").items()):
        code, said = argocd.create(here(with_notes(plain, {key: text})[-1], place), dryRun="All")
        if place == DIRECT and sum(counts) == 8:
            assert code == 201 or "admission webhook" in said, (code, said)
        else:
            assert holds(code, said), (key, code, said)
        assert argocd.create(here(plain[-1], place), dryRun="All")[0] == 201


@pytest.mark.parametrize("case", NAMED)
def test_a_network_goes_with_its_device(argocd: Somebody, case: str) -> None:
    """A device for each network of device type that pods name."""
    named, counts, wrong = NAMED[case]
    values = with_notes(with_counts(on_rails(fabric="tcp")[0], RAIL, *counts), {NETWORKS: named})
    code, said = argocd.create(here(values[-1], RAILS), dryRun="All")
    assert holds(code, said) == wrong, (code, said)


def shell(somebody: Somebody, container: str) -> tuple[int, str]:
    """Ask for a shell in a container, and return the code and what is said."""
    code, body = somebody.ask(
        "POST", f"/api/v1/namespaces/{DIRECT}/pods/none/exec", container=container, command="sh", stdout="true"
    )
    return code, str(body.get("message", ""))


def test_nobody_has_a_shell_in_a_fabrics_container(argocd: Somebody, admin: Somebody) -> None:
    """But those who may change the namespace; in others whoever has the right."""
    (name,) = with_daemon("gpudirect-tcpxo")[2].lists["daemons"]
    writer = Somebody(WRITER)
    assert "tenant-security" in shell(writer, name)[1]
    for somebody, container in ((writer, "trainer"), (argocd, name), (admin, name)):
        code, said = shell(somebody, container)
        assert (code, "tenant-" in said) == (404, False), said


def test_nobody_says_that_they_are_the_platform(argocd: Somebody) -> None:
    """Who may write jobs may write Argo CD's mark, too; who may change the namespace is believed."""
    wrong = here(rendered("Job", {"object": "Pod", "merge": PODS["processes of the node"].merge})[0])
    notes = {"argocd.argoproj.io/tracking-id": f"test-teams-{SPACE}:batch/Job:{SPACE}/x"}
    marked = with_metadata(wrong, {"annotations": notes})
    code, said = Somebody(WRITER).create(marked, dryRun="All")
    assert holds(code, said), (code, said)
    assert argocd.create(marked, dryRun="All")[0] == 201


def test_policies_are_of_their_types(admin: Somebody) -> None:
    """The server finds nothing to say of their expressions, which would be evaluated and fail."""
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
    end = time.monotonic() + UNTIL
    while time.monotonic() < end:
        found = [item for item in admin.ask("GET", path)[1]["items"] if item["metadata"]["name"].startswith("tenant-")]
        if all(item.get("status", {}).get("observedGeneration") for item in found):
            break
        time.sleep(1)
    assert len(found) == 2 * 3 + 1
    assert {item["metadata"]["name"]: item["status"].get("typeChecking", {}) for item in found} == {
        item["metadata"]["name"]: {} for item in found
    }


@pytest.mark.parametrize("case", RIGHT_WORKLOADS)
def test_workloads_within_the_lines_are_admitted(argocd: Somebody, case: str) -> None:
    """What teams may say of a kind's own fields is said."""
    kind, merge = RIGHT_WORKLOADS[case]
    _, said = argocd.create(here(rendered(kind, {"object": target(kind), "merge": merge})[0]), dryRun="All")
    assert "tenant-" not in said, said


@pytest.mark.parametrize(("team", "wrong"), LABELLED)
def test_a_label_of_the_namespace_says_whose_it_is(argocd: Somebody, team: str, wrong: bool) -> None:
    """Where teams have other namespaces, a run's team is that of the label, and not the namespace's name."""
    values = [in_space(value, NAMED_SPACE, team) for value in rendered("JobSet")]
    said = [argocd.create(value, dryRun="All") for value in values]
    assert any(holds(*one) for one in said) == wrong, said
    assert wrong or all(code == 201 for code, _ in said), said


def test_no_team_writes_the_label_of_its_namespace(admin: Somebody, person: Somebody) -> None:
    """Neither the team's role nor Kubernetes' own role for whoever runs a namespace lets them change it."""
    for somebody in (person, Somebody(WRITER)):
        body = {"metadata": {"labels": {"trainyard.dev/team": "ads"}}}
        code, said = somebody.ask("PATCH", f"/api/v1/namespaces/{SPACE}", body)
        assert code == 403, said


@pytest.mark.parametrize("case", SERVICE)
def test_services_are_headless(argocd: Somebody, person: Somebody, case: str) -> None:
    """No Service of a run takes an address."""
    values = rendered("Job", {"object": "Service", "merge": {"spec": SERVICE[case]}})
    value = here(next(one_value for one_value in values if one_value["kind"] == "Service"))
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
    shown = {**value, "stringData": {"NVIDIA_VISIBLE_DEVICES": "all"}}
    assert person.create(shown, dryRun="All")[0] == 403
    token = {**with_metadata(value, {"annotations": notes}), "type": "kubernetes.io/service-account-token"}
    assert person.create(token, dryRun="All")[0] == 403


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_within_the_lines_is_admitted(argocd: Somebody, kind: str) -> None:
    """Of every kind, as it is rendered and with what teams may add."""
    for values in (rendered(kind), rendered(kind, *({"object": "Pod", "merge": item} for item in RIGHT.values()))):
        for value in map(here, values):
            code, said = argocd.create(value, dryRun="All")
            assert "tenant-" not in said, said
            assert code == 201 or "admission webhook" in said, (code, said)


@pytest.mark.parametrize("kind", ["JobSet", "RayJob", "TrainJob"])
def test_large_runs_are_admitted(argocd: Somebody, kind: str) -> None:
    """Within what the server spends on the expressions of one policy."""
    for value in rendered(kind, {"object": "Pod", "merge": LARGE}):
        _, said = argocd.create(here(value), dryRun="All")
        assert "cost" not in said
        assert "tenant-" not in said, said


def test_controllers_make_pods_of_every_kind(admin: Somebody, argocd: Somebody) -> None:
    """Launchers, heads, init containers, Secrets and variables that operators add are refused by no policy of ours."""
    made: list[Object] = []
    first = ("ConfigMap", "TrainingRuntime", "Service")
    able = [kind for kind in KINDS if kinds()[kind].scheduler == "kueue"]
    for kind in able:
        values = sorted(
            map(here, rendered(kind, name=f"as-{kind.lower()[:20]}")), key=lambda item: item["kind"] not in first
        )
        for value in values:
            code, said = argocd.create(value)
            assert code in {201, 409}, (kind, said)
            made.append(value)
    end, missing = time.monotonic() + UNTIL, set(able)
    while missing and time.monotonic() < end:
        _, pods = admin.ask("GET", f"/api/v1/namespaces/{SPACE}/pods")
        there = {item["metadata"].get("labels", {}).get("trainyard.dev/job", "") for item in pods["items"]}
        missing = {kind for kind in able if f"as-{kind.lower()[:20]}" not in there}
        time.sleep(2)
    _, events = admin.ask("GET", f"/api/v1/namespaces/{SPACE}/events")
    refused = [item["message"] for item in events["items"] if "tenant-" in item.get("message", "")]
    for value in made:
        admin.delete(value)
    assert not refused
    assert not missing


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
        value["metadata"]["namespace"] = f"{SPACE}-{team}"
        _, said = argocd.create(value, dryRun="All")
        wrong += [f"{path.name}: {said}"] if "tenant-" in said else []
        count += 1
    for value in reversed(made):
        admin.delete(value)
    assert count
    assert not wrong
