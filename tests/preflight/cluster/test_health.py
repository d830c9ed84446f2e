"""A cluster's `health` names pools and faults that there are, and has the programs that find and taint nodes."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, CPU_NODE, make_cluster, make_source
from trainyard.base.errors import SpecError
from trainyard.judge.preflight.cluster.gates import check as check_gates
from trainyard.judge.preflight.cluster.health import check

DETECTOR = {"node-problem-detector": {"version": "1.36.0"}}
BOTH = {**DETECTOR, "node-readiness-controller": {"version": "0.5.0"}}
OWN = {"DiskFailed": {"pattern": "md/raid.*: Disk failure on .*", "lasting": True}}

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "nobody looks": ({}, {}, []),
    "both programs": ({"health": {}}, BOTH, []),
    "a fault of one's own": ({"health": {"faults": OWN}}, BOTH, []),
    "a fault that is ignored": ({"health": {"ignore": ["NvlinkError"]}}, BOTH, []),
    "one's own in the place of a known one": (
        {"health": {"ignore": ["NvlinkError"], "faults": {"NvlinkError": {"pattern": "NVRM: .*"}}}},
        BOTH,
        [],
    ),
    "events alone": (
        {"pools": {"gpu": {"shape": "mi300x", "nodes": 4}}, "queues": {}, "health": {}},
        DETECTOR,
        [],
    ),
    "no detector": (
        {"health": {}},
        {},
        ["health: health needs node-problem-detector: it reads the kernel's log; add it to operators"],
    ),
    "nobody taints": (
        {"health": {}},
        DETECTOR,
        ["health: nothing taints nodes with a fault; add node-readiness-controller to operators"],
    ),
    "a pool that is not there": (
        {"health": {"pools": ["gpus"]}},
        BOTH,
        ["health.pools[0]: pool 'gpus' does not exist; did you mean 'gpu'?"],
    ),
    "no pool with GPUs": (
        {"health": {"pools": ["cpu"]}},
        BOTH,
        ["health.pools: no pool with GPUs is watched; add 'gpu', or remove pools"],
    ),
    "pools with GPUs and others": ({"health": {"pools": ["cpu", "gpu"]}}, BOTH, []),
    "a fault that is not known": (
        {"health": {"ignore": ["NvlinkErrors"]}},
        BOTH,
        ["health.ignore[0]: fault 'NvlinkErrors' is not known; did you mean 'NvlinkError'?"],
    ),
    "a name twice": (
        {"health": {"faults": {"NvlinkError": {"pattern": "NVRM: .*"}}}},
        BOTH,
        ["health.faults.NvlinkError: fault 'NvlinkError' is known already; use another name, or add it to ignore"],
    ),
    "a pattern of every line": (
        {"health": {"faults": {"DiskFailed": {"pattern": ".*", "lasting": True}}}},
        BOTH,
        ["health.faults.DiskFailed.pattern: pattern '.*' matches every line of the log; write the words of the fault"],
    ),
    "a pattern of empty lines": ({"health": {"faults": {"Empty": {"pattern": "^$"}}}}, BOTH, []),
    "no GPUs": (
        {"pools": {"cpu": {"shape": CPU_NODE, "nodes": 4}}, "queues": {}, "health": {}},
        BOTH,
        ["health: no pool has GPUs, so no node is watched; name pools"],
    ),
}


@pytest.mark.parametrize(("changes", "operators", "expected"), CASES.values(), ids=CASES)
def test_health_names_what_there_is(changes, operators, expected):
    """Each finding stands at the field, and a cluster without the field has none."""
    said = {**changes, "operators": {**CLUSTER["operators"], **operators}}
    found = check(make_cluster(**said), make_source("platform/clusters/test.yaml", {**CLUSTER, **said}))
    assert [f"{finding.path}: {finding.message}" for finding in found] == expected


GATE = "TASReplaceNodeOnNodeTaints"


@pytest.mark.parametrize(
    ("changes", "count"),
    {
        "with health": ({"health": {}}, 1),
        "without health": ({}, 0),
        "without a topology": ({"health": {}, "topology": []}, 0),
    }.values(),
)
def test_a_gate_that_moves_runs(changes, count):
    """A gate of Kueue without which a run keeps its faulty node is not turned off where nodes are tainted."""
    values = {"controllerManager": {"featureGates": [{"name": GATE, "enabled": False}]}}
    said = {**changes, "operators": {**CLUSTER["operators"], "kueue": {"version": "0.19.2", "values": values}}}
    found = check_gates(make_cluster(**said), make_source("platform/clusters/test.yaml", {**CLUSTER, **said}))
    assert [GATE in finding.message and finding.path == "health" for finding in found] == [True] * count


@pytest.mark.parametrize("pattern", ["(", "(?=Xid)"])
def test_a_pattern_is_one_of_go(pattern):
    """The detector stops at the start with an expression that Go does not read."""
    with pytest.raises((SpecError, ValueError), match="RE2"):
        make_cluster(health={"faults": {"Mine": {"pattern": pattern}}})
