"""What attaches pods to a fabric goes with what quota counts, to teams that may be on it; check and policies agree."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from attached_runs import (
    GPUS,
    NAMED,
    RAIL,
    SHARES,
    body,
    may,
    notes_of,
    on_rails,
    with_all_kinds,
    with_counts,
    with_notes,
)
from make import make_cluster, make_repository, make_team
from shipped import agreed
from tenant_crossings import SIDE
from tenants import FABRICS, on_fabric, rendered
from trainyard.base.labels import NETWORKS, POOL
from trainyard.render.tenancy.allowance import of


@pytest.mark.parametrize("fabric", FABRICS)
def test_a_fabric_of_whole_nodes_goes_with_all_gpus_of_one(fabric: str) -> None:
    """Its interfaces and devices are in no quota, so they go with the GPUs; to teams that may be on it alone."""
    plain = on_fabric(fabric, fabric="tcp")
    for level, (_, counts) in product(("restricted", "baseline", "privileged"), SHARES.items()):
        values = with_counts(plain, GPUS, *counts)
        assert not agreed(values, may(fabric, level))
        for key, text in notes_of(fabric).items():
            wanted = level != "privileged" or sum(counts) != 8
            assert agreed(with_notes(values, {key: text}), may(fabric, level)) == wanted, (level, counts, key)


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
    allowed = with_all_kinds(of(make_repository(), "test", cluster, "nlp", team))
    values = rendered("JobSet", cluster=cluster, team=team, gpusPerNode=8, fabric="rdma")
    assert body(values[-1])["spec"]["hostNetwork"]
    assert not agreed(values, allowed)
    assert agreed(with_counts(values, GPUS, 4), allowed)
    assert agreed(with_counts(values, GPUS, 0), allowed)


@pytest.mark.parametrize("case", NAMED)
def test_a_network_goes_with_its_device(case: str) -> None:
    """An injector adds devices for networks when the pod is made, which Kueue has not counted then."""
    named, counts, wanted = NAMED[case]
    values, allowed = on_rails(fabric="tcp")
    assert agreed(with_notes(with_counts(values, RAIL, *counts), {NETWORKS: named}), allowed) == wanted


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
