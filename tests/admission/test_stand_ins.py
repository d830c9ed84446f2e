"""A scheduler of a release that was never compared is named beside the verdicts."""

from __future__ import annotations

import pytest

from make import CLUSTER, make_cluster
from trainyard.judge.admission import decided
from trainyard.judge.admission.decided import deciders, stand_ins
from trainyard.upstream.scheduler import releases


def operators(version: str) -> dict:
    """Return the operators of a cluster with a release of Kueue."""
    unlisted = {} if version in {"0.19.2", "0.18.6"} else {"unlisted": {"like": "0.19.2", "reason": "read its notes"}}
    return {**CLUSTER["operators"], "kueue": {"version": version, **unlisted}}


SAID = {
    "0.19.2": [],
    "0.18.6": [],
    "v0.19.2": [],
    "0.20.0": ["Kueue 0.20.0 is decided as 0.19.2", "webhooks of kueue 0.20.0 are checked as those of 0.19.2"],
    "0.18.2": ["Kueue 0.18.2 is decided as 0.18.6", "webhooks of kueue 0.18.2 are checked as those of 0.18.6"],
    "0.16.2": ["webhooks of kueue 0.16.2 are checked as those of 0.18.6"],
}


@pytest.mark.parametrize(("version", "said"), SAID.items(), ids=SAID)
def test_a_release_that_was_not_compared_is_named(version, said):
    """The nearest release that was compared stands in for it."""
    assert stand_ins(make_cluster(operators=operators(version))) == said


def test_a_scheduler_without_queues_decides_nothing():
    """Nothing is said of a Kueue that has no queue."""
    found = deciders(make_cluster(operators=operators("0.20.0"), queues={}))
    assert [decider.scheduler for decider in found] == ["kube-scheduler"]


@pytest.mark.parametrize("kubernetes", ["1.34", "1.35", "1.36.1", "v1.37.2"])
def test_a_kubernetes_whose_scheduler_was_asked_is_not_named(kubernetes):
    """Of each minor one patch was asked, which stands for all."""
    assert stand_ins(make_cluster(kubernetes=kubernetes)) == []


def test_a_kubernetes_whose_scheduler_was_never_asked_is_named(monkeypatch):
    """The nearest minor that was asked stands in for its scheduler."""
    monkeypatch.setattr(releases, "MEASURED", {"1.35": "1.35.4"})
    monkeypatch.setattr(decided, "MEASURED", {"1.35": "1.35.4"})
    assert stand_ins(make_cluster(kubernetes="1.36")) == ["kube-scheduler 1.36 is decided as 1.35.4"]
