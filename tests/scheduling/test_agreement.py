"""Pods of clusters by chance go where a running kube-scheduler sent them, and nowhere where it found nothing.

With TRAINYARD_SCHEDULER_ORACLE naming the kubeconfig of a cluster to throw away (see oracle.py) its scheduler is asked
again, and with --update what it says is recorded.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from conftest import ROOT
from scheduling.compare import disagreements
from scheduling.oracle import Scheduler
from scheduling.worlds import case

RECORDED = ROOT / "tests/scheduling/recorded.jsonl.gz"
SEEDS = range(600)
"""The cases whose answers are recorded; more are asked where a scheduler is there."""
CHUNK = 100

REASONS = {
    "Insufficient cpu",
    "Insufficient memory",
    "Insufficient ephemeral-storage",
    "Insufficient hugepages-2Mi",
    "Insufficient nvidia.com/gpu",
    "Insufficient example.com/nic",
    "Too many pods",
    "Scheduling is blocked due to non-empty scheduling gates",
    "cannot allocate all claims",
    "node(s) had untolerated taint(s)",
    "node(s) didn't match Pod's node affinity/selector",
    "node(s) didn't satisfy plugin(s) [NodeAffinity]",
    "pod affinity terms conflict",
    "node(s) didn't have free ports for the requested pod ports",
    "node(s) didn't match pod affinity rules",
    "node(s) didn't match pod anti-affinity rules",
    "node(s) didn't satisfy existing pods anti-affinity rules",
    "node(s) didn't match pod topology spread constraints",
    "node(s) didn't match pod topology spread constraints (missing required label)",
}
"""All that the scheduler's filters say of what we know of."""


def digest(seed):
    """What tells the case of a seed from every other."""
    return hashlib.sha256(json.dumps(case(seed), sort_keys=True).encode()).hexdigest()[:12]


def read():
    """Return the recorded answers."""
    return [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]


@pytest.mark.parametrize("start", SEEDS[::CHUNK])
def test_each_pod_goes_where_the_scheduler_sent_it(start):
    """It passes our filters there and has the highest score; of a pod without a node we say the same of all nodes."""
    mine = [each for each in read() if each["seed"] in range(start, start + CHUNK)]
    assert len(mine) == CHUNK
    for each in mine:
        assert digest(each["seed"]) == each["case"], "the cases are drawn otherwise; record them again"
        assert not list(disagreements(case(each["seed"]), each["events"])), each["seed"]


def test_every_filter_refuses_something():
    """Among the answers are all reasons, and pods that found a node."""
    reasons = Counter()
    for each in read():
        reasons.update(name for event in each["events"] for name in event.get("against", {"a node": 1}))
    assert set(reasons) == {*REASONS, "a node"}
    assert min(reasons["a node"], sum(reasons.values()) - reasons["a node"]) > 500


@pytest.mark.slow
def test_the_scheduler_decides_as_we_do(request):
    """Asked again it agrees, about more clusters than are recorded."""
    kubeconfig = os.environ.get("TRAINYARD_SCHEDULER_ORACLE")
    if not kubeconfig:
        pytest.skip("a running scheduler: set TRAINYARD_SCHEDULER_ORACLE to the kubeconfig of a cluster to throw away")
    scheduler = Scheduler(Path(kubeconfig))
    answers = {seed: scheduler.answer(case(seed)) for seed in range(SEEDS.start, SEEDS.stop + 100)}
    wrong = {seed: list(disagreements(case(seed), events)) for seed, events in answers.items()}
    if request.config.getoption("--update"):
        lines = [json.dumps({"seed": seed, "case": digest(seed), "events": answers[seed]}) for seed in SEEDS]
        RECORDED.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
    assert not {seed: found for seed, found in wrong.items() if found}
