"""The policies that clusters get say the same of objects as the check does, and ask nobody whom they should not."""

from __future__ import annotations

import os
from typing import Any

import pytest

from fabric_crossings import FABRIC, PATCHED
from make import make_repository
from object_crossings import LARGE, OBJECTS, RIGHT, RIGHT_WORKLOADS, SERVICE, WORKLOADS
from pod_crossings import PODS
from shipped import ARGOCD, CLUSTER, Objects, decided, refused, shipped
from tenancy_server import in_space
from tenant_crossings import SIDE
from tenants import FABRICS, TEAM, everything, found, on_fabric, rendered, target, with_daemon, with_metadata
from trainyard.render.kinds import kinds
from trainyard.render.tenancy import breaches
from trainyard.render.tenancy.allowance import of
from trainyard.render.tenancy.policies import LISTS, NAMES, binding, policies
from trainyard.upstream.apiserver.admission import policies as engine
from trainyard.upstream.apiserver.admission.policies import Request, Surroundings
from trainyard.upstream.apiserver.admission.policies.request import guess_of

KINDS = sorted(kinds())

LABEL = "trainyard.dev/team"
WHOSE: dict[str, tuple[dict[str, str], str, bool]] = {
    "the team's own run": ({LABEL: "nlp"}, "nlp", False),
    "a run that has the namespace's name": ({LABEL: "nlp"}, "ml-nlp", True),
    "a run of another team": ({LABEL: "nlp"}, "ads", True),
    "a namespace without the label": ({}, "nlp", True),
}


def test_every_expression_compiles() -> None:
    """With all of its variables, for every release that there may be."""
    for policy, _ in shipped():
        for expression in policy.expressions():
            assert not isinstance(expression.compiled, Exception), (
                f"{policy.name}: {expression.text[:200]}: {expression.compiled}"
            )


def test_every_list_is_one_of_the_allowance() -> None:
    """Policies read what the namespace says, by the same names."""
    assert set(LISTS) == set(everything().lists)
    assert {name for name, _ in policies("test", with_daemon("gpudirect-tcpx")[0])} == set(NAMES)
    assert {name for name, _ in policies("test", CLUSTER)} == set(NAMES) - {"tenant-shells"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_runs_are_admitted(kind: str) -> None:
    """What Trainyard renders passes, and so does what is within the lines."""
    assert not refused(rendered(kind))
    assert not refused(rendered(kind, *({"object": "Pod", "merge": merge} for merge in RIGHT.values())))


def test_large_runs_are_admitted() -> None:
    """Within what a server spends on the expressions of one policy."""
    assert not refused(rendered("RayJob", {"object": "Pod", "merge": LARGE}))


FIRST = {pod.number + pod.subject: case for case, pod in reversed(PODS.items())}
"""One try of each number and subject; the slow test has all of them."""


@pytest.mark.parametrize("case", sorted(FIRST.values()))
def test_policies_refuse_what_the_check_refuses(case: str) -> None:
    """A try of each sort, in the kind with the smallest objects."""
    values = rendered("Job", {"object": "Pod", "merge": PODS[case].merge})
    assert list(found(values))
    assert refused(values)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_policies_refuse_what_the_check_refuses_in_every_kind(kind: str) -> None:
    """Each try in one kind, and each kind with its share; with TRAINYARD_EVERY_TRY=1 all in all, which takes long."""
    share = slice(None) if os.environ.get("TRAINYARD_EVERY_TRY") else slice(KINDS.index(kind), None, len(KINDS))
    for case, item in list(PODS.items())[share]:
        assert refused(rendered(kind, {"object": "Pod", "merge": item.merge})), case


@pytest.mark.parametrize("case", WORKLOADS)
def test_policies_look_at_what_is_around_pods(case: str) -> None:
    """As the check does."""
    kind, merge, _ = WORKLOADS[case]
    assert refused(rendered(kind, {"object": target(kind), "merge": merge}))


@pytest.mark.parametrize("case", RIGHT_WORKLOADS)
def test_policies_let_workloads_be_within_the_lines(case: str) -> None:
    """As the check does."""
    kind, merge = RIGHT_WORKLOADS[case]
    assert not refused(rendered(kind, {"object": target(kind), "merge": merge}))


@pytest.mark.parametrize("fabric", FABRICS)
def test_policies_let_a_fabric_bring_what_it_does(fabric: str) -> None:
    """As the check does; an ordinary container is none of it, by whatever name it calls itself."""
    _, _, allowed = with_daemon(fabric)
    assert not refused(on_fabric(fabric, *RIGHT.values()), allowed=allowed)
    for name in allowed.lists["daemons"]:
        side = {"spec": {"containers": [{**SIDE, "name": name}]}}
        assert refused(on_fabric(fabric, side, fabric="tcp"), allowed=allowed)


@pytest.mark.parametrize("case", FABRIC)
def test_policies_keep_a_fabrics_container_to_what_it_is(case: str) -> None:
    """As the check does."""
    assert refused(on_fabric("gpudirect-tcpxo", FABRIC[case][0]), allowed=with_daemon("gpudirect-tcpxo")[2])


@pytest.mark.parametrize("case", PATCHED)
def test_policies_keep_train_jobs_off_a_fabrics_container(case: str) -> None:
    """As the check does."""
    cluster, team, allowed = with_daemon("gpudirect-tcpxo")
    more: dict[str, Any] = {"cluster": cluster, "team": team, "gpusPerNode": 8, "fabric": "rdma"}
    assert not refused(rendered("TrainJob", **more), allowed=allowed)
    assert refused(rendered("TrainJob", {"object": "TrainJob", "merge": PATCHED[case][0]}, **more), allowed=allowed)


@pytest.mark.parametrize("case", SERVICE)
def test_policies_leave_services_headless(case: str) -> None:
    """As the check does."""
    assert refused(rendered("Job", {"object": "Service", "merge": {"spec": SERVICE[case]}}))


@pytest.mark.parametrize("case", OBJECTS)
def test_policies_look_at_metadata(case: str) -> None:
    """As the check does, of what every run is made of but ConfigMaps, which the platform may make by hand."""
    for value in rendered("Job"):
        if value["kind"] != "ConfigMap":
            assert refused([with_metadata(value, OBJECTS[case][1])])


NOT_ASKED = {
    "the Job controller": {"username": "system:serviceaccount:kube-system:job-controller"},
    "the controller manager": {"username": "system:kube-controller-manager"},
    "an operator": {
        "username": "system:serviceaccount:jobset-system:jobset-controller",
        "groups": ["system:serviceaccounts:jobset-system"],
    },
    "an administrator": {"username": "admin", "groups": ["system:masters"]},
}
ASKED = {
    "Argo CD": ARGOCD,
    "Argo CD on another cluster": {
        "username": "system:serviceaccount:kube-system:argocd-manager",
        "groups": ["system:serviceaccounts:kube-system"],
    },
    "a person": {"username": "ann", "groups": ["nlp-research"]},
    "a pod of the team's": {"username": "system:serviceaccount:nlp:reader", "groups": ["system:serviceaccounts:nlp"]},
}


def wrong(**metadata: Any) -> Objects:
    """Return a run that crosses a line."""
    values = rendered("JobSet", {"object": "Pod", "merge": PODS["processes of the node"].merge})
    return [with_metadata(values[0], metadata)]


@pytest.mark.parametrize("who", NOT_ASKED)
def test_controllers_are_not_asked(who: str) -> None:
    """What they make is made of what was judged."""
    assert not refused(wrong(), NOT_ASKED[who])


@pytest.mark.parametrize("who", ASKED)
def test_everybody_else_is(who: str) -> None:
    """Whoever is no controller, an account in kube-system too."""
    assert refused(wrong(), ASKED[who])


def test_what_argo_cd_applies_for_the_platform_is_let_be() -> None:
    """By its mark, which anybody can write: so the cluster says whether they may change the team's namespace."""
    tracked = {"annotations": {"argocd.argoproj.io/tracking-id": "test-teams-nlp:batch/Job:nlp/x"}}
    said = list(decided(wrong(**tracked)))
    assert {item.action for item in said} == {"Unknown"}
    assert {"authorizer" in item.message for item in said} == {True}
    assert refused(wrong(**tracked), ASKED["a pod of the team's"])
    runs = {"annotations": {"argocd.argoproj.io/tracking-id": "test-runs-nlp:batch/Job:nlp/x"}}
    assert refused(wrong(**runs))


def test_tokens_are_not_made_as_secrets() -> None:
    """A long-lived token of an account is nobody's to make by a Secret."""
    head = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "tokens", "namespace": "nlp"}}
    user = ASKED["a person"]
    assert [item.policy.name for item in decided([{**head, "type": "kubernetes.io/service-account-token"}], user)] == [
        "tenant-secrets"
    ]
    assert not list(decided([{**head, "type": "Opaque"}], user))


SHOWING = ("NVIDIA_VISIBLE_DEVICES", "VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES", "NVIDIA_IMEX_CHANNELS")


@pytest.mark.parametrize("key", SHOWING)
@pytest.mark.parametrize("field", ["data", "stringData"])
def test_no_secret_has_a_key_that_shows_devices(key: str, field: str) -> None:
    """A container takes all keys of a Secret for variables, which runtimes obey."""
    head = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "tokens", "namespace": "nlp"}}
    assert refused([{**head, field: {key: "all"}}], ASKED["a person"])
    assert not refused([{**head, field: {"WANDB_API_KEY": "x", "CUDA_VISIBLE_DEVICES": "0"}}], ASKED["a person"])


def test_no_config_map_that_all_runs_read_has_such_a_key() -> None:
    """The run's own is read key by key; what the platform lists may be read whole."""
    for name, wrong_ in (("kube-root-ca.crt", True), ("train-aaaaaaaa", False)):
        value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "nlp"}}
        assert refused([{**value, "data": {"NVIDIA_VISIBLE_DEVICES": "all"}}], ASKED["a person"]) == wrong_


def test_an_update_adds_no_finalizer_and_keeps_those_of_controllers() -> None:
    """What is there at an update was added by somebody who may."""
    value = rendered("JobSet")[0]
    held = with_metadata(value, {"finalizers": ["example.com/stay"]})
    around = Surroundings(
        {"nlp": {"metadata": {"name": "nlp", "annotations": everything().annotations()}}}, complete=True
    )
    resource = guess_of(value["apiVersion"], value["kind"])
    for old, count in ((held, 0), (value, 1)):
        request = Request(resource, held, old, "UPDATE", user=ARGOCD)
        assert len(list(engine.judge(shipped(), request, around))) == count


@pytest.mark.parametrize(("labels", "team", "wrong"), WHOSE.values(), ids=WHOSE)
def test_a_label_says_whose_a_namespace_with_another_name_is(labels, team, wrong) -> None:
    """Policies compare a run's team with the label; the check of rendered objects says the same."""
    cluster = CLUSTER.with_namespaces({"nlp": "ml-nlp"})
    allowed = of(make_repository(), "test", cluster, "nlp", TEAM)
    space = {"metadata": {"name": "ml-nlp", "labels": labels, "annotations": allowed.annotations()}}
    loaded = [
        (
            engine.load({"metadata": {"name": name}, "spec": spec}, minor=35),
            (engine.load_binding({"metadata": {"name": name}, "spec": binding(name, cluster)}),),
        )
        for name, spec in policies("test", cluster)
    ]
    values = [in_space(value, "ml-nlp", team) for value in rendered("JobSet")]
    asked = [Request(guess_of(value["apiVersion"], value["kind"]), value, user=ARGOCD) for value in values]
    around = Surroundings({"ml-nlp": space}, complete=True)
    assert any(list(engine.judge(tuple(loaded), request, around)) for request in asked) == wrong
    if labels:
        assert any(list(breaches(value, allowed, run=values[0]["metadata"]["name"])) for value in values) == wrong


def test_what_kueue_patches_stays_through_an_update() -> None:
    """It names the pool of the flavor in a TrainJob; whoever applies the TrainJob again brings that along."""
    kind, merge, _ = WORKLOADS["the run's own runtime on another pool"]
    admitted = rendered(kind, {"object": target(kind), "merge": merge})[0]
    around = Surroundings(
        {"nlp": {"metadata": {"name": "nlp", "annotations": everything().annotations()}}}, complete=True
    )
    resource = guess_of(admitted["apiVersion"], admitted["kind"])
    for old, count in ((admitted, 0), (rendered(kind)[0], 1)):
        request = Request(resource, admitted, old, "UPDATE", user=ARGOCD)
        assert len(list(engine.judge(shipped(), request, around))) == count
