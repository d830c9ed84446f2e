"""Other releases of Kueue decide as recorded, by their own programs, and we as they do."""

from __future__ import annotations

import gzip
import json
import os

import pytest

from conftest import TESTS
from kueue import past
from kueue.oracle import same, survived
from kueue.worlds import case
from trainyard.faces.cli._cases import answered
from trainyard.upstream.kueue.model.gates import LATER, ON, RELEASE, Gates

RECORDED = TESTS / "kueue/past.jsonl.gz"
RELEASES = ("0.18.6",)
SEEDS = (*range(60), 332, 505, 895, 1396, 1432, 2145, 2148, 2656, 3710, 3787, 3788, 3853)
"""Clusters by chance, and those of 4,000 that 0.18.6 decides otherwise than 0.19.2."""


def read() -> list[dict]:
    """Return the recorded answers."""
    return [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]


def test_we_decide_as_each_release():
    """Each recorded case is answered in every field as the release's own program does."""
    recorded = read()
    assert {(item["release"], item["seed"]) for item in recorded} == {(name, n) for name in RELEASES for n in SEEDS}
    for item in recorded:
        drawn = past.case(item["release"], item["seed"])
        assert same(past.answered_as(item["release"], drawn), item["answer"]), item["seed"]


def test_the_release_makes_a_difference():
    """The same cases are not all decided so by the newest release: the recording would show a wrong default."""
    other = [item["seed"] for item in read() if not same(answered(case(item["seed"])), item["answer"])]
    assert len(other) >= 10


GATES = {
    "newest": (RELEASE, "QuotaCheckStrategy", True),
    "one that came on in 0.19": ("0.18.6", "QuotaCheckStrategy", False),
    "one that came on in 0.18": ("0.18.0", "TASHandleOverlappingFlavors", True),
    "the same before": ("0.17.8", "TASHandleOverlappingFlavors", False),
    "one that was always on": ("0.16.0", "TopologyAwareScheduling", True),
    "a release that is not known yet": ("0.20.0", "QuotaCheckStrategy", True),
}


@pytest.mark.parametrize(("release", "gate", "on"), GATES.values(), ids=GATES)
def test_gates_have_the_default_of_the_release(release, gate, on):
    """A gate that is not set is as it is in the cluster's release; what is set counts alone."""
    assert Gates(release=release)[gate] is on
    assert Gates({gate: not on}, release)[gate] is not on


def test_each_gate_is_listed_once():
    """A gate is on since one release."""
    every = [*ON, *(gate for gates in LATER.values() for gate in gates)]
    assert len(every) == len(set(every))


LEADERS = {
    "0.17.8, as it answered itself": ("0.17.8", False),
    "the last of 0.18 without": ("0.18.4", False),
    "the first of 0.18 with": ("0.18.5", True),
    "0.19.0 was before it": ("0.19.0", False),
    "the first of 0.19 with": ("0.19.1", True),
}


@pytest.mark.parametrize(("release", "placed"), LEADERS.values(), ids=LEADERS)
def test_a_group_whose_leader_is_forgotten_is_admitted_without_places(release, placed):
    """Older releases put its pods where the leader has no room, and then tell no pod where to go."""
    pods = past.answered_as(release, past.case(release, 3016))["workloads"]["default/w01"]
    assert pods["outcome"] == "admitted"
    assert [bool(pod_set["topology"]["domains"]) for pod_set in pods["podSets"]] == [placed, placed]
    outcome = past.answered_as(release, past.case(release, 562))["workloads"]["default/w01"]["outcome"]
    assert outcome == ("inadmissible" if placed else "admitted")


@pytest.mark.parametrize(("release", "crashes"), {"0.16.2": True, "0.17.8": True, "0.18.0": False}.items())
def test_fair_sharing_of_a_queue_without_a_cohort_ended_kueue(release, crashes):
    """Where no victim of the queue's own is enough, releases before 0.18 look for the cohort that it has not."""
    answer = past.answered_as(release, past.case(release, 2640))
    assert ("looks for the cohort" in str(answer.get("error"))) is crashes


LABELS = {"pool": "a"}
SELECTORS = {
    "0.19.2, a key of another flavor": ("0.19.2", True),
    "0.18.6, likewise": ("0.18.6", True),
    "0.18.5": ("0.18.5", False),
    "0.17.8": ("0.17.8", True),
    "0.17.7": ("0.17.7", False),
    "0.16.9": ("0.16.9", False),
}


@pytest.mark.parametrize(("release", "admitted"), SELECTORS.values(), ids=SELECTORS)
def test_a_key_of_another_flavor_counts_in_old_releases(release, admitted):
    """A pod that selects a label of the group's other flavor cannot use a flavor without it (kueue #12449)."""
    kueue = "kueue.x-k8s.io/v1beta2"
    flavors = [{"name": name, "resources": [{"name": "cpu", "nominalQuota": "4"}]} for name in ("a", "b")]
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    template = {"spec": {"containers": [container], "nodeSelector": {"zone": "z"}}}
    objects = [
        ("ResourceFlavor", "a", {"nodeLabels": {"pool": "a"}}),
        ("ResourceFlavor", "b", {"nodeLabels": {"pool": "b", "zone": "y"}}),
        (
            "ClusterQueue",
            "q",
            {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}]},
        ),
        ("LocalQueue", "l", {"clusterQueue": "q"}),
        ("Workload", "w", {"queueName": "l", "podSets": [{"name": "main", "count": 1, "template": template}]}),
    ]
    made = [
        {"apiVersion": kueue, "kind": kind, "metadata": {"name": name}, "spec": spec} for kind, name, spec in objects
    ]
    answer = past.answered_as(release, {"name": "x", "objects": made})
    assert (answer["workloads"]["default/w"]["outcome"] == "admitted") is admitted


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_the_release_still_decides_so(request, release):
    """Asked again, the release's program answers as recorded; `tools/oracles/older.py` builds it."""
    variable = f"TRAINYARD_KUEUE_{release.replace('.', '_')}"
    if not (program := os.environ.get(variable)):
        pytest.skip(f"Kueue {release} by its own code: set {variable} to a program that answers for it")
    answers = survived(program, "schedule", [past.case(release, seed) for seed in SEEDS])
    if request.config.getoption("--update"):
        others = [item for item in read() if item["release"] != release] if RECORDED.exists() else []
        made = [
            {"release": release, "seed": seed, "answer": answer} for seed, answer in zip(SEEDS, answers, strict=True)
        ]
        lines = [json.dumps(item, sort_keys=True) for item in (*others, *made)]
        RECORDED.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
    recorded = {item["seed"]: item["answer"] for item in read() if item["release"] == release}
    assert dict(zip(SEEDS, answers, strict=True)) == recorded
