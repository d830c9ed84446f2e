"""Pods of clusters by chance go where a running kube-scheduler sent them, and nowhere where it found nothing.

With TRAINYARD_SCHEDULER_ORACLE naming the kubeconfig of a cluster to throw away (see oracle.py) its scheduler is asked
again, and with --update what it says is recorded for its minor.
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
from trainyard.base.versions import line
from trainyard.upstream.kubelet.releases import is_since
from trainyard.upstream.scheduler.releases import BALANCED, MEASURED, RELEASE, decided_as

FOLDER = ROOT / "tests/scheduler"
SEEDS = range(600)
"""The cases whose answers are recorded."""
CHUNK = 30

OTHERS = [minor for minor in MEASURED if minor != RELEASE]
"""Minors whose schedulers were asked about fewer cases."""
OTHER_SEEDS, OTHER_JOBS = range(60, 150), range(15)
TELLING = (71, 98, 136)
"""Cases in which a pod goes elsewhere where nodes are scored otherwise."""

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


JOB_SEEDS = range(180)
"""Jobs that nearly fill their nodes; the scheduler was asked about each in four orders of its pods."""


def digest(drawn):
    """What tells a case from every other."""
    return hashlib.sha256(json.dumps(drawn, sort_keys=True).encode()).hexdigest()[:12]


def path(what, minor=RELEASE):
    """Return the file of what a minor's scheduler answered: of cases (`recorded`), or of jobs."""
    return FOLDER / f"{what}{'' if minor == RELEASE else f'-{minor}'}.jsonl.gz"


def read(what, seeds, draw, minor=RELEASE):
    """Yield recorded answers to some seeds, with their cases."""
    lines = [json.loads(row) for row in gzip.decompress(path(what, minor).read_bytes()).splitlines()]
    mine = [row for row in lines if row["seed"] in seeds]
    assert len(mine) >= len(seeds) / 2
    for item in mine:
        drawn = draw(item["seed"])
        assert digest(drawn) == item["case"], "the cases are drawn otherwise; record them again"
        yield item["seed"], drawn, item["answers"]


def chunk(start):
    """Return the seeds that one test looks at."""
    return range(start, start + CHUNK)


def wrong_jobs(seeds, minor=RELEASE):
    """Yield jobs of which we say something else than a minor's scheduler does."""
    for seed, drawn, answers in read("jobs", seeds, tight, minor):
        asked = [*orders(drawn, seed)]
        placed = [whole(item, events) for item, events in zip(asked, answers, strict=True)]
        differ = [
            one for item, events in zip(asked, answers, strict=True) for one in disagreements(item, events, minor)
        ]
        if differ or not is_right(verdict(drawn, minor), placed):
            yield seed, placed, differ


@pytest.mark.parametrize("start", SEEDS[::CHUNK])
def test_each_pod_goes_where_the_scheduler_sent_it(start):
    """It passes our filters there and has the highest score; of a pod without a node we say the same of all nodes."""
    for seed, drawn, (events,) in read("recorded", chunk(start), case):
        assert not list(disagreements(drawn, events)), seed


@pytest.mark.parametrize("start", JOB_SEEDS[::CHUNK])
def test_a_verdict_is_true_of_what_the_scheduler_did(start):
    """What fits was placed in every order, what never fits in none."""
    assert not list(wrong_jobs(chunk(start)))


@pytest.mark.parametrize("minor", OTHERS)
def test_other_minors_send_pods_where_their_schedulers_sent_them(minor):
    """Fewer cases, and the same is true of them."""
    wrong = {seed: list(disagreements(drawn, events, minor)) for seed, drawn, (events,) in others(minor, OTHER_SEEDS)}
    assert len(wrong) == len(OTHER_SEEDS)
    assert not any(wrong.values()), wrong
    assert not list(wrong_jobs(OTHER_JOBS, minor))


@pytest.mark.parametrize("minor", MEASURED)
def test_each_minor_scores_nodes_its_own_way(minor):
    """From 1.36 on a node counts for what a pod betters: what such a scheduler did is not what others would have."""
    drawn = list(others(minor, TELLING))
    for other in MEASURED:
        alike = is_since(minor, BALANCED) == is_since(other, BALANCED)
        assert alike != any(list(disagreements(one, events, other)) for _, one, (events,) in drawn), other


def others(minor, seeds):
    """Yield the recorded cases of a minor with these seeds."""
    return read("recorded", seeds, case, minor)


UNKNOWN = {"of a minor that was asked": ("1.36.1", "1.36"), "older": ("1.30", "1.34"), "newer": ("1.99", "1.37")}


@pytest.mark.parametrize(("release", "minor"), UNKNOWN.values(), ids=UNKNOWN)
def test_a_release_is_decided_as_the_nearest_minor_that_was_asked(release, minor):
    """Patches are decided as their minor."""
    assert decided_as(release) == minor


def test_every_filter_refuses_something():
    """Among the answers are all reasons, and pods that found a node."""
    reasons = Counter()
    for _, _, (events,) in (item for start in SEEDS[::CHUNK] for item in read("recorded", chunk(start), case)):
        reasons.update(name for event in events for name in event.get("against", {"a node": 1}))
    assert set(reasons) == {*REASONS, "a node"}
    assert min(reasons["a node"], sum(reasons.values()) - reasons["a node"]) > 500


@pytest.mark.slow
def test_jobs_fit_or_not_or_only_perhaps():
    """Most verdicts are sure, and half of the others are seen to come true both ways; pods are tried again."""
    words, both, again = Counter(), 0, 0
    for seed, drawn, answers in (item for start in JOB_SEEDS[::CHUNK] for item in read("jobs", chunk(start), tight)):
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
    minor = line(scheduler.release())
    seeds, job_seeds = (SEEDS, JOB_SEEDS) if minor == RELEASE else (OTHER_SEEDS, OTHER_JOBS)
    answers = {seed: [scheduler.answer(case(seed))] for seed in seeds}
    jobs = {seed: [scheduler.answer(order) for order in orders(tight(seed), seed)] for seed in job_seeds}
    if request.config.getoption("--update"):
        for what, draw, found in (("recorded", case, answers), ("jobs", tight, jobs)):
            rows = [{"seed": seed, "case": digest(draw(seed)), "answers": value} for seed, value in found.items()]
            path(what, minor).write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode(), mtime=0))
    asked = [(case(seed), events) for seed, (events,) in answers.items()]
    asked += [item for seed, found in jobs.items() for item in zip(orders(tight(seed), seed), found, strict=True)]
    assert not [found for drawn, events in asked for found in disagreements(drawn, events, minor)]
