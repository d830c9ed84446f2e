"""Kueue admits every run of ours: what its own scheduler answered is held against what is rendered today."""

from __future__ import annotations

import copy

import pytest

from kueue.recorded import CLUSTERS, current, read
from kueue.witness import problems

AGAIN = "ask Kueue again: TRAINYARD_KUEUE_ORACLE=<program> pytest tests/live/test_kueue_oracle.py --update"


@pytest.fixture(scope="module", params=CLUSTERS)
def cluster(request):
    """What would be asked about a cluster today, what was asked, and the answers."""
    return current(request.param), *read(request.param)


def test_kueue_was_asked_what_is_rendered(cluster):
    """The question about a cluster is to the last byte the one that was answered."""
    today, asked, _ = cluster
    lines = today.lines()
    gone, new = [item for item in asked if item not in lines], [line for line in lines if line not in asked]
    assert lines == asked, "\n".join([AGAIN, *(f"- {item}" for item in gone), *(f"+ {item}" for item in new)])


def test_every_run_is_admitted_in_its_place(cluster):
    """Alone on its cluster a run is admitted: its pool's flavor, all of it counted, in the domain it asks for."""
    today, _, answers = cluster
    assert set(answers["alone"]) == set(today.jobs)
    found = {name: list(problems(today, answer)) for name, answer in answers["alone"].items()}
    assert not any(found.values()), found


def test_runs_together_wait_for_each_other_at_worst(cluster):
    """With all runs of a cluster at once some may wait for quota, but every queue works and none is misconfigured."""
    today, _, answers = cluster
    assert set(answers["together"]) == set(today.jobs)
    assert answers["queues"] == dict.fromkeys(today.of("ClusterQueue"), True)
    for name, answer in answers["together"].items():
        waits = answer["outcome"] != "admitted"
        behind = "reason" not in answer  # Of a strict queue Kueue looks at the first alone.
        assert not waits or behind or answer["reason"] == "Pending", (name, answer)


SPOILED = {
    "not admitted": (lambda answer: answer.update(outcome="inadmissible", message="no"), "is inadmissible: no"),
    "a pod without a place": (lambda answer: domains(answer).pop(), "worker has 8 pods, of which 7 have a place"),
    "a pod in the other rack": (
        lambda answer: domains(answer)[0].update(values=["h100-015"]),
        "worker must be within one example.com/rack",
    ),
    "a pod on another pool": (lambda answer: domains(answer)[0].update(values=["cpu-000"]), "cpu-000 has no"),
    "two pods on one node": (
        lambda answer: domains(answer)[0].update(values=["h100-001"]),
        "h100-001 has 8 nvidia.com/gpu, and must hold 16",
    ),
    "a resource that is not counted": (
        lambda answer: worker(answer)["usage"].pop("nvidia.com/gpu"),
        "worker counts as",
    ),
    "another pool's flavor": (
        lambda answer: worker(answer).update(flavors=dict.fromkeys(worker(answer)["flavors"], "cpu")),
        "worker gets flavor cpu for nodes with [{'trainyard.dev/pool': 'h100'}]",
    ),
}


def worker(answer):
    """What the workers got."""
    return answer["assigned"][-1]


def domains(answer):
    """The places of the workers."""
    return worker(answer)["topology"]["domains"]


@pytest.mark.parametrize(("spoil", "said"), SPOILED.values(), ids=SPOILED)
def test_what_is_wrong_with_an_admission_is_seen(spoil, said):
    """An answer in which something is spoiled is no admission in its place."""
    today, answers = current("atlas"), read("atlas")[1]
    answer = copy.deepcopy(answers["alone"]["llama3-8b"])
    assert not list(problems(today, answer))
    spoil(answer)
    assert any(problem.startswith(said) for problem in problems(today, answer)), list(problems(today, answer))


def test_a_slice_across_two_domains_is_seen():
    """Pods that share memory over NVLink may not be spread unevenly over its domains."""
    today, answers = current("zephyr"), read("zephyr")[1]
    answer = copy.deepcopy(answers["alone"]["moe-400b"])
    domains(answer)[0]["values"] = ["gb200-035"]
    assert any("slices of 18" in problem for problem in problems(today, answer))
