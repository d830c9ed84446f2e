"""Our kubelet decides as the real one: recorded answers are replayed, and its own code is asked where it is at hand."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections import Counter
from functools import cache
from itertools import islice

import pytest
import yaml

from conftest import ROOT
from kubelet.agreement import configurations, spread
from kubelet.agreement.cases import cases
from kubelet.minors import program
from trainyard.upstream.kubelet.answers import answer
from trainyard.upstream.kubelet.configuration.gates import gates_of
from trainyard.upstream.kubelet.releases import MEASURED, RELEASE

AGREEMENT = ROOT / "tests/kubelet/agreement"
COMMENTED = ROOT / "tests/kubelet/cases"
"""Cases that people wrote to ask the kubelet one thing each, with its answers beside them."""
LOGGING = {"ContextualLogging", "LoggingAlphaOptions", "LoggingBetaOptions"}
"""Gates that cmd/kubelet adds, which the program has not."""
PARTS = 8
"""Tests among which the recorded cases are shared out, so that each is quick."""


OTHERS = [minor for minor in MEASURED if minor != RELEASE]


def recorded():
    """Every recorded case with the answer of the kubelet's own code."""
    return [*commented(), *drawn(RELEASE)]


def drawn(minor):
    """The drawn cases and odd configurations of a minor, with the answers of its kubelet's own code."""
    path = AGREEMENT / configurations.recorded(minor)
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


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


@pytest.mark.parametrize("minor", OTHERS)
def test_recorded_answers_of_other_minors_are_ours(minor):
    """Each case that was asked of another minor's kubelet gets its answer."""
    items = drawn(minor)
    assert len(items) > 200
    for item in items:
        assert plain(answer({**item["case"], "kubernetes": minor})) == item["answer"], item["case"]["name"]


def test_cpus_that_are_spread_keep_to_a_socket_from_the_minor_on_that_looks_at_sockets():
    """Of cases that spread CPUs and align them by socket, minors before 1.37 are alike, and that one is not."""
    drawn_ = list(spread.cases("1", 40))
    said = {minor: [plain(answer({**case, "kubernetes": minor})) for case in drawn_] for minor in MEASURED}
    assert said["1.34"] == said["1.35"] == said["1.36"]
    assert 5 < sum(one != other for one, other in zip(said["1.36"], said["1.37"], strict=True)) < 35


def test_rails_keep_no_kubelet_busy_from_the_minor_on_that_looks_at_their_nodes_alone():
    """One resource for each of eight rails on eight NUMA nodes: 2^60 combinations until 1.35, then one."""
    case = next(item["case"] for item in commented() if item["case"]["name"] == "explosion/nps4-eight-rails")
    outcomes = {minor: answer({**case, "kubernetes": minor})["pods"][0]["outcome"] for minor in MEASURED}
    assert outcomes == {"1.34": "explodes", "1.35": "explodes", "1.36": "admitted", "1.37": "admitted"}


@pytest.mark.slow
@pytest.mark.parametrize("minor", MEASURED)
def test_gates_are_those_of_the_program(minor):
    """Each gate of a minor's kubelet, but for those of logging, has the state and the needs that the program prints."""
    said = json.loads(subprocess.run([program(minor), "-gates"], capture_output=True, text=True, check=True).stdout)
    known = gates_of(minor)
    assert set(known) - set(said) <= LOGGING
    for name, gate in said.items():
        stage = {"GA": "stable"}.get(gate["stage"], gate["stage"]).lower()
        found = (stage, gate["default"], gate.get("locked", False), tuple(gate.get("needs", ())))
        assert tuple(known[name]) == found, name


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
@pytest.mark.parametrize("minor", MEASURED)
def test_drawn_cases_agree_with_the_kubelet(minor, tmp_path):
    """On cases that nobody has seen before, 99.9 % of the outcomes are those of the kubelet's own code."""
    from tool import tool

    drawing = ("--release", minor, "--seed", "unseen", "--cases", "500", "--differences", tmp_path / "d")
    done = tool("node_cases.py", "--oracle", program(minor), *drawing)
    assert done.returncode == 0, done.stdout
