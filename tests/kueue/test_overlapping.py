"""Workloads that share nodes through two flavors: the whole decision is Kueue's, to the last place and word."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest

from conftest import ROOT
from kueue.oracle import asked, kueue
from kueue.overlapping import case, plain
from trainyard.upstream.kueue.replay import replay

RECORDED = ROOT / "tests/kueue/overlapping.jsonl.gz"
SEEDS = range(70)


def test_shared_nodes_are_shared_as_kueue_shares_them():
    """Recorded answers of Kueue about two flavors on the same nodes are ours."""
    recorded = [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]
    assert len(recorded) >= 60
    outcomes = Counter(workload.get("outcome") for one in recorded for workload in one["answer"]["workloads"].values())
    assert outcomes["admitted"] >= 30, outcomes
    assert outcomes["inadmissible"] >= 15, outcomes
    for one in recorded:
        assert plain(json.loads(json.dumps(replay(case(one["seed"]))))) == one["answer"], one["seed"]


@pytest.mark.slow
def test_kueue_shares_nodes_as_we_do(request):
    """Asked again, Kueue decides as we do wherever it decides sixteen times the same."""
    program = kueue("shared nodes by Kueue's own scheduler")
    answers = asked(program, "schedule", [case(seed) for seed in SEEDS], "-repeat", "16", faults=True)
    found = {
        seed: plain(answer)
        for seed, answer in zip(SEEDS, answers, strict=True)
        if not answer.get("unstable") and "error" not in answer
    }
    ours = {seed: plain(json.loads(json.dumps(replay(case(seed))))) for seed in found}
    wrong = {seed: (ours[seed], found[seed]) for seed in found if ours[seed] != found[seed]}
    assert not wrong, wrong
    if request.config.getoption("--update"):
        lines = [json.dumps({"seed": seed, "answer": value}) for seed, value in found.items()]
        RECORDED.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
