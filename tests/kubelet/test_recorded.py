"""Our kubelet decides as the real one: recorded answers are replayed, and its own code is asked where it is at hand."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from functools import cache
from itertools import islice

import pytest
import yaml

from conftest import ROOT
from kubelet.agreement import configurations
from kubelet.agreement.cases import cases
from trainyard.upstream.kubelet.answers import answer

RECORDED = ROOT / "tests/kubelet/agreement/recorded.jsonl.gz"
COMMENTED = ROOT / "tests/kubelet/cases"
"""Cases that people wrote to ask the kubelet one thing each, with its answers beside them."""
PARTS = 8
"""Tests among which the recorded cases are shared out, so that each is quick."""


def recorded():
    """Every recorded case with the answer of the kubelet's own code."""
    drawn = [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]
    return [*commented(), *drawn]


@cache
def commented():
    """Every commented case with its answer."""
    found = []
    for path in sorted(COMMENTED.glob("*/*.yaml")):
        case = plain(yaml.safe_load(path.read_text(encoding="utf-8")))
        expected = json.loads(path.with_suffix(".expected.json").read_text(encoding="utf-8"))
        found.append({"case": case, "answer": expected})
    return found


def plain(value):
    """A value as it is read back from JSON."""
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("part", range(PARTS))
def test_recorded_answers_are_ours(part):
    """Each recorded case gets the answer of the kubelet's own code, to the last word."""
    for one_part in islice(recorded(), part, None, PARTS):
        assert plain(answer(one_part["case"])) == one_part["answer"]


def test_recorded_answers_hold_every_outcome_under_every_policy():
    """The recorded cases have pods admitted and refused under every policy and scope, and every reason there is."""
    seen, reasons = Counter(), set()
    for item in recorded():
        kubelet = item["case"].get("kubelet") or {}
        where = (kubelet.get("topologyManagerPolicy", "none"), kubelet.get("topologyManagerScope", "container"))
        for pod in item["answer"].get("pods", ()):
            seen[(*where, pod["outcome"])] += 1
            reasons.add(pod.get("reason", pod["outcome"]))
    for policy in ("none", "best-effort", "restricted", "single-numa-node"):
        for scope in ("container", "pod"):
            assert seen[policy, scope, "admitted"] >= 10, (policy, scope)
            assert seen[policy, scope, "refused"] >= 5, (policy, scope)
    assert reasons >= {
        "TopologyAffinityError",
        "UnexpectedAdmissionError",
        "SMTAlignmentError",
        "OutOfcpu",
        "OutOfmemory",
        "OutOfpods",
        "NodeAffinity",
        "explodes",
        "crashes",
        "invalid",
    }


def test_every_odd_configuration_is_recorded():
    """Each configuration of the table has its recorded answer; most of them keep the kubelet from starting."""
    known = {item["case"]["name"]: item["answer"] for item in recorded()}
    answers = [known[case["name"]] for case in configurations.cases()]
    assert sum("invalid" in one_answer for one_answer in answers) > len(answers) * 0.7
    assert {one_answer["invalid"]["stage"] for one_answer in answers if "invalid" in one_answer} == {
        "decode",
        "validate",
        "start",
    }


def test_one_seed_draws_the_same_cases():
    """The same seed draws the same cases, another one others."""
    assert list(cases("a", 3)) == list(cases("a", 3))
    assert list(cases("a", 3)) != list(cases("b", 3))


@pytest.mark.slow
def test_drawn_cases_agree_with_the_kubelet(tmp_path):
    """On cases that nobody has seen before, 99.9 % of the outcomes are those of the kubelet's own code."""
    oracle = os.environ.get("TRAINYARD_KUBELET_ORACLE")
    if not oracle:
        pytest.skip("TRAINYARD_KUBELET_ORACLE names no program that answers for the kubelet")
    from tool import tool

    done = tool(
        "node_cases.py", "--oracle", oracle, "--seed", "unseen", "--cases", "500", "--differences", tmp_path / "d"
    )
    assert done.returncode == 0, done.stdout
