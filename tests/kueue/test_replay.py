"""Whole clusters by chance are decided as Kueue's own scheduler decided them, in every field of its answer."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter

import pytest

from conftest import ROOT
from kueue.changing import CASES
from kueue.oracle import asked, kueue, same
from kueue.question import Object
from kueue.worlds import case
from trainyard.base.documents import load
from trainyard.upstream.kueue.replay import replay

RECORDED = ROOT / "tests/kueue/replayed.jsonl.gz"
SEEDS = range(1200)
"""The cases whose answers are recorded; more are asked where the program is there."""
CHUNK = 40
AGAIN = ("-repeat", "3")
"""Asked thrice, Kueue answers some cases in several ways, where equals come as a map has them; those are left out."""


def digest(seed):
    """What tells the case of a seed from every other."""
    return hashlib.sha256(json.dumps(case(seed), sort_keys=True).encode()).hexdigest()[:12]


def read():
    """Return the recorded answers."""
    return [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]


@pytest.mark.parametrize("start", SEEDS[::CHUNK])
def test_clusters_by_chance_are_decided_as_kueue_decided_them(start):
    """Recorded answers of Kueue's scheduler are ours: outcomes, flavors, places, victims, messages and usage."""
    mine = [item for item in read() if start <= item["seed"] < start + CHUNK]
    assert len(mine) >= CHUNK - 5
    for item in mine:
        assert digest(item["seed"]) == item["case"], "the cases are drawn otherwise; record them again"
        ours = replay(case(item["seed"]))
        assert same(ours, item["answer"]), (item["seed"], ours, item["answer"])


def test_the_recorded_answers_are_of_every_kind():
    """Among the cases are all outcomes, victims of every reason, borrowing, fewer pods, and livelocks."""
    outcomes, reasons, more = Counter(), Counter(), Counter()
    for item in read():
        answer = item["answer"]
        more["unsettled"] += answer.get("unsettled", False)
        for found in answer.get("workloads", {}).values():
            outcomes[found.get("outcome") or found["nomination"]["mode"]] += 1
            reasons.update(victim["reason"] for victim in found.get("victims", ()))
            more["borrowing"] += found.get("borrowing", False)
            more["placed"] += any("topology" in one for one in found.get("podSets", ()))
    assert min(outcomes[name] for name in ("admitted", "inadmissible", "pending", "preempted")) >= 100, outcomes
    assert min(outcomes[name] for name in ("Fit", "NoFit", "Preempt")) >= 30, outcomes
    assert len(reasons) == 4, reasons
    assert min(reasons.values()) >= 10, reasons
    assert min(more[name] for name in ("borrowing", "placed")) >= 100, more


def test_pod_sets_of_a_group_share_what_came_of_their_flavors():
    """A flavor without places for one of them has none for the others, which is the mildest reason there is."""
    assert replay(case(5227))["workloads"]["default/w02"]["reason"] == "TopologyPlacementFailed"


def test_commented_cases_are_decided_as_their_answers_say():
    """Cases that people wrote to ask Kueue one thing each, with its answers beside them, are decided alike."""
    wrong, count = {}, 0
    for path in sorted(CASES.glob("*/*.yaml")):
        expected = json.loads(path.with_name(path.name.replace(".yaml", ".expected.json")).read_text("utf-8"))
        if "workloads" not in expected or "jobs" in expected:
            continue
        count += 1
        (found,), findings = load(path.read_bytes(), file=path.name)
        assert not findings, findings
        ours = replay(found.value)
        if not same(ours, expected):
            wrong[path.name] = ours
    assert count >= 200
    assert not wrong, wrong


@pytest.mark.slow
def test_kueue_decides_as_we_do(request):
    """Asked again about many more clusters, Kueue's scheduler decides as we do."""
    program = kueue("clusters by Kueue's own scheduler")
    answers: dict[int, Object] = {}
    for start in range(0, 4 * len(SEEDS), 400):
        seeds = range(start, start + 400)
        found = asked(program, "schedule", [case(seed) for seed in seeds], *AGAIN, faults=True)
        answers.update(zip(seeds, found, strict=True))
    stable = {seed: answer for seed, answer in answers.items() if not answer.get("unstable")}
    assert len(stable) >= 0.99 * len(answers)
    wrong = [seed for seed, answer in stable.items() if not same(replay(case(seed)), answer)]
    assert not wrong, wrong
    if request.config.getoption("--update"):
        lines = [
            json.dumps({"seed": seed, "case": digest(seed), "answer": stable[seed]}) for seed in SEEDS if seed in stable
        ]
        RECORDED.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
