"""Cases that people wrote, changed by chance, are decided as Kueue's own code decides them."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest

from conftest import ROOT
from kueue import changing, podsets
from kueue.allowed import forbidden
from kueue.merging import merged, name_of
from kueue.oracle import kueue, same, survived
from trainyard.upstream.kueue.replay import replay

RECORDED = ROOT / "tests/kueue/changed.jsonl.gz"
"""Changed cases that were once decided otherwise, as small as they could be made, with Kueue's answers."""

SEEDS = range(2000)


def read():
    """Return the recorded cases and answers; an answer is by job where the case is about jobs."""
    return [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]


@pytest.mark.parametrize("each", read(), ids=lambda item: item["case"]["name"])
def test_changed_cases_are_decided_as_kueue_decided_them(each):
    """What Kueue answered to a changed case is what we answer."""
    case, answer = each["case"], each["answer"]
    if "jobs" in answer:
        assert podsets.plain(podsets.answer(case)) == podsets.plain(answer)
    else:
        assert same(replay(case), answer), (replay(case), answer)


@pytest.fixture(scope="module")
def source():
    """The commented cases, which are changed."""
    return changing.read(changing.CASES)


def test_a_seed_changes_a_case_always_alike(source):
    """One seed has one case, most seeds have a case that is none of those that were changed, and all modes occur."""
    cases = [changing.changed(source, seed) for seed in range(300)]
    assert cases == [changing.changed(source, seed) for seed in range(300)]
    assert sum(one_case not in source.cases for one_case in cases) > 250
    assert set(Counter(one_case.get("mode") for one_case in cases)) >= {"cycle", "nominate", "settle"}


def test_changed_cases_name_every_object_once(source):
    """No object is there twice, and whoever holds quota from the start is there."""
    for case in (changing.changed(source, seed) for seed in range(300)):
        names = [name_of(item) for item in case["objects"]]
        assert len(names) == len(set(names)), case
        for item in case["admitted"]:
            namespace, _, name = item["workload"].rpartition("/")
            assert ("Workload", namespace or "default", name) in names, case


class First:
    """No chance: the lowest number, and the first of several."""

    def random(self):
        """Return the lowest number."""
        return 0.0

    def choice(self, several):
        """Return the first."""
        return several[0]


class Last(First):
    """No chance either: the highest number."""

    def random(self):
        """Return the highest number."""
        return 0.99


@pytest.mark.parametrize("chance", [First(), Last()])
def test_two_cases_in_one_share_a_name_or_keep_them_apart(chance):
    """What has the same name is there once, or is called otherwise with all that names it; Workloads are both there."""
    queue = {"kind": "ClusterQueue", "metadata": {"name": "cq"}, "spec": {"cohortName": "all"}}
    local = {"kind": "LocalQueue", "metadata": {"name": "lq"}, "spec": {"clusterQueue": "cq"}}
    workload = {"kind": "Workload", "metadata": {"name": "w"}, "spec": {"queueName": "lq"}}
    case = {"objects": [queue, local, workload], "admitted": [{"workload": "w"}]}
    found = merged(case, case, chance)
    shared = isinstance(chance, First) and not isinstance(chance, Last)
    names = [item["metadata"]["name"] for item in found["objects"]]
    assert names == ["cq", "lq", "w", *([] if shared else ["cq-2", "lq-2"]), "w-2"]
    assert found["objects"][-1]["spec"]["queueName"] == ("lq" if shared else "lq-2")
    assert found["admitted"] == [{"workload": "w"}, {"workload": "w-2"}]


def test_what_no_server_stores_is_told():
    """An object that the definition of its kind refuses is named, and so is a status that it refuses."""
    queue = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "lq"}}
    usage = {"fairSharing": {"admissionFairSharingStatus": {"consumedResources": {}}}}
    assert not forbidden({"objects": [{**queue, "spec": {"clusterQueue": "cq"}}]})
    assert "LocalQueue/lq" in forbidden({"objects": [{**queue, "spec": {"stopPolicy": "Later"}}]})
    assert "required" in forbidden({"objects": [{**queue, "status": usage}]})


@pytest.mark.slow
def test_kueue_decides_changed_cases_as_we_do(request):
    """Asked about many more changed cases, and again about those that are recorded, Kueue decides as we do."""
    program = kueue("changed cases by Kueue's own code")
    recorded = read()
    for item in recorded:
        command = "podsets" if "jobs" in item["answer"] else "schedule"
        (item["answer"],) = survived(program, command, [item["case"]])
    if request.config.getoption("--update"):
        lines = [json.dumps(item, sort_keys=True) for item in recorded]
        RECORDED.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
    assert recorded == read()
    source = changing.read(changing.CASES)
    cases = [value for seed in SEEDS if not forbidden(value := changing.changed(source, seed))]
    answers = survived(program, "schedule", cases, "-repeat", "3")
    pairs = [pair for pair in zip(cases, answers, strict=True) if not pair[1].keys() & {"unstable", "error"}]
    assert len(cases) >= 0.8 * len(SEEDS)
    assert len(pairs) >= 0.9 * len(cases)
    wrong = [case for case, answer in pairs if not same(replay(case), answer)]
    assert not wrong, wrong
