"""The runs on nodes that a change takes out."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.change.maintenance.outage import Outage
from trainyard.change.plan.decide.maintenance import hold, is_ended, why_stuck
from trainyard.change.plan.decide.rebuild import Asked
from trainyard.change.plan.effects import Interrupted, Maintenance, Plan
from trainyard.change.plan.read.shape import Shape
from trainyard.change.plan.words.headline import warnings
from trainyard.change.plan.words.maintenance import maintenance_lines

BUDGET = {
    "metadata": {"name": "never", "namespace": "nlp"},
    "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "train"}}},
}
SHAPE = Shape(grace=600, local=True, labels=({"app": "train"},))
OUTAGE: dict[str, Any] = {
    "what": "driver",
    "pools": ("h100",),
    "nodes": 8,
    "by": "the operator",
    "how": "evicts pods",
    "ends": "pods with GPUs",
    "at_a_time": 1,
    "seconds": 900,
    "then": "the node stays cordoned",
}

STUCK: dict[str, tuple[dict[str, Any], str, list[Any], list[str]]] = {
    "pods that leave": ({}, "nlp", [], []),
    "no time to end": (
        {"seconds": 300},
        "nlp",
        [],
        ["pods have 600 seconds to end, and the limit is 300: the node stays cordoned"],
    ),
    "an emptyDir that nobody may delete": (
        {"keeps_local": True},
        "nlp",
        [],
        ["pods have an emptyDir, and deleteEmptyDir is off: the node stays cordoned"],
    ),
    "a budget": (
        {},
        "nlp",
        [BUDGET],
        ["PodDisruptionBudget never allows no eviction: after 900 seconds the node stays cordoned"],
    ),
    "a budget that nobody overcomes": (
        {"seconds": None},
        "nlp",
        [BUDGET],
        ["PodDisruptionBudget never allows no eviction: the node waits without end"],
    ),
    "a budget of another team": ({}, "vision", [BUDGET], []),
    "a budget that a deletion does not ask": ({"budgets": False}, "nlp", [BUDGET], []),
}


@pytest.mark.parametrize(("changes", "team", "budgets", "expected"), STUCK.values(), ids=STUCK)
def test_stuck(changes: dict[str, Any], team: str, budgets: list[Any], expected: list[str]) -> None:
    """A run holds its node up where its pods may not leave, or not in time."""
    assert list(why_stuck(team, SHAPE, Outage(**{**OUTAGE, **changes}), budgets)) == expected


def test_pods_that_leave() -> None:
    """An outage ends runs on its pools that have what it takes away."""
    trains = Asked(16, "research", {"h100 or a100": {"nvidia.com/gpu": 16.0, "cpu": 8.0}})
    cores = Asked(0, "research", {"h100": {"cpu": 8.0}})
    away = Asked(16, "research", {"a100": {"nvidia.com/gpu": 16.0}})
    ended = {
        ends: [is_ended(Outage(**{**OUTAGE, "ends": ends}), one) for one in (trains, cores, away)]
        for ends in ("pods with GPUs", "all pods", "pods with virtual functions", "no pods")
    }
    assert ended == {
        "pods with GPUs": [True, False, False],
        "all pods": [True, True, False],
        "pods with virtual functions": [False, False, False],
        "no pods": [False, False, False],
    }


def run(name: str, hours: float | None, *stuck: str) -> Interrupted:
    """Return a run that repeats eight GPU-hours."""
    return Interrupted("nlp", name, 16, "it resumes", "some", 8.0, hours, stuck)


def test_waiting() -> None:
    """Queues are held for as long as the longest run lasts; one without a deadline cannot be waited for."""
    assert hold([], []) == ""
    found = hold([run("a", 4), run("b", 72)], ["one", "two"])
    assert found == "stop queues one, two (stopPolicy: Hold) 72 hours before, and no run is interrupted"
    endless = hold([run("a", 4), run("b", None), run("c", None)], ["one"])
    assert endless == "2 runs without a deadline cannot be waited for: nlp/b and 1 more"


def test_words() -> None:
    """A reviewer reads who takes nodes out, how often runs end, and once for each reason which of them stay."""
    runs = (run("a", 4, "pods stay"), run("b", 4, "pods stay"))
    one = Maintenance("test", ("h100",), 8, "a driver", "a program", "drains", 1, 8, "soon", runs, "wait")
    plan = Plan(None, live=True, maintenance=(one,))
    assert list(maintenance_lines(plan, "test")) == [
        "8 nodes of pool h100: a driver",
        "  who: a program drains, 1 node at a time",
        "  when: soon",
        "  ends: 2 runs (32 GPUs), each 1 to 8 times; once costs at most 16 GPU-hours",
        "    nlp/a: it resumes",
        "    nlp/b: it resumes",
        "  ! nlp/a, nlp/b: pods stay",
        "  without: wait",
    ]
    assert list(maintenance_lines(plan, "other")) == []
    assert list(warnings(plan)) == ["nodes stay cordoned, as pods do not leave them: nlp/a, nlp/b"]
