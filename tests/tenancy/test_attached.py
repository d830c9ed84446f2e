"""What attaches pods to a fabric goes with what quota counts, to teams that may be on it; check and policies agree."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from make import make_cluster, make_repository, make_team
from shipped import agreed
from tenants import FABRICS, everything, on_fabric, rendered, with_daemon
from trainyard.labels import NETWORKS, POOL
from trainyard.tenancy import Allowance
from trainyard.tenancy.allowance import of
from tries import SIDE

GPUS = "nvidia.com/gpu"
ROCE = {"type": "roce", "rails": 8, "attach": "sriov", "addresses": "10.56.0.0/16", "pools": ["gpu"]}
OPERATORS = {"sriov-network-operator": {"version": "1.6.0"}, "multus": {"version": "4.3.0"}}
VOID = {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}


def may(fabric: str, level: str) -> Allowance:
    """Return what a team at a Pod Security level may use on a cluster with a fabric of Google's."""
    cluster, _, _ = with_daemon(fabric)
    team = make_team(secrets=["tokens"], podSecurity=level)
    return allowing_all(of(make_repository(), "test", cluster, "nlp", team))


def allowing_all(allowed: Allowance) -> Allowance:
    """Return the same with all kinds that there are."""
    return replace(allowed, kinds=everything().kinds)


def body(value: dict[str, Any]) -> dict[str, Any]:
    """Return the template of a JobSet's pods."""
    found_: dict[str, Any] = value["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    return found_


def giving(values: list[dict[str, Any]], resource: str, *counts: int) -> list[dict[str, Any]]:
    """Return a run of which each container has so many of a resource: the first is the trainer."""
    made = deepcopy(values)
    containers = body(made[-1])["spec"]["containers"]
    containers += [deepcopy({**SIDE, "name": f"side-{index}"}) for index in range(1, len(counts))]
    for container, count in zip(containers, counts, strict=False):
        for said in container["resources"].values():
            said.pop(resource, None)
            said |= {resource: count} if count else {}
        container["env"] = [*container.get("env", []), VOID] if resource == GPUS else container.get("env", [])
    return made


def noting(values: list[dict[str, Any]], notes: dict[str, str]) -> list[dict[str, Any]]:
    """Return a run whose pods have annotations more."""
    made = deepcopy(values)
    body(made[-1])["metadata"].setdefault("annotations", {}).update(notes)
    return made


def notes_of(fabric: str) -> dict[str, str]:
    """Return the annotations by which pods are on a fabric of Google's."""
    pairs = may(fabric, "privileged").lists["pairs"]
    return {key: text for key, _, text in (each.partition("=") for each in pairs)}


SHARES = {"none": (0,), "half a node": (4,), "a whole node": (8,), "a whole node in two": (4, 4), "seven": (4, 3)}


@pytest.mark.parametrize("fabric", FABRICS)
def test_a_fabric_of_whole_nodes_goes_with_all_gpus_of_one(fabric: str) -> None:
    """Its interfaces and devices are in no quota, so they go with the GPUs; to teams that may be on it alone."""
    plain = on_fabric(fabric, fabric="tcp")
    for level, (_, counts) in product(("restricted", "baseline", "privileged"), SHARES.items()):
        values = giving(plain, GPUS, *counts)
        assert not agreed(values, may(fabric, level))
        for key, text in notes_of(fabric).items():
            wanted = level != "privileged" or sum(counts) != 8
            assert agreed(noting(values, {key: text}), may(fabric, level)) == wanted, (level, counts, key)


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("level", ["restricted", "baseline", "privileged"])
def test_nobody_is_called_as_a_fabrics_container(fabric: str, level: str) -> None:
    """Its name is kept at every level: Google's injector knows the container by it alone."""
    allowed = may(fabric, level)
    (name,) = allowed.lists["daemons"]
    merge = {"spec": {"containers": [{**SIDE, "name": name}]}}
    assert agreed(on_fabric(fabric, merge, fabric="tcp"), allowed)


@pytest.mark.parametrize("fabric", FABRICS)
def test_what_a_team_may_not_have_is_in_none_of_its_lists(fabric: str) -> None:
    """Policies read annotations of its namespace, which have no device of the fabric then."""
    text = " ".join(may(fabric, "restricted").annotations().values())
    assert "/dev/" not in text
    assert "networking.gke.io" not in text
    assert "registry.example.com/mirror" not in text


def test_the_nodes_network_goes_with_all_gpus_of_a_node() -> None:
    """Where pods share it, all NICs of the node are theirs."""
    fabric = {"type": "roce", "rails": 8, "attach": "host", "pools": ["gpu"]}
    cluster = make_cluster(topology=None, fabric=fabric)
    team = make_team(podSecurity="privileged")
    allowed = allowing_all(of(make_repository(), "test", cluster, "nlp", team))
    values = rendered("JobSet", cluster=cluster, team=team, gpusPerNode=8, fabric="rdma")
    assert body(values[-1])["spec"]["hostNetwork"]
    assert not agreed(values, allowed)
    assert agreed(giving(values, GPUS, 4), allowed)
    assert agreed(giving(values, GPUS, 0), allowed)


def on_rails(**job: Any) -> tuple[list[dict[str, Any]], Allowance]:
    """Return a run on rails of virtual functions, and what its team may use."""
    operators = {"kueue": {"version": "0.19.2"}, "jobset": {"version": "0.12.0"}, **OPERATORS}
    cluster = make_cluster(topology=None, fabric=ROCE, operators=operators)
    allowed = allowing_all(of(make_repository(), "test", cluster, "nlp", make_team()))
    return rendered("JobSet", cluster=cluster, gpusPerNode=8, **{"fabric": "rdma", **job}), allowed


RAIL = "openshift.io/rail_0"
NAMED = {
    "as many as it requests": ("rail-0", (1,), False),
    "none of its devices": ("rail-0", (0,), True),
    "one device for two": ("rail-0,rail-0", (1,), True),
    "two devices for two": ("rail-0,rail-0", (2,), False),
    "devices of two containers": ("rail-0,rail-0", (1, 1), False),
    "a network of another namespace": ("ads/rail-0", (1,), True),
    "devices without a network": ("", (1,), True),
}


@pytest.mark.parametrize("case", NAMED)
def test_a_network_goes_with_its_device(case: str) -> None:
    """An injector adds devices for networks when the pod is made, which Kueue has not counted then."""
    named, counts, wanted = NAMED[case]
    values, allowed = on_rails(fabric="tcp")
    assert agreed(noting(giving(values, RAIL, *counts), {NETWORKS: named}), allowed) == wanted


def test_runs_on_rails_pass() -> None:
    """As they are rendered."""
    values, allowed = on_rails()
    assert NETWORKS in body(values[-1])["metadata"]["annotations"]
    assert not agreed(values, allowed)


def trainjob(own: bool, notes: dict[str, str], limits: dict[str, Any], job: str = "node") -> list[dict[str, Any]]:
    """Return a TrainJob that patches annotations into the pods of a runtime, its own or the platform's."""
    value = rendered("TrainJob")[0]
    pod = {"metadata": {"annotations": notes}, "spec": {"nodeSelector": {POOL: "cpu"}}}
    jobs = [{"name": job, "template": {"spec": {"template": pod}}}]
    patch = {"manager": "example.com/x", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}}}
    value["spec"]["runtimePatches"] = [patch]
    base = {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi", **limits}
    if not own:
        value["spec"]["runtimeRef"] = {"kind": "ClusterTrainingRuntime", "name": "torch"}
        value["spec"]["trainer"]["resourcesPerNode"] = {"limits": base, "requests": base}
    return [value]


def test_a_train_job_attaches_what_it_requests_itself() -> None:
    """The pods of the platform's runtime have the resources that it says; those of its own say all themselves."""
    allowed = may("gpudirect-tcpxo", "privileged")
    allowed = replace(allowed, lists={**allowed.lists, "runtimes": ("ClusterTrainingRuntime/torch",)})
    notes = notes_of("gpudirect-tcpxo")
    assert not agreed(trainjob(False, {}, {}), allowed)
    assert not agreed(trainjob(False, notes, {GPUS: 8}), allowed)
    assert agreed(trainjob(False, notes, {GPUS: 4}), allowed)
    assert agreed(trainjob(False, notes, {}), allowed)
    assert agreed(trainjob(False, notes, {GPUS: 8}, job="launcher"), allowed)
    assert agreed(trainjob(True, notes, {}), allowed)


def test_a_train_job_names_the_networks_of_its_devices() -> None:
    """As pods do."""
    _, allowed = on_rails()
    allowed = replace(allowed, lists={**allowed.lists, "runtimes": ("ClusterTrainingRuntime/torch",)})
    for named, count, wanted in (("rail-0", 1, False), ("rail-0", 0, True), ("rail-0,rail-0", 1, True)):
        limits = {RAIL: count} if count else {}
        assert agreed(trainjob(False, {NETWORKS: named}, limits), allowed) == wanted
    assert agreed(trainjob(True, {NETWORKS: "rail-0"}, {}), allowed)
