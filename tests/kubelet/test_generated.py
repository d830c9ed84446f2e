"""Every run of the repository is started by the kubelet of its nodes: ours says so, and the real one's code did.

With variables naming the programs that answer for the kubelets of the clusters' releases, their answers are asked
again, and with --update recorded.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from typing import Any

import pytest

from conftest import ROOT
from kubelet.minors import asked
from trainyard.judge.preflight import check_repository
from trainyard.render.kinds.starts import arriving_pod
from trainyard.render.sizing.starts import document, present
from trainyard.upstream.kubelet.answers import answer

RECORDED = ROOT / "tests/kubelet/generated.jsonl.gz"


@cache
def cases() -> list[dict[str, Any]]:
    """Return a case for each role of each run: a node of its pool with its daemons, where a pod of the role arrives."""
    found = []
    for run in check_repository(ROOT).runs:
        cluster = run.run.cluster
        for role in run.roles:
            here = present(cluster, role.size.pool)
            case = document(cluster, role.size.pool, [*here, arriving_pod(run, role)])
            found.append({**case, "name": f"{run.run.cluster_name}/{run.run.team_name}/{run.run.job_name}/{role.name}"})
    return found


def plain(value: Any) -> Any:
    """Return a value as it is read back from JSON."""
    return json.loads(json.dumps(value))


def recorded() -> list[dict[str, Any]]:
    """Return the cases that were asked, with the answers of the kubelet's own code."""
    return [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]


def test_every_run_starts_on_its_nodes():
    """Every pod on an otherwise empty node is admitted, and so is every daemon before it."""
    assert len(cases()) >= 20
    for case in cases():
        pods = answer(case)["pods"]
        assert {pod["outcome"] for pod in pods} == {"admitted"}, (case["name"], pods[-1])
        assert not pods[-1].get("unschedulable"), (case["name"], pods[-1])


def test_the_kubelets_own_code_said_the_same():
    """Recorded answers of the real kubelet to these nodes and pods, of all six clusters, are ours to the last word."""
    known = recorded()
    assert {item["case"]["name"].split("/")[0] for item in known} >= {
        "atlas",
        "borealis",
        "cumulus",
        "nimbus",
        "zephyr",
    }
    for item in known:
        assert plain(answer(item["case"])) == item["answer"], item["case"]["name"]


@pytest.mark.slow
def test_the_kubelets_own_code_says_so(request):
    """Asked again, the real kubelet takes every pod of every run."""
    answers = asked(cases())
    for case, found in zip(cases(), answers, strict=True):
        assert {pod["outcome"] for pod in found["pods"]} == {"admitted"}, (case["name"], found)
        assert plain(answer(case)) == found, case["name"]
    if request.config.getoption("--update"):
        pairs = [json.dumps({"case": case, "answer": found}) for case, found in zip(cases(), answers, strict=True)]
        RECORDED.write_bytes(gzip.compress("\n".join(pairs).encode(), mtime=0))
