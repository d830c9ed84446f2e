"""Runs get over lost nodes as Kueue is configured, or a finding says what to change."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, make_cluster, make_run, make_source
from trainyard.preflight import recovery
from trainyard.preflight.jobs import check_run

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


OFF = "kueue's own values leave its gate FailureRecoveryPolicy off; add it to controllerManager.featureGates"
TWICE = "kueue has gates in controllerManager.featureGates and in its configuration; write them in one of them"
DEAD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "ours": (kueue(), []),
    "gates of one's own with the one that counts": (kueue(values=gates(Other=True, **{FORCED: True})), []),
    "gates of one's own without it": (kueue(values=gates(Other=True)), [OFF]),
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
        ["kueue is installed by somebody else; have its gate FailureRecoveryPolicy turned on, and waive this"],
    ),
}


@pytest.mark.parametrize(("operators", "expected"), DEAD.values(), ids=DEAD)
def test_kueue_forces_the_pods_of_dead_nodes_out(operators, expected):
    """Its gate is on as it is installed from here, whatever gates the cluster's file adds; else somebody is told."""
    cluster = make_cluster(operators=operators)
    found = list(
        recovery.check(cluster, make_source("platform/clusters/test.yaml", {**CLUSTER, "operators": operators}))
    )
    assert [each.message for each in found] == expected


def test_nobody_is_told_where_nothing_is_queued():
    """Without Kueue, or without queues, there is no run that would hang."""
    source = make_source("platform/clusters/test.yaml", CLUSTER)
    bare = {"jobset": {"version": "0.12.0"}}
    assert list(recovery.check(make_cluster(operators=bare), source)) == []
    assert list(recovery.check(make_cluster(operators=kueue(managed=False), queues={}), source)) == []


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
    found = [(each.rule, each.path, each.message) for each in check_run(run)[1]]
    told = f"minNodes is 2, but Kueue of cluster 'test' stops what lacks pods for {after}; set recoveryMinutes: 0 there"
    assert found == ([("kq-recovery-elastic", "minNodes", told)] if after else [])


def test_a_job_that_cannot_shrink_is_left_in_peace():
    """Whoever asks for all nodes at least has nothing to lose by Kueue's time for recovery."""
    assert check_run(make_run(kind="Job", nodes=4, min_nodes=4))[1] == []


BUDGETS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "fewer than are lost": (
        {"nodes": 64, "restarts": 3, "max_hours": 720},
        ["restarts is 3, but 64 × 0.13 a month for 720 hours are 8.3 nodes lost; remove or raise it"],
    ),
    "as many": ({"nodes": 64, "restarts": 9, "max_hours": 720}, []),
    "none, which is meant so": ({"nodes": 64, "restarts": 0, "max_hours": 720}, []),
    "nobody says how long": ({"nodes": 64, "restarts": 3}, []),
    "what follows is enough": ({"nodes": 64, "max_hours": 720}, []),
}


@pytest.mark.parametrize(("job", "expected"), BUDGETS.values(), ids=BUDGETS)
def test_a_job_does_not_give_up_before_its_deadline(job, expected):
    """A number of its own is held against what a run of its size and length loses on average."""
    found = [each.message for each in check_run(make_run(**job))[1] if each.rule == "ft-maxrestarts-budget"]
    assert found == expected
