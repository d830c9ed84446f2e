"""A gang starts where a running Volcano started it, and nowhere where that did not.

With TRAINYARD_VOLCANO_ORACLE naming the kubeconfig of a cluster to throw away (see gang_oracle.py) Volcano is asked
again, and with --update what it says is recorded.
"""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from conftest import ROOT
from scheduler.gang_oracle import Volcano
from scheduler.gangs import digest, gang, is_right, started, verdict
from scheduler.tight import required
from scheduler.worlds import GPU

RECORDED = ROOT / "tests/scheduler/gangs.jsonl.gz"
SEEDS = range(300)
"""The cases whose answers are recorded."""
CHUNK = 50


def read(start):
    """Yield recorded answers from a seed on, with their cases."""
    lines = [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]
    mine = [line for line in lines if line["seed"] in range(start, start + CHUNK)]
    assert len(mine) == CHUNK
    for item in mine:
        drawn = gang(item["seed"])
        assert digest(drawn) == item["case"], "the cases are drawn otherwise; record them again"
        yield item["seed"], drawn, item["answer"]


@pytest.mark.parametrize("start", SEEDS[::CHUNK])
def test_a_verdict_is_true_of_what_volcano_did(start):
    """What fits was started, what never fits was not, and of what its queue refuses no pods were made."""
    for seed, drawn, answer in read(start):
        word = verdict(drawn)
        assert is_right(word, drawn, answer), (seed, word, answer)


@pytest.mark.slow
def test_most_verdicts_are_sure():
    """There are many of each, and of those that only may fit some started and some did not."""
    words, both = Counter(), Counter()
    for _, drawn, answer in (item for start in SEEDS[::CHUNK] for item in read(start)):
        word = verdict(drawn)
        words[word] += 1
        both[started(drawn, answer)] += word == "may fit"
    assert min(words["fits"], words["never fits"], words["refused"]) > len(SEEDS) / 8, words
    assert words["may fit"] < len(SEEDS) / 4, words
    assert min(both.values()) > 0, both


def node(index, **offered):
    """A node of eight GPUs."""
    amounts = {"cpu": "16", "memory": "64Gi", GPU: "8", "pods": "110", **offered}
    labels = {"kubernetes.io/hostname": f"node-{index}", "zone": "ab"[index % 2]}
    return {"name": f"node-{index}", "labels": labels, "allocatable": amounts, "taints": []}


def task(name, replicas, least, asked, **more):
    """Pods of a task, each of which asks for so much."""
    container = {"name": "main", "image": "x", "resources": {"limits": asked, "requests": asked}}
    labels = {"app": name}
    spec = {"containers": [container], **more}
    return {"name": name, "replicas": replicas, "minAvailable": least, "labels": labels, "spec": spec}


def case(*tasks, nodes=2, capability=None):
    """A case of so many nodes, and a queue with this capability."""
    queue = {"capability": capability} if capability else {}
    least = sum(one_task["minAvailable"] for one_task in tasks)
    whole = {"nodes": [node(index) for index in range(nodes)], "queue": queue, "others": [], "namespace": "alpha"}
    return {**whole, "minAvailable": least, "tasks": [*tasks]}


EIGHT, FOUR, CLERK = {GPU: "8", "cpu": "4"}, {GPU: "4", "cpu": "4"}, {"cpu": "1"}
SPREAD = {
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "worker"}},
        }
    ]
}
CASES = {
    "pods that fill their nodes": (case(task("worker", 2, 2, EIGHT)), "fits"),
    "one pod too many": (case(task("worker", 3, 3, EIGHT), nodes=2, capability={GPU: "32"}), "refused"),
    "GPUs that are free here and there": (case(task("worker", 3, 3, {**EIGHT, GPU: "5"}), nodes=2), "never fits"),
    "an elastic job's fewest pods": (case(task("worker", 4, 2, EIGHT)), "fits"),
    "a queue with room for the fewest": (case(task("worker", 2, 1, EIGHT), capability={GPU: "8"}), "fits"),
    "a queue with room for less": (case(task("worker", 2, 2, EIGHT), capability={GPU: "15"}), "refused"),
    "no CPUs in a capability are no bound": (case(task("worker", 2, 2, EIGHT), capability={"cpu": "0"}), "fits"),
    "no GPUs in a capability are one": (case(task("worker", 2, 2, EIGHT), capability={GPU: "0"}), "refused"),
    "pods of two sizes that are in each other's way on some nodes": (
        case(task("worker", 2, 2, EIGHT), task("small", 2, 2, FOUR), nodes=3),
        "may fit",
    ),
    "pods that want to be near others that come later": (
        case(
            task("worker", 1, 1, FOUR, affinity={"podAffinity": required({"app": "clerk"})}),
            task("clerk", 1, 1, CLERK),
        ),
        "may fit",
    ),
    "pods that are spread over nodes of which one refused another": (
        case(task("worker", 4, 4, CLERK, **SPREAD), nodes=3),
        "never fits",
    ),
}


@pytest.mark.parametrize(("drawn", "word"), CASES.values(), ids=CASES)
def test_what_becomes_of_a_gang(drawn, word):
    """The queue is asked for room for the fewest pods, then nodes for each pod; a node that refused one is out."""
    assert verdict(drawn) == word


@pytest.mark.slow
def test_volcano_decides_as_we_do(request):
    """Asked again it agrees."""
    kubeconfig = os.environ.get("TRAINYARD_VOLCANO_ORACLE")
    if not kubeconfig:
        pytest.skip("a running Volcano: set TRAINYARD_VOLCANO_ORACLE to the kubeconfig of a cluster to throw away")
    volcano = Volcano(Path(kubeconfig))
    answers = {seed: volcano.answer(gang(seed)) for seed in SEEDS}
    if request.config.getoption("--update"):
        lines = [{"seed": seed, "case": digest(gang(seed)), "answer": answer} for seed, answer in answers.items()]
        RECORDED.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode(), mtime=0))
    assert not [seed for seed, answer in answers.items() if not is_right(verdict(gang(seed)), gang(seed), answer)]
