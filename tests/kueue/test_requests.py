"""Jobs ask Kueue for what its own integrations make of them: recorded answers, our own tree, and cases by chance."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter

import pytest
import yaml

from conftest import ROOT
from kueue import asking, claiming
from kueue.changing import CASES, PODS
from kueue.oracle import asked, kueue
from kueue.podsets import answer, plain
from kueue.recorded import CLUSTERS, read

RECORDED = ROOT / "tests/kueue/asked.jsonl.gz"
SEEDS = range(350)
"""The cases whose answers are recorded; more are asked where the program is there."""

CLAIMED = ROOT / "tests/kueue/claimed.jsonl.gz"
CLAIMS = range(400)
"""The cases of claims whose answers are recorded."""

COMMENTED = sorted((CASES / PODS).glob("*.yaml"))
"""Commented cases about jobs, with the answers of Kueue's own code beside them."""


def digest(seed):
    """What tells the case of a seed from every other."""
    return hashlib.sha256(json.dumps(asking.case(seed), sort_keys=True).encode()).hexdigest()[:12]


def test_jobs_ask_for_what_kueue_makes_of_them():
    """Recorded answers of Kueue to jobs of every kind by chance are ours, to the last amount and word."""
    recorded = [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]
    assert len(recorded) == len(SEEDS)
    kinds = Counter(name.split()[0] for item in recorded for name in item["answer"])
    assert set(kinds) == set(asking.KINDS), kinds
    assert min(kinds.values()) >= 20, kinds
    for item in recorded:
        assert digest(item["seed"]) == item["case"], "the cases are drawn otherwise; record them again"
        assert plain(answer(asking.case(item["seed"]))) == item["answer"], item["seed"]


def test_devices_count_as_kueue_counts_them():
    """Recorded answers of Kueue to claims of devices by chance are ours: amounts, or why it refuses them."""
    recorded = [json.loads(line) for line in gzip.decompress(CLAIMED.read_bytes()).splitlines()]
    assert len(recorded) == len(CLAIMS)
    refused = [item for item in recorded if "refused" in item["answer"]]
    assert 50 <= len(refused) <= len(recorded) - 100
    for item in recorded:
        assert claiming.answer(claiming.case(item["seed"])) == item["answer"], item["seed"]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_runs_of_the_tree_ask_for_what_kueue_says(cluster):
    """Each run of the repository has the pod sets, counts, amounts and topologies that Kueue's own code answered."""
    lines, answers = read(cluster)
    said = [json.loads(line) for line in lines]
    (config,) = (item["config"] for item in said if "config" in item)
    objects = [item.get("object") or item["job"] for item in said if "config" not in item]
    found = plain(answer({"config": config, "objects": objects}))
    ours = {name.rpartition("/")[2]: job for name, job in found.items()}
    assert answers["alone"]
    for name, theirs in answers["alone"].items():
        (workload,) = ours[name]["workloads"]
        assert workload["podSets"] == theirs["podSets"], name


@pytest.mark.parametrize("path", COMMENTED, ids=lambda path: path.stem)
def test_commented_cases_have_their_answers(path):
    """The commented cases on pod sets are answered as Kueue's own code answers them."""
    case = yaml.safe_load(path.read_text(encoding="utf-8"))
    expected = json.loads(path.with_suffix(".expected.json").read_text(encoding="utf-8"))
    assert plain(answer(case)) == plain(expected)


@pytest.mark.slow
def test_kueue_makes_the_same_of_jobs(request):
    """Asked again about many more jobs, Kueue makes of them what we say."""
    program = kueue("pod sets by Kueue's own code")
    seeds = range(10 * len(SEEDS))
    found = dict(zip(seeds, map(plain, asked(program, "podsets", list(map(asking.case, seeds)))), strict=True))
    wrong = {
        seed: (ours, value) for seed, value in found.items() if (ours := plain(answer(asking.case(seed)))) != value
    }
    assert not wrong, wrong
    if request.config.getoption("--update"):
        lines = [json.dumps({"seed": seed, "case": digest(seed), "answer": found[seed]}) for seed in SEEDS]
        RECORDED.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))


@pytest.mark.slow
def test_kueue_counts_devices_as_we_do(request):
    """Asked again about many more claims, Kueue counts, or refuses, devices as we do."""
    program = kueue("claims by Kueue's own code")
    seeds = range(5 * len(CLAIMS))
    answers = asked(program, "schedule", list(map(claiming.case, seeds)))
    found = dict(zip(seeds, map(claiming.told, answers), strict=True))
    wrong = {
        seed: (ours, value) for seed, value in found.items() if (ours := claiming.answer(claiming.case(seed))) != value
    }
    assert not wrong, wrong
    if request.config.getoption("--update"):
        lines = [json.dumps({"seed": seed, "answer": found[seed]}) for seed in CLAIMS]
        CLAIMED.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
