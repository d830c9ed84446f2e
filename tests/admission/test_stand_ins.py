"""A scheduler of a release that was never compared is named beside the verdicts."""

from __future__ import annotations

import pytest

from make import CLUSTER, make_cluster
from trainyard.judge.admission.decided import deciders, stand_ins


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
    assert list(deciders(make_cluster(operators=operators("0.20.0"), queues={}))) == []
