"""Runs get over lost nodes as Kueue is configured, or a finding says what to change."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, make_cluster, make_run, make_source
from trainyard.judge.preflight.cluster import recovery as of_clusters
from trainyard.judge.preflight.job import recovery
from trainyard.judge.preflight.jobs import check_run
from trainyard.render.kinds import resolve

FORCED = "FailureRecoveryPolicy"


def kueue(version: str = "0.19.2", **choice: Any) -> dict[str, Any]:
    """Return operators with this choice of Kueue."""
    return {**CLUSTER["operators"], "kueue": {"version": version, **choice}}


def gates(**given: bool) -> dict[str, Any]:
    """Return a chart's values with these gates."""
    listed = [{"name": name, "enabled": on} for name, on in given.items()]
    return {"controllerManager": {"featureGates": listed}}


def own(text: str) -> dict[str, Any]:
    """Return a chart's values with a configuration of the cluster's own."""
    return {"managerConfig": {"controllerManagerConfigYaml": text}}


OFF = "values of kueue leave its gate FailureRecoveryPolicy off; add it to controllerManager.featureGates"
TWICE = "kueue has gates in controllerManager.featureGates and in its configuration; keep one of them"
DEAD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "ours": (kueue(), []),
    "gates of one's own with the one that counts": (kueue(values=gates(Other=True, **{FORCED: True})), []),
    "gates of one's own, which take ours not away": (kueue(values=gates(Other=True)), []),
    "the gate turned off": (kueue(values=gates(**{FORCED: False})), [OFF]),
    "a configuration of one's own without gates, beside which ours stands": (kueue(values=own("health: {}\n")), []),
    "one with the gate": (kueue(values=own(f"featureGates: {{{FORCED}: true}}\n")), []),
    "one with another": (kueue(values=own("featureGates: {Other: true}\n")), [OFF]),
    "gates in both places, with which Kueue does not start": (
        kueue(values={**gates(**{FORCED: True}), **own("featureGates: {Other: true}\n")}),
        [TWICE],
    ),
    "somebody else's, of which nobody knows": (
        kueue(managed=False),
        ["Trainyard does not install kueue here; have its gate FailureRecoveryPolicy turned on, then waive this"],
    ),
}


@pytest.mark.parametrize(("operators", "expected"), DEAD.values(), ids=DEAD)
def test_kueue_forces_the_pods_of_dead_nodes_out(operators, expected):
    """Its gate is on as it is installed from here, whatever gates the cluster's file adds; else somebody is told."""
    cluster = make_cluster(operators=operators)
    found = list(
        of_clusters.check(cluster, make_source("platform/clusters/test.yaml", {**CLUSTER, "operators": operators}))
    )
    assert [item.message for item in found] == expected


def test_nobody_is_told_where_nothing_is_queued():
    """Without Kueue, or without queues, there is no run that would hang."""
    source = make_source("platform/clusters/test.yaml", CLUSTER)
    bare = {"jobset": {"version": "0.12.0"}}
    assert list(of_clusters.check(make_cluster(operators=bare), source)) == []
    assert list(of_clusters.check(make_cluster(operators=kueue(managed=False), queues={}), source)) == []


SHRINKS: dict[str, tuple[dict[str, Any], str | None]] = {
    "as we configure it": ({}, "30m0s"),
    "as the cluster's file says": ({"recovery_minutes": 45}, "45m0s"),
    "for ever": ({"recovery_minutes": 0}, None),
    "somebody else's, which is said to wait for ever": (
        {"recovery_minutes": 0, "operators": kueue(managed=False)},
        None,
    ),
    "a configuration of one's own that says nothing": ({"operators": kueue(values=own("health: {}\n"))}, "30m0s"),
    "the same before Kueue waited by default": (
        {"operators": kueue("0.18.6", values=own("health: {}\n"))},
        None,
    ),
    "one with a time for the first start alone": (
        {"operators": kueue(values=own("waitForPodsReady: {timeout: 10m}\n"))},
        "10m0s",
    ),
    "one that never takes back": (
        {"operators": kueue(values=own("waitForPodsReady: {timeout: 10m, recoveryTimeout: 0s}\n"))},
        None,
    ),
    "one of the older version, switched off": (
        {"operators": kueue(values=own("waitForPodsReady: {enable: false, timeout: 10m}\n"))},
        None,
    ),
}


@pytest.mark.parametrize(("cluster", "after"), SHRINKS.values(), ids=SHRINKS)
def test_a_job_may_shrink_where_kueue_leaves_it_alone(cluster, after):
    """A Job short of pods is not ready to Kueue, which stops it after its time for recovery unless that is nil."""
    run = make_run(kind="Job", cluster=make_cluster(**cluster), nodes=4, min_nodes=2)
    found = [(item.rule, item.path, item.message) for item in check_run(run)[1]]
    told = (
        f"minNodes is 2, but Kueue of 'test' evicts jobs that lack pods for {after}; remove minNodes, or set "
        "recoveryMinutes: 0"
    )
    assert found == ([("kq-recovery-elastic", "minNodes", told)] if after else [])


def test_a_job_that_cannot_shrink_is_left_in_peace():
    """Whoever asks for all nodes at least has nothing to lose by Kueue's time for recovery."""
    assert check_run(make_run(kind="Job", nodes=4, min_nodes=4))[1] == []


COMES: dict[str, Any] = {"shape": "dgx-h100", "nodes": {"max": 4}, "scaling": {"by": "cluster-autoscaler"}}
ASKED = {**COMES, "scaling": {"provisioning": "check-capacity.autoscaling.x-k8s.io"}}
LATE = "minNodes counts only after all 4 nodes were ready within {}; lower nodes, or waive this"
FIRST: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "spot nodes": ({"shape": "dgx-h100", "nodes": 4, "spot": True}, {}, [LATE.format("30m0s")]),
    "nodes that come": (COMES, {}, [LATE.format("45m0s")]),
    "nodes that Kueue asks for, all at once": (ASKED, {}, []),
    "nodes that are there": ({"shape": "dgx-h100", "nodes": 4}, {}, []),
    "a Kueue that waits for no pods": (COMES, {"operators": kueue("0.18.6", values=own("health: {}\n"))}, []),
    "all nodes at least": (COMES, {"min_nodes": 4}, []),
}


@pytest.mark.parametrize(("pool", "changes", "expected"), FIRST.values(), ids=FIRST)
def test_all_nodes_of_an_elastic_job_must_come_at_first(pool, changes, expected):
    """Kueue evicts a Job that never had all its pods, whatever minNodes and recoveryMinutes say."""
    least = changes.get("min_nodes", 2)
    rest = {name: value for name, value in changes.items() if name != "min_nodes"}
    cluster = make_cluster(pools={**CLUSTER["pools"], "spot": pool}, queues=QUEUE, recovery_minutes=0, **rest)
    run = resolve(make_run(kind="Job", cluster=cluster, pool="spot", nodes=4, min_nodes=least))
    found = [(item.rule, item.path, item.message) for item in recovery.check_shrinks(run)]
    assert found == [("kq-start-elastic", "minNodes", message) for message in expected]


BUDGETS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "fewer than are lost": (
        {"nodes": 64, "restarts": 3, "max_hours": 720},
        ["restarts is 3, but the job may lose 8.3 nodes (64 × 0.13 per month for 720 hours); raise or remove restarts"],
    ),
    "as many": ({"nodes": 64, "restarts": 9, "max_hours": 720}, []),
    "none, which is meant so": ({"nodes": 64, "restarts": 0, "max_hours": 720}, []),
    "nobody says how long": ({"nodes": 64, "restarts": 3}, []),
    "what follows is enough": ({"nodes": 64, "max_hours": 720}, []),
}


@pytest.mark.parametrize(("job", "expected"), BUDGETS.values(), ids=BUDGETS)
def test_a_job_does_not_give_up_before_its_deadline(job, expected):
    """A number of its own is held against what a run of its size and length loses on average."""
    found = [item.message for item in check_run(make_run(**job))[1] if item.rule == "ft-maxrestarts-budget"]
    assert found == expected


SPOT: dict[str, Any] = {"nodes": 2, "max_hours": 1, "pool": "spot"}
POOLS: dict[str, Any] = {**CLUSTER["pools"], "spot": {"shape": "dgx-h100", "nodes": 4, "spot": True}}
QUEUE = {
    "research": {"teams": ["nlp"], "nominalQuota": {"spot": {"gpus": 32}, "gpu": {"gpus": 32}, "cpu": {"nodes": 4}}}
}
SPOTTED = "a drained pod fails the {} for good, and {} is on spot nodes; use another kind, such as JobSet"
LIKELY = (
    "a drained pod fails the XGBoostJob for good, and the job may lose 8.3 nodes (64 × 0.13 per month for 720 hours); "
    "use another kind, such as JobSet"
)
ENDS = "restarts is 0, but nodes of pool 'spot' are spot, and the first that is taken may end the job; remove restarts"
TAKEN = (
    "restarts is 2, but the job may lose 12 nodes (4 × 3 per month for 720 hours without maxHours); raise or remove "
    "restarts"
)
SPOT_BUDGETS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "none for a day": ({"nodes": 4, "pool": "spot", "restarts": 0, "max_hours": 24}, [ENDS]),
    "none, and nobody says how long": ({"nodes": 4, "pool": "spot", "restarts": 0}, [ENDS]),
    "none for an hour, in which few runs lose a node": ({**SPOT, "restarts": 0}, []),
    "none for a job that goes on with fewer nodes": (
        {"nodes": 4, "min_nodes": 2, "kind": "Job", "pool": "spot", "restarts": 0},
        [],
    ),
    "a few, and nobody says how long": ({"nodes": 4, "pool": "spot", "restarts": 2}, [TAKEN]),
    "a few for a day": ({"nodes": 4, "pool": "spot", "restarts": 2, "max_hours": 24}, []),
    "what follows is enough": ({"nodes": 4, "pool": "spot"}, []),
}


@pytest.mark.parametrize(("job", "expected"), SPOT_BUDGETS.values(), ids=SPOT_BUDGETS)
def test_restarts_are_enough_for_spot_nodes(job, expected):
    """On spot nodes no restarts at all, and few without a deadline, are a finding where a loss is likely."""
    run = resolve(make_run(cluster=make_cluster(pools=POOLS, queues=QUEUE), **job))
    found = [item.message for item in recovery.check(run) if item.rule == "ft-maxrestarts-budget"]
    assert found == expected


MORTALS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a kind that starts again": ({"kind": "JobSet", **SPOT}, []),
    "an XGBoostJob on spot nodes": ({"kind": "XGBoostJob", **SPOT}, [SPOTTED.format("XGBoostJob", "worker")]),
    "one on nodes that hardly go": ({"kind": "XGBoostJob", "nodes": 2, "max_hours": 24}, []),
    "one that is likely to lose a node": (
        {"kind": "XGBoostJob", "nodes": 64, "max_hours": 720},
        [LIKELY],
    ),
    "one that is not to start again anyway": ({"kind": "XGBoostJob", "restarts": 0, **SPOT}, []),
    "workers of a TFJob, which are made anew": ({"kind": "TFJob", "launcher": "tensorflow", **SPOT}, []),
    "its chief on spot nodes": (
        {"kind": "TFJob", "launcher": "tensorflow", **SPOT, "roles": {"chief": {"pool": "spot", "gpusPerNode": 8}}},
        [SPOTTED.format("TFJob", "chief")],
    ),
    "its chief elsewhere": (
        {"kind": "TFJob", "launcher": "tensorflow", **SPOT, "roles": {"chief": {"pool": "cpu"}}},
        [],
    ),
}


@pytest.mark.parametrize(("job", "expected"), MORTALS.values(), ids=MORTALS)
def test_a_run_that_a_drain_ends_is_named_where_a_drain_is_likely(job, expected):
    """A kind that fails for good with a drained pod is a finding on spot nodes, or where nodes are lost on average."""
    run = resolve(make_run(cluster=make_cluster(pools=POOLS, queues=QUEUE), **job))
    found = [(item.path, item.message) for item in recovery.check(run) if item.rule == "ft-drain-mortal"]
    assert found == [("kind", message) for message in expected]


def test_kueue_leaves_elastic_horovod_alone():
    """An MPIJob stays ready once all of it has run, so it may shrink whatever Kueue's time for recovery."""
    run = resolve(make_run(kind="MPIJob", launcher="horovod", nodes=4, min_nodes=2))
    assert run.launcher.elastic
    assert list(recovery.check(run)) == []


STRANDED = "pool 'spot' is spot, but Kueue requeues no job after a lost node; add minNodes, or waive this"
FOREVER: dict[str, tuple[int | None, dict[str, Any], list[str]]] = {
    "a fixed size": (0, {"nodes": 2}, [STRANDED]),
    "a fixed size that Kueue queues again": (30, {"nodes": 2}, []),
    "a fixed size where nobody says": (None, {"nodes": 2}, []),
    "one node": (0, {"nodes": 1}, []),
    "fewer nodes are enough": (0, {"nodes": 2, "min_nodes": 1, "kind": "Job"}, []),
    "minNodes that the kind ignores": (0, {"nodes": 2, "min_nodes": 2, "kind": "Job"}, [STRANDED]),
    "pods that do not wait for each other": (
        0,
        {"nodes": 1, "kind": "Job", "launcher": "python", "array": {"of": 4, "parallel": 4}},
        [],
    ),
    "nodes that stay": (0, {"nodes": 2, "pool": "gpu"}, []),
    "a kind of which Kueue asks no more once it ran": (0, {"nodes": 2, "kind": "MPIJob", "launcher": "mpirun"}, []),
}


@pytest.mark.parametrize(("minutes", "job", "expected"), FOREVER.values(), ids=FOREVER)
def test_a_job_that_needs_all_its_spot_nodes_is_queued_again(minutes, job, expected):
    """Without a time for recovery its other ranks wait on their nodes until they give up."""
    cluster = make_cluster(pools=POOLS, queues=QUEUE, recovery_minutes=minutes)
    run = resolve(make_run(cluster=cluster, **{"pool": "spot", **job}))
    found = [(item.rule, item.message) for item in recovery.check_stranded(run)]
    assert found == [("kq-recovery-fixed", message) for message in expected]
