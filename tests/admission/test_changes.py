"""What a change does to Kueue's decisions about the runs that it starts, and about all others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from make import CLUSTER, JOB, TEAM, fields, write_repository
from trainyard.judge.admission.asks import asks
from trainyard.judge.admission.changes import Side, decide_change
from trainyard.judge.admission.empty_nodes import Outlook, alike
from trainyard.judge.admission.job_workloads import Bid
from trainyard.judge.admission.site import site
from trainyard.judge.preflight import check_repository

QUEUE = CLUSTER["queues"]["research"]
ONE_NODE = {"queues": {"research": {**QUEUE, "nominalQuota": {"gpu": {"gpus": 8}, "cpu": {"nodes": 4}}}}}
PREEMPTS = {"queues": {"research": {**QUEUE, "preemption": {"withinClusterQueue": "LowerPriority"}}}}
GPUS = {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 16}}, "cohort": "all"}
LENDS = {"queues": {"research": GPUS, "other": GPUS}}
THREE, TWO, ONE = {"nodes": 3}, {"nodes": 2}, {"nodes": 1}

CASES = {
    "a run that is there keeps its quota, and the new one waits behind it": (
        ({}, {"z": THREE}),
        ({}, {"z": THREE, "a": TWO}),
        {"a": (None, "waits for", "8 nvidia.com/gpu of flavor gpu in queue research, used by nlp/z")},
    ),
    "a new run goes behind those that wait": (
        ({}, {"y": THREE, "z": TWO}),
        ({}, {"y": THREE, "z": TWO, "a": TWO}),
        {"a": (None, "waits for", "nlp/z, which is first in queue research")},
    ),
    "a new run of a higher priority preempts": (
        (PREEMPTS, {"z": THREE}),
        (PREEMPTS, {"z": THREE, "a": {**TWO, "priority": "high"}}),
        {"a": (None, "fits after preempting", "nlp/z; 2 pods in flavor gpu")},
    ),
    "a new run borrows": (
        (LENDS, {}),
        (LENDS, {"a": THREE}),
        {
            "a": (
                None,
                "fits by borrowing",
                "queue research borrows 8 nvidia.com/gpu of flavor gpu with cpu and memory from other",
            )
        },
    ),
    "where one ends another begins": (
        ({}, {"a": THREE, "b": TWO}),
        ({}, {"b": TWO}),
        {"b": ("waits for", "fits", "2 pods in flavor gpu")},
    ),
    "a quota below a run": (
        ({}, {"a": TWO, "b": ONE}),
        (ONE_NODE, {"a": TWO, "b": ONE}),
        {"a": ("fits", "never fits", "needs 16 nvidia.com/gpu of flavor gpu, but its queue can get at most 8")},
    ),
    "a quota above a run": (
        (ONE_NODE, {"a": TWO}),
        ({}, {"a": TWO}),
        {"a": ("never fits", "fits", "2 pods in flavor gpu")},
    ),
    "a queue that is held": (
        ({}, {"a": TWO}),
        ({"queues": {"research": {**QUEUE, "stopPolicy": "Hold"}}}, {"a": TWO}),
        {"a": ("fits", "waits for", "queue research, which is stopped")},
    ),
    "nodes that go": (
        ({}, {"a": TWO, "b": ONE}),
        (
            {"pools": {**CLUSTER["pools"], "gpu": {**CLUSTER["pools"]["gpu"], "nodes": 1, "racks": 1}}},
            {"a": TWO, "b": ONE},
        ),
        {"a": ("fits", "never fits", "topology")},
    ),
    "a run that is made anew": (
        ({}, {"a": THREE, "b": ONE}),
        ({}, {"a": {**THREE, "maxHours": 7}, "b": ONE}),
        {"a": (None, "fits", "3 pods in flavor gpu")},
    ),
    "nothing that matters": (
        ({}, {"a": TWO}),
        (
            {"queues": {**CLUSTER["queues"], "new": {"teams": ["nlp"], "nominalQuota": {"cpu": {"nodes": 1}}}}},
            {"a": TWO},
        ),
        {},
    ),
}


def side(folder, cluster, jobs, team=None):
    """What Kueue knows of a repository, and the runs there by job."""
    values = {f"nlp/{name}": fields(JOB, job) for name, job in jobs.items()}
    root = write_repository(
        folder, jobs=values, teams={"nlp": fields(TEAM, team or {})}, clusters={"test": fields(CLUSTER, cluster)}
    )
    there = check_repository(root)
    where = site(there.specs, "test")
    found = list(asks(there, {"test": where}, ["test"]))
    assert all(item.run for item in found), there.findings
    bids = [Bid(item.name, item.workloads, item.owners, item.beside, item.why) for item in found]
    return Side(where, bids), {item.name: item.run.run.name for item in found}


def turns(tmp_path, before, after):
    """What is decided between two repositories."""
    old, runs = side(tmp_path / "before", *before)
    new, now = side(tmp_path / "after", *after)
    begun = {name for name, run in now.items() if runs.get(name) != run}
    return decide_change(old, new, begun, lambda where, case: where.answered(case))


@pytest.mark.parametrize(("before", "after", "expected"), CASES.values(), ids=CASES)
def test_what_a_change_comes_to(tmp_path, before, after, expected):
    """What is told is of the runs that begin, and of those whose verdict turns."""
    found = {turn.name.removeprefix("nlp/"): turn for turn in turns(tmp_path, before, after).turns}
    assert found.keys() == expected.keys(), found
    for name, (was, word, detail) in expected.items():
        assert (found[name].before, found[name].after) == (was, word), found[name]
        assert detail in found[name].detail


def test_who_is_preempted_is_told_once(tmp_path):
    """At the run that does it; what becomes of everybody is there all the same."""
    found = turns(tmp_path, (PREEMPTS, {"z": THREE}), (PREEMPTS, {"z": THREE, "a": {**TWO, "priority": "high"}}))
    assert [(turn.name, turn.victims) for turn in found.turns] == [("nlp/a", ("nlp/z",))]
    assert found.words == {"nlp/a": "fits after preempting", "nlp/z": "waits for"}


def test_what_a_team_may_do_makes_nobody_queue_again(tmp_path):
    """A new run preempts one that is there, though the team's file lists a secret more: Kueue reads none of that."""
    old, _ = side(tmp_path / "before", PREEMPTS, {"z": THREE})
    new, _ = side(
        tmp_path / "after", PREEMPTS, {"z": THREE, "a": {**TWO, "priority": "high"}}, {"secrets": ["tokens", "other"]}
    )
    assert list(old.where.of("Namespace").values()) != list(new.where.of("Namespace").values())
    (turn,) = decide_change(old, new, {"nlp/a"}, lambda where, case: where.answered(case)).turns
    assert (turn.name, turn.after, turn.victims) == ("nlp/a", "fits after preempting", ("nlp/z",))


WHO = {"where it has quota": ({}, "machines"), "where it has none": (ONE_NODE, "kueue")}


@pytest.mark.parametrize(("after", "by"), WHO.values(), ids=WHO)
def test_a_job_whose_pods_have_no_node_never_fits(tmp_path, after, by):
    """Machines are asked about what Kueue admits, on the side where they are; what has no quota is Kueue's to tell."""
    (old, _), (new, _) = side(tmp_path / "before", {}, {"a": TWO}), side(tmp_path / "after", after, {"a": TWO})
    new = replace(new, look=lambda bid: Outlook(f"no node for {bid.name}"))
    found = decide_change(old, new, set(), lambda where, case: where.answered(case))
    (turn,) = found.turns
    assert (turn.before, turn.after, turn.by) == ("fits", "never fits", by)
    assert ("no node for nlp/a" in turn.detail) == (by == "machines")
    (back,) = decide_change(new, old, set(), lambda where, case: where.answered(case)).turns
    assert (back.before, back.after) == ("never fits", "fits")


MAY = {"where it has quota": ({}, "may fit"), "where it has none": (ONE_NODE, "never fits")}


@pytest.mark.parametrize(("after", "word"), MAY.values(), ids=MAY)
def test_a_job_that_finds_nodes_in_some_orders_may_fit(tmp_path, after, word):
    """That is a turn, back and forth; one without quota never fits, whatever nodes there are."""
    (old, _), (new, _) = side(tmp_path / "before", {}, {"a": TWO}), side(tmp_path / "after", after, {"a": TWO})
    new = replace(new, look=lambda bid: Outlook(perhaps=f"a node for {bid.name}"))
    (turn,) = decide_change(old, new, set(), lambda where, case: where.answered(case)).turns
    assert (turn.before, turn.after) == ("fits", word)
    assert ("it waits for a node for nlp/a" in turn.detail) == bool(turn.perhaps) == (word == "may fit")
    (back,) = decide_change(new, old, set(), lambda where, case: where.answered(case)).turns
    assert (back.before, back.after, back.perhaps) == (word, "fits", "")


def test_jobs_are_alike_to_machines_whatever_they_are_called(tmp_path):
    """The same pods are asked about once; others are not the same."""
    jobs = {"a": TWO, "b": TWO, "c": {**TWO, "cpusPerNode": 3}}
    a, b, c = map(alike, side(tmp_path, {}, jobs)[0].bids)
    assert a == b != c


def test_a_cluster_that_was_not_there(tmp_path):
    """All its runs begin."""
    new, runs = side(tmp_path / "after", {}, {"a": THREE, "b": TWO})
    found = decide_change(None, new, runs, lambda where, case: where.answered(case))
    assert [(turn.name, turn.before, turn.after) for turn in found.turns] == [
        ("nlp/a", None, "fits"),
        ("nlp/b", None, "waits for"),
    ]


def test_what_nobody_makes_workloads_of_is_not_judged(tmp_path):
    """The reason is told."""
    new, runs = side(tmp_path / "after", {}, {"a": ONE})
    alone = Side(new.where, [replace(new.bids[0], workloads=(), why="somebody else's")])
    (turn,) = decide_change(new, alone, runs, lambda where, case: where.answered(case)).turns
    assert (turn.after, turn.detail) == ("not judged", "somebody else's")


def test_what_kueue_does_not_survive_is_not_judged(tmp_path):
    """The answer's error is told."""
    new, runs = side(tmp_path / "after", {}, {"a": ONE})
    (turn,) = decide_change(None, new, runs, lambda *_: {"error": "it crashes"}).turns
    assert (turn.after, turn.detail) == ("not judged", "Kueue crashes: it crashes")
