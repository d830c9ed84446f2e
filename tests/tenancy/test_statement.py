"""What a team's run may be is held over whatever is rendered, in every kind that carries runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fabric_crossings import FABRIC, PATCHED
from object_crossings import OBJECTS, RIGHT, RIGHT_WORKLOADS, SERVICE, WORKLOADS
from pod_crossings import PODS
from tenant_crossings import SIDE
from tenants import FABRICS, everything, found, on_fabric, rendered, target, with_daemon, with_metadata
from trainyard.render.kinds import kinds
from trainyard.render.tenancy import Allowance, breaches

KINDS = sorted(kinds())


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_passes_as_it_is_rendered(kind: str) -> None:
    """Nothing of what Trainyard itself makes is refused, nor patches that stay within the lines."""
    for name, merge in RIGHT.items():
        values = rendered(kind, {"object": "Pod", "merge": merge})
        assert list(found(values)) == [], name


@pytest.mark.parametrize("case", PODS)
def test_no_pod_of_any_kind_crosses_a_line(case: str) -> None:
    """Each try is refused as what it is, in every kind."""
    value = PODS[case]
    for kind in KINDS:
        values = rendered(kind, {"object": value.target, "merge": value.merge})
        subjects = {breach.subject for breach in found(values)}
        assert value.subject in subjects, kind


@pytest.mark.parametrize("case", WORKLOADS)
def test_no_workload_crosses_a_line(case: str) -> None:
    """What a kind's own fields make beside pods is no way around."""
    kind, merge, subject = WORKLOADS[case]
    values = rendered(kind, {"object": target(kind), "merge": merge})
    assert subject in {breach.subject for breach in found(values)}


@pytest.mark.parametrize("case", RIGHT_WORKLOADS)
def test_workloads_within_the_lines_pass(case: str) -> None:
    """What teams may say of a kind's own fields is said."""
    kind, merge = RIGHT_WORKLOADS[case]
    assert list(found(rendered(kind, {"object": target(kind), "merge": merge}))) == []


@pytest.mark.parametrize("fabric", FABRICS)
def test_what_a_fabric_brings_passes(fabric: str) -> None:
    """Its container, its folders of the node and its annotations, with a sidecar of the team's beside them."""
    assert list(found(on_fabric(fabric, *RIGHT.values()), with_daemon(fabric)[2])) == []


@pytest.mark.parametrize("case", FABRIC)
def test_a_fabrics_container_is_what_it_is(case: str) -> None:
    """Nobody makes it do something else, and no other container is taken for it."""
    merge, subject = FABRIC[case]
    values = on_fabric("gpudirect-tcpxo", merge)
    assert subject in {breach.subject for breach in found(values, with_daemon("gpudirect-tcpxo")[2])}


@pytest.mark.parametrize("fabric", FABRICS)
def test_no_container_is_called_as_the_fabrics(fabric: str) -> None:
    """By that name it would get the devices that the fabric's annotation gives, without asking for GPUs."""
    _, _, allowed = with_daemon(fabric)
    (key, text) = next(pair for pair in pairs(allowed) if pair[0].startswith("devices."))
    side = {**SIDE, "name": key.rpartition(".")[2]}
    merge = {"metadata": {"annotations": {key: text}}, "spec": {"containers": [side]}}
    values = on_fabric(fabric, merge, fabric="tcp")
    assert {breach.subject for breach in found(values, allowed)} == {"device"}


@pytest.mark.parametrize("case", PATCHED)
def test_no_train_job_patches_a_fabrics_container(case: str) -> None:
    """What a runtime says is as it stays: a TrainJob has patches of its own for the pods in it."""
    merge, subject = PATCHED[case]
    cluster, team, allowed = with_daemon("gpudirect-tcpxo")
    more: dict[str, Any] = {"cluster": cluster, "team": team, "gpusPerNode": 8, "fabric": "rdma"}
    assert list(found(rendered("TrainJob", **more), allowing_all(allowed))) == []
    values = rendered("TrainJob", {"object": "TrainJob", "merge": merge}, **more)
    assert {breach.subject for breach in found(values, allowing_all(allowed))} == {subject}


def allowing_all(allowed: Allowance) -> Allowance:
    """Return the same with all kinds that there are."""
    return replace(allowed, kinds=everything().kinds)


def test_a_label_names_the_job_whole() -> None:
    """Of two jobs one may be called as the other begins."""
    value = rendered("Job", name="big-model")[0]
    said = with_metadata(value, {"labels": {"trainyard.dev/job": "big"}})
    assert {breach.subject for breach in found([said])} == {"label"}


def test_nobody_writes_what_controllers_do() -> None:
    """By Argo CD's own mark policies know what it applies for the platform."""
    notes = {"argocd.argoproj.io/tracking-id": "test-teams-nlp:batch/Job:nlp/x"}
    assert {breach.subject for breach in found([with_metadata(rendered("Job")[0], {"annotations": notes})])} == {
        "label"
    }


def pairs(allowed: Allowance) -> list[tuple[str, str]]:
    """Return the annotations that a fabric's pods have, each with its value."""
    return [(key, text) for key, _, text in (pair.partition("=") for pair in allowed.lists["pairs"])]


@pytest.mark.parametrize("case", SERVICE)
def test_services_are_headless(case: str) -> None:
    """A Service of a run gives names to its pods, and takes no address."""
    values = rendered("Job", {"object": "Service", "merge": {"spec": SERVICE[case]}})
    assert {breach.subject for breach in found(values)} == {"service"}


@pytest.mark.parametrize("case", OBJECTS)
def test_no_object_says_that_it_is_anothers(case: str) -> None:
    """Labels, annotations, owners and finalizers of every object are the run's own."""
    _, more, subject = OBJECTS[case]
    for kind in KINDS:
        for value in rendered(kind):
            assert subject in {breach.subject for breach in found([with_metadata(value, more)])}, (kind, value["kind"])


@pytest.mark.parametrize(
    ("group", "kind"), [("", "Pod"), ("", "Secret"), ("apps", "Deployment"), ("rbac.authorization.k8s.io", "Role")]
)
def test_a_run_is_made_of_its_own_kinds(group: str, kind: str) -> None:
    """Whatever else lies in a run's folder is refused, whatever it says."""
    value = {"apiVersion": f"{group}/v1".lstrip("/"), "kind": kind, "metadata": {"name": "x", "namespace": "nlp"}}
    assert [breach.subject for breach in found([value])] == ["object"]


def test_an_object_is_in_its_teams_namespace_under_the_runs_name() -> None:
    """Another namespace and another name are refused."""
    value = rendered("JobSet")[0]
    for key, text in (("namespace", "ads"), ("name", "other-aaaaaaaa")):
        moved = {**value, "metadata": {**value["metadata"], key: text}}
        run = value["metadata"]["name"]
        assert ("metadata", key) in {breach.path for breach in breaches(moved, everything(), run=run)}


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_of_a_run_has_a_specification(kind: str) -> None:
    """The policies cannot judge one without, and refuse it."""
    for value in rendered(kind):
        if "spec" in value:
            bare = {key: said for key, said in value.items() if key != "spec"}
            assert "spec is missing, but objects of a run needs it; add it" in {
                breach.message for breach in found([bare])
            }


HOSTILE: dict[str, dict[str, Any]] = {
    "capabilities that are a number": {"containers": [{**SIDE, "securityContext": {"capabilities": {"drop": 1}}}]},
    "a volume whose name is a list": {"volumes": [{"name": ["v"], "emptyDir": {}}]},
    "variables that are a word": {"containers": [{**SIDE, "env": "x", "envFrom": 1}]},
    "claims that are a word": {"resourceClaims": "x"},
}


@pytest.mark.parametrize("case", HOSTILE)
def test_wrong_types_end_no_check(case: str) -> None:
    """Files in the tree may hold whatever somebody wrote; the API server says what is wrong with them."""
    value = rendered("Job")[0]
    value["spec"]["template"]["spec"] |= HOSTILE[case]
    value["metadata"]["labels"] = 1
    assert list(found([value], with_daemon("gpudirect-tcpxo")[2]))


def test_capabilities_are_a_list() -> None:
    """A word of which `ALL` is a part drops none."""
    side = {**SIDE, "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": "ALL"}}}
    values = rendered("JobSet", {"object": "Pod", "merge": {"spec": {"containers": [side]}}})
    assert {breach.subject for breach in found(values)} == {"security"}
