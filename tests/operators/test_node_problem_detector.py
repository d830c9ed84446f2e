"""The detector finds in the kernel's log what its facts say, on the pools that are watched, and nothing else."""

from __future__ import annotations

import json

import pytest
import re2

from conftest import ROOT
from make import CLUSTER, CPU_NODE, make_cluster
from trainyard.render.operators.install import installed_operators
from trainyard.render.sizing.health import watched_faults
from trainyard.specs.faults import hardware

OPERATORS = {
    **CLUSTER["operators"],
    "node-problem-detector": {"version": "1.36.0"},
    "node-readiness-controller": {"version": "0.5.0"},
}
POOLS = {
    "gpu": {"shape": "dgx-h100", "nodes": 4, "taints": [{"key": "nvidia.com/gpu"}]},
    "amd": {"shape": "mi300x", "nodes": 2},
    "cpu": {"shape": CPU_NODE, "nodes": 4},
}

LINES = {
    "NVRM: Xid (PCI:0000:c6:00): 79, pid=1101234, name=nvc:[driver], GPU has fallen off the bus.": "GpuOffTheBus",
    "NVRM: Xid (PCI:0000:b9:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.": "GpuOffTheBus",
    "NVRM: Xid (PCI:0000:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)": (
        "GpuRecoveryNeeded"
    ),
    "NVRM: Xid (PCI:0000:01:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)": None,
    "NVRM: Xid (PCI:0000:3b:00): 48, pid=9, An uncorrectable double bit error (DBE) has been detected": (
        "GpuMemoryUncorrectable"
    ),
    "NVRM: Xid (PCI:0000:01:00): 120, GSP kernel exception: store access page fault (cause:0xf)": "GpuStopped",
    "NVRM: Xid (PCI:0000:10:1c): 63, pid=1896, Row Remapper: New row marked for remapping, reset gpu to activate.": (
        "GpuRowsRemapped"
    ),
    "NVRM: Xid (PCI:0000:ca:00): 31, pid=1587983, name=exe, Ch 0000000a, intr 00000000. MMU Fault": None,
    "NVRM: Xid (PCI:0000:ca:00): 43, pid=79, name=exe, Ch 00000048": None,
    "NVRM: Xid (PCI:0000:ca:00): 13, pid=48, Graphics Exception": None,
    "mlx5_core 0000:5c:00.0: Port module event[error]: module 0, Cable error, High Temperature": "NicCableError",
    "mlx5_core 0000:5c:00.0: Port module event: module 0, Cable plugged": None,
    "mlx5_core 0000:12:00.0: mlx5_pcie_event:299: Detected insufficient power on the PCIe slot (27W).": "NicPowerLow",
    "amdgpu 0000:01:00.0: amdgpu: 2 uncorrectable hardware errors detected in umc block": "GpuMemoryUncorrectable",
    "amdgpu 0000:01:00.0: amdgpu: socket: 0, die: 1, 2 new uncorrectable hardware errors detected in gfx block": (
        "GpuMemoryUncorrectable"
    ),
    "amdgpu 0000:c3:00.0: amdgpu: no uncorrectable hardware errors detected in umc block": None,
    "amdgpu 0000:c3:00.0: amdgpu: 0 uncorrectable hardware errors detected in umc block": None,
    "amdgpu 0000:01:00.0: amdgpu: GPU reset begin!": None,
}


def objects(**changes):
    """Return the objects of both operators, by kind."""
    cluster = make_cluster(pools=POOLS, queues={}, operators=OPERATORS, **{"health": {}, **changes})
    found = [resource for site, known in installed_operators(cluster) for resource in known.own(site)]
    return {kind: [item.value() for item in found if item.kind == kind] for kind in {item.kind for item in found}}


@pytest.mark.parametrize(("line", "expected"), LINES.items())
def test_a_line_of_the_log(line, expected):
    """A pattern matches to the end of the line, as the detector has it, and tells a fault from what is none."""
    cluster = make_cluster(pools=POOLS, queues={}, operators=OPERATORS, health={})
    found = {fault.reason for fault in watched_faults(cluster) if re2.search(fault.pattern + r"\z", line)}
    assert found == ({expected} if expected else set())


def test_every_rule_has_its_condition():
    """The detector drops a lasting fault whose condition it was not given."""
    (config,) = objects(health={"faults": {"Mine": {"pattern": "x.*", "lasting": True}}})["ConfigMap"]
    monitor = json.loads(config["data"]["kernel.json"])
    given = {condition["type"] for condition in monitor["conditions"]}
    assert given == {"GpuFault", "NodeFault"}
    assert {rule.get("condition") for rule in monitor["rules"]} == {*given, None}


@pytest.mark.parametrize(("health", "pools"), [({}, ["gpu", "amd"]), ({"pools": ["cpu"]}, ["cpu"])])
def test_where_it_runs(health, pools):
    """It runs on the pools with GPUs, or on those that the file names, whatever their taints."""
    (daemons,) = objects(health=health)["DaemonSet"]
    pod = daemons["spec"]["template"]["spec"]
    (term,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == pools
    assert pod["tolerations"] == [{"operator": "Exists"}]


def test_its_pods_follow_its_monitor():
    """Another fault is another pod, since the detector reads its monitor at the start."""

    def annotations(**changes):
        return objects(**changes)["DaemonSet"][0]["spec"]["template"]["metadata"]["annotations"]

    assert annotations() == annotations()
    assert annotations() != annotations(health={"ignore": ["NvlinkError"]})


def test_a_rule_for_each_pool():
    """Nodes of a watched pool get the taint while the condition is True, and nodes without the condition do not."""
    rules = objects(health={"effect": "NoExecute"})["NodeReadinessRule"]
    assert [rule["metadata"]["name"] for rule in rules] == ["gpufault-gpu", "gpufault-amd"]
    spec = rules[0]["spec"]
    assert spec["taint"] == {"key": "readiness.k8s.io/GpuFault", "effect": "NoExecute"}
    assert spec["conditions"] == [{"type": "GpuFault", "requiredStatus": "False", "defaultStatus": "False"}]


def test_ignored_faults_are_not_looked_for():
    """What the file ignores is neither condition nor event."""
    config = objects(health={"ignore": ["GpuOffTheBus"]})["ConfigMap"][0]["data"]["kernel.json"]
    assert "GpuOffTheBus" not in config


def test_lasting_faults_have_a_condition():
    """Every lasting fault of the facts belongs to hardware with a condition."""
    lacking = [
        reason
        for kind in hardware().values()
        for reason, fault in kind.faults.items()
        if fault.lasting and not kind.condition
    ]
    assert lacking == []


def test_the_page_lists_every_fault():
    """Who writes `ignore` finds the names on the page."""
    page = (ROOT / "docs/health.md").read_text(encoding="utf-8")
    rows = [(reason, fault.what) for kind in hardware().values() for reason, fault in kind.faults.items()]
    assert [reason for reason, what in rows if f"| `{reason}` (" not in page or f"| {what} |" not in page] == []
