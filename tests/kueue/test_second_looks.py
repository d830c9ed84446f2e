"""Workloads that hold quota are looked at again, as Kueue does: when machines are there, and when a node is not."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter

import pytest

from conftest import ROOT
from kueue.losing import losing
from kueue.oracle import asked, kueue, same
from kueue.test_replay import AGAIN
from kueue.worlds import provisioned
from trainyard.upstream.kueue.replay import replay

RECORDED = ROOT / "tests/kueue/second.jsonl.gz"
SEEDS = range(180)


def lost(seed):
    """A case that loses a node; now and then Kueue goes on looking instead of giving up at once."""
    found = losing(seed)
    if found is None:
        return None
    one = json.loads(json.dumps(found.case))
    if seed % 3 == 0:
        one["config"]["featureGates"]["TASFailedNodeReplacementFailFast"] = False
    return one


MAKERS = {"provisioned": provisioned, "lost": lost}


def cases():
    """All cases, with what they are called."""
    return {(name, seed): one for name, make in MAKERS.items() for seed in SEEDS if (one := make(seed)) is not None}


def digest(one):
    """What tells a case from every other."""
    return hashlib.sha256(json.dumps(one, sort_keys=True).encode()).hexdigest()[:12]


def uncounted(answer):
    """Return an answer without the number of cycles, which counts a status that is only written otherwise."""
    return {name: value for name, value in answer.items() if name != "cycles"}


def read():
    """Return the recorded answers."""
    return [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]


@pytest.mark.parametrize("maker", MAKERS)
def test_workloads_with_quota_are_looked_at_again_as_kueue_does(maker):
    """Recorded answers are ours: places that waited for machines, nodes that are replaced, evictions without one."""
    mine = [item for item in read() if item["maker"] == maker]
    outcomes = Counter(one.get("outcome") for item in mine for one in item["answer"].get("workloads", {}).values())
    assert len(mine) >= 40
    assert outcomes["admitted"] >= 40
    for item in mine:
        one = MAKERS[maker](item["seed"])
        assert digest(one) == item["case"], "the cases are drawn otherwise; record them again"
        ours = replay(one)
        assert same(uncounted(ours), uncounted(item["answer"])), (item["seed"], ours, item["answer"])


@pytest.mark.slow
def test_kueue_looks_again_as_we_do(request):
    """Asked again, Kueue's scheduler looks at them as we do."""
    program = kueue("second looks by Kueue itself")
    every = cases()
    found = dict(zip(every, asked(program, "schedule", list(every.values()), *AGAIN, faults=True), strict=True))
    stable = {name: answer for name, answer in found.items() if not answer.get("unstable")}
    assert len(stable) >= 0.98 * len(found)
    wrong = [name for name in stable if not same(uncounted(replay(every[name])), uncounted(stable[name]))]
    assert not wrong, wrong
    if request.config.getoption("--update"):
        lines = [
            json.dumps({"maker": maker, "seed": seed, "case": digest(every[maker, seed]), "answer": answer})
            for (maker, seed), answer in stable.items()
        ]
        RECORDED.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
