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
from scheduler.compare import disagreements, is_right, verdict, whole
from scheduler.oracle import Scheduler
from scheduler.tight import orders, tight
from scheduler.worlds import case

RECORDED = ROOT / "tests/scheduler/recorded.jsonl.gz"
SEEDS = range(600)
"""The cases whose answers are recorded."""
CHUNK = 30

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


JOBS = ROOT / "tests/scheduler/jobs.jsonl.gz"
JOB_SEEDS = range(180)
"""Jobs that nearly fill their nodes; the scheduler was asked about each in four orders of its pods."""


def digest(drawn):
    """What tells a case from every other."""
    return hashlib.sha256(json.dumps(drawn, sort_keys=True).encode()).hexdigest()[:12]


def read(path, start, draw):
    """Yield recorded answers from a seed on, with their cases."""
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    mine = [line for line in lines if line["seed"] in range(start, start + CHUNK)]
    assert len(mine) >= CHUNK / 2
    for item in mine:
        drawn = draw(item["seed"])
        assert digest(drawn) == item["case"], "the cases are drawn otherwise; record them again"
        yield item["seed"], drawn, item["answers"]


@pytest.mark.parametrize("start", SEEDS[::CHUNK])
def test_each_pod_goes_where_the_scheduler_sent_it(start):
    """It passes our filters there and has the highest score; of a pod without a node we say the same of all nodes."""
    for seed, drawn, (events,) in read(RECORDED, start, case):
        assert not list(disagreements(drawn, events)), seed


@pytest.mark.parametrize("start", JOB_SEEDS[::CHUNK])
def test_a_verdict_is_true_of_what_the_scheduler_did(start):
    """What fits was placed in every order, what never fits in none."""
    for seed, drawn, answers in read(JOBS, start, tight):
        asked = [*orders(drawn, seed)]
        placed = [whole(item, events) for item, events in zip(asked, answers, strict=True)]
        assert is_right(verdict(drawn), placed), (seed, placed)
        wrong = [one for item, events in zip(asked, answers, strict=True) for one in disagreements(item, events)]
        assert not wrong, seed


def test_every_filter_refuses_something():
    """Among the answers are all reasons, and pods that found a node."""
    reasons = Counter()
    for _, _, (events,) in (item for start in SEEDS[::CHUNK] for item in read(RECORDED, start, case)):
        reasons.update(name for event in events for name in event.get("against", {"a node": 1}))
    assert set(reasons) == {*REASONS, "a node"}
    assert min(reasons["a node"], sum(reasons.values()) - reasons["a node"]) > 500


@pytest.mark.slow
def test_jobs_fit_or_not_or_only_perhaps():
    """Most verdicts are sure, and half of the others are seen to come true both ways; pods are tried again."""
    words, both, again = Counter(), 0, 0
    for seed, drawn, answers in (item for start in JOB_SEEDS[::CHUNK] for item in read(JOBS, start, tight)):
        word = verdict(drawn)
        words[word] += 1
        placed = {whole(order, events) for order, events in zip(orders(drawn, seed), answers, strict=True)}
        both += word == "may fit" and len(placed) == 2
        again += any(event.get("again") for events in answers for event in events)
    assert min(words["fits"], words["never fits"]) > 50, words
    assert words["may fit"] / 2 < both, (words, both)
    assert again > 3


@pytest.mark.slow
def test_the_scheduler_decides_as_we_do(request):
    """Asked again it agrees."""
    kubeconfig = os.environ.get("TRAINYARD_SCHEDULER_ORACLE")
    if not kubeconfig:
        pytest.skip("a running scheduler: set TRAINYARD_SCHEDULER_ORACLE to the kubeconfig of a cluster to throw away")
    scheduler = Scheduler(Path(kubeconfig))
    answers = {seed: [scheduler.answer(case(seed))] for seed in SEEDS}
    jobs = {seed: [scheduler.answer(order) for order in orders(tight(seed), seed)] for seed in JOB_SEEDS}
    if request.config.getoption("--update"):
        for path, draw, found in ((RECORDED, case, answers), (JOBS, tight, jobs)):
            lines = [{"seed": seed, "case": digest(draw(seed)), "answers": value} for seed, value in found.items()]
            path.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode(), mtime=0))
    asked = [(case(seed), events) for seed, (events,) in answers.items()]
    asked += [item for seed, found in jobs.items() for item in zip(orders(tight(seed), seed), found, strict=True)]
    assert not [found for drawn, events in asked for found in disagreements(drawn, events)]
