"""Which steps between a fault and a node's return programs take, and which a person does, follows from the cluster."""

from __future__ import annotations

import pytest

from make import CLUSTER, IMAGE, make_cluster, make_specs
from trainyard.render.operators.install import installed_operators
from trainyard.render.prerequisites.faults import steps
from trainyard.render.prerequisites.page import page

DETECTOR = {"node-problem-detector": {"version": "1.36.0"}}
BOTH = {**DETECTOR, "node-readiness-controller": {"version": "0.5.0"}}
THEIRS = {**DETECTOR, "node-readiness-controller": {"version": "0.5.0", "managed": False}}
OFF = {"controllerManager": {"featureGates": [{"name": "TASFailedNodeReplacement", "enabled": False}]}}
KUEUE_OFF = {**BOTH, "kueue": {"version": "0.19.2", "values": OFF}}
TAINT, MOVE, BACK = "taint", "gets another node", "takes runs again"

CASES = {
    "all of it": ({}, BOTH, {TAINT: "node-readiness-controller", MOVE: "Kueue", BACK: "node-readiness-controller"}),
    "nobody taints": ({}, DETECTOR, {TAINT: "a person", MOVE: "Kueue", BACK: "a person"}),
    "a controller of others has no rules of ours": ({}, THEIRS, {TAINT: "a person", BACK: "a person"}),
    "no topology": ({"topology": []}, BOTH, {MOVE: "the scheduler"}),
    "a gate is off": ({}, KUEUE_OFF, {MOVE: "a person"}),
}


def made(changes, operators):
    """Return a cluster with health and these operators beside its own."""
    return make_cluster(health={}, operators={**CLUSTER["operators"], **operators}, **changes)


@pytest.mark.parametrize(("changes", "operators", "expected"), CASES.values(), ids=CASES)
def test_who_takes_a_step(changes, operators, expected):
    """A step is a program's only where the cluster has the program and nothing turns it off."""
    found = steps(made(changes, operators))
    who = {
        word: {step.who for step in found if word in step.what and "does not answer" not in step.what}
        for word in expected
    }
    assert who == {word: {name} for word, name in expected.items()}


def test_spares_are_said():
    """Whether a free node is kept for a run that lost one stands at the step."""
    spare = made({"pools": {"gpu": {"shape": "dgx-h100", "nodes": 4, "spares": 1}}}, BOTH)
    assert [step.how for step in steps(spare) if MOVE in step.what] == [
        "when its pods there have ended; quotas leave 1 of 4 nodes free"
    ]
    assert any("quotas leave no node free" in step.how for step in steps(made({}, BOTH)))


def test_pods_end_at_once_where_the_file_says_so():
    """With NoExecute nobody needs to drain the node."""
    cluster = make_cluster(health={"effect": "NoExecute"}, operators={**CLUSTER["operators"], **BOTH})
    assert not any("drain" in step.how for step in steps(cluster))


def test_the_page_has_the_steps_only_with_health():
    """A cluster whose file says nothing of health promises nothing."""
    heading = "## When a node has a fault"
    assert heading in page(make_specs(clusters={"test": made({}, BOTH)}), "test")
    assert heading not in page(make_specs(clusters={"test": make_cluster()}), "test")


MARKED, PLAIN = {"markerImage": IMAGE}, {}
TESTED = "a node that failed the test gets no runs"


@pytest.mark.parametrize(
    ("said", "operators", "who"),
    [(PLAIN, BOTH, "a person"), (MARKED, BOTH, "node-readiness-controller"), (MARKED, DETECTOR, "a person")],
    ids=["no marker", "all of it", "nobody taints"],
)
def test_who_keeps_runs_from_a_node_that_failed(said, operators, who):
    """Only a marker and a controller together take a failed node away; each mark has a rule for its taint."""
    queues = {"research": {**CLUSTER["queues"]["research"], "cohort": "all"}}
    tested = make_cluster(
        health={"burnIn": {"image": IMAGE, "cohort": "all", **said}},
        queues=queues,
        operators={**CLUSTER["operators"], **operators},
    )
    assert [step.who for step in steps(tested) if step.what == TESTED] == [who]
    assert any(step.who == "burn-in-marker" for step in steps(tested)) == bool(said)
    rules = [
        one.name for site, known in installed_operators(tested) for one in known.own(site) if "rule" in one.kind.lower()
    ]
    assert ("burninfailed-gpu" in rules) == (who == "node-readiness-controller")


def test_kinds_whose_pods_stay_are_said():
    """Of a kind that restarts containers in place, the step says that ranks start on the faulty node again."""
    trained = make_cluster(
        health={}, operators={**CLUSTER["operators"], **BOTH, "training-operator": {"version": "1.9.4"}}
    )
    said = {
        names: step.how
        for names, one in {"with": trained, "without": made({}, BOTH)}.items()
        for step in steps(one)
        if "running pods" in step.what
    }
    assert "PyTorchJob" in said["with"]
    assert "start ranks" not in said["without"]
