"""Virtual clusters have an operator, a team, an API server, a disk, and room that no quota promises."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from make import CLUSTER, make_cluster, make_source
from trainyard.judge.preflight.cluster import conflicts, overcommit, virtual_clusters

VIRTUAL, ROOM, STATE = "spec/virtual-cluster", "spec/virtual-cluster-room", "spec/virtual-cluster-storage"
LAB = {"team": "nlp", "pool": "gpu", "cpus": 16, "memory": "64Gi", "storage": "local"}
OPERATORS = {**CLUSTER["operators"], "vcluster": {"version": "0.36.1"}}
FIELD = "virtualClusters.lab"


def quota(gpus: int | None, *teams: str) -> dict[str, Any]:
    """Return the cluster's one queue with so many of the pool's 32 GPUs, or with none of the pool."""
    of_pool = {"gpu": {"gpus": gpus}} if gpus else {"cpu": {"nodes": 1}}
    return {"queues": {"research": {"teams": ["nlp", *teams], "nominalQuota": of_pool}}}


def values(**more: Any) -> dict[str, Any]:
    """Return the cluster's operators, with values of the chart."""
    return {"operators": {**OPERATORS, "vcluster": {"version": "0.36.1", "values": more}}}


FREE = quota(24)
EXPORTS = {"books": {"team": "nlp", "size": "1Ti", "handle": "x"}}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[tuple[str, str]]]] = {
    "without GPUs": ({}, FREE, []),
    "with GPUs that quotas leave": ({"gpus": 8}, FREE, []),
    "an older API server": ({"kubernetes": "1.34"}, FREE, []),
    "a registry of one's own": (
        {},
        {**FREE, **values(controlPlane={"advanced": {"defaultImageRegistry": "registry.example.com"}})},
        [],
    ),
    "no operator": ({}, {**FREE, "operators": CLUSTER["operators"]}, [(VIRTUAL, "virtualClusters")]),
    "a slip in the team": ({"team": "nlq"}, FREE, [(VIRTUAL, f"{FIELD}.team")]),
    "a team of its namespace": ({}, quota(24, "vc-lab"), [(VIRTUAL, FIELD)]),
    "an API server without an image": ({"kubernetes": "1.33"}, FREE, [(VIRTUAL, f"{FIELD}.kubernetes")]),
    "a slip in the pool": ({"pool": "gpus"}, FREE, [(VIRTUAL, f"{FIELD}.pool")]),
    "GPUs of a pool without": (
        {"pool": "cpu", "gpus": 1, "cpus": 8, "memory": "16Gi"},
        FREE,
        [(ROOM, f"{FIELD}.gpus")],
    ),
    "less memory than a control plane": ({"memory": "2Gi"}, FREE, [(ROOM, f"{FIELD}.memory")]),
    "no pod beside its own": ({"pods": 2}, FREE, [(ROOM, f"{FIELD}.pods")]),
    "no volume for its state": ({"size": "0"}, FREE, [(STATE, f"{FIELD}.size")]),
    "a slip in the class": ({"storage": "locl"}, FREE, [(STATE, f"{FIELD}.storage")]),
    "a file system of many nodes": ({"storage": "shared"}, FREE, [(STATE, f"{FIELD}.storage")]),
    "more than a pool without quota": ({"gpus": 33}, quota(None), [(ROOM, f"{FIELD}.pool")]),
    "GPUs that quotas promise": ({"gpus": 9}, FREE, [("kq-overcommit", "queues.research.nominalQuota.gpu")]),
    "CPUs that quotas promise": ({}, quota(32), [("kq-overcommit", "queues.research.nominalQuota.gpu")]),
    "a value that widens what a team can do": (
        {},
        {**FREE, **values(sync={"toHost": {"priorityClasses": {"enabled": True}}})},
        [("values/conflict", "operators.vcluster.values.sync.toHost.priorityClasses.enabled")],
    ),
}


@pytest.mark.parametrize(("entry", "more", "found"), CASES.values(), ids=CASES)
def test_a_virtual_cluster_has_what_it_needs(entry, more, found):
    """What is missing is reported at its field, and quotas that promise its share at the quota."""
    written = {**CLUSTER, "operators": OPERATORS, **more, "virtualClusters": {"lab": {**LAB, **entry}}}
    cluster, source = make_cluster(**written), make_source("platform/clusters/test.yaml", written)
    every = [check for one in (virtual_clusters, overcommit, conflicts) for check in one.check(cluster, source)]
    assert [(item.rule, item.path) for item in every] == found


def test_an_operator_without_virtual_clusters_does_nothing():
    """It has no pods of its own."""
    written = {**CLUSTER, "operators": OPERATORS}
    found = virtual_clusters.check(make_cluster(**written), make_source("platform/clusters/test.yaml", written))
    assert [(item.rule, item.path) for item in found] == [(VIRTUAL, "operators.vcluster")]


def test_the_arithmetic_is_in_the_message():
    """The share of the virtual cluster is said with what the queues need."""
    written = {**CLUSTER, "operators": OPERATORS, **quota(32), "virtualClusters": {"lab": {**LAB, "gpus": 8}}}
    (found,) = overcommit.check(make_cluster(**written), make_source("platform/clusters/test.yaml", written))
    assert (
        found.message
        == "quota is 32 GPUs of pool 'gpu', which has 24 GPUs beside 1 of its nodes for virtual cluster 'lab'; lower it"
    )


@pytest.mark.parametrize("name", ["Lab", "2lab", "a" * 31])
def test_it_has_a_name_that_its_objects_can_have(name):
    """A Helm release and a namespace are named after it."""
    with pytest.raises(ValidationError):
        make_cluster(virtual_clusters={name: LAB})
