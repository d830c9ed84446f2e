"""A run says how soon it ends when its ranks wait for one another, where that is known."""

from __future__ import annotations

import os
import subprocess
import time

import pytest

from make import CLUSTER, make_cluster, make_run
from trainyard.judge.preflight.job import hangs as of_job
from trainyard.render.kinds import hangs, resolve

OFF = {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "0"}

CASES = {
    "PyTorch's watchdog": ({}, ["10 minutes"]),
    "the watchdog is off": ({"env": OFF, "maxHours": 12}, ["12 hours"]),
    "the watchdog is off, and no deadline": ({"env": OFF}, ["none"]),
    "the default, written": ({"env": {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "3"}}, ["10 minutes"]),
    "one rank": ({"nodes": 1, "gpusPerNode": 1}, []),
    "no GPUs": ({"pool": "cpu", "gpusPerNode": 0}, []),
}


@pytest.mark.parametrize(("changes", "expected"), CASES.values(), ids=CASES)
def test_a_hung_collective(changes, expected):
    """Only torchrun with several ranks on GPUs has a bound that is known here."""
    changes = {name.replace("maxHours", "max_hours"): value for name, value in changes.items()}
    assert [sized.value for _, sized in hangs.facts(resolve(make_run(**changes)))] == expected


LOOKS = {"no sign yet": (None, 0), "a fresh sign": (30, 0), "an old sign": (400, 1)}


@pytest.mark.parametrize(("age", "code"), LOOKS.values(), ids=LOOKS)
def test_the_kubelet_looks_at_the_sign_of_life(tmp_path, age, code):
    """Its command fails when the file is older than the bound, and not where there is none."""
    beat = tmp_path / "heartbeat"
    if age is not None:
        beat.touch()
        os.utime(beat, (time.time() - age, time.time() - age))
    run = make_run(hang_minutes=5)
    probe = hangs.probe(run, resolve(run).roles[0].size)["livenessProbe"]
    shell, option, script = probe["exec"]["command"]
    told = script.replace("/tmp/heartbeat", str(beat))
    assert subprocess.run([shell, option, told], check=False).returncode == code
    assert subprocess.run([f"/bin/{shell}", option, told], check=False, env={"PATH": "/none"}).returncode == 0


def test_signs_of_life_bound_any_launcher():
    """The bound is said of every launcher, the program is told the file, and only pods with ranks have the probe."""
    run = resolve(make_run(launcher="mpirun", kind="MPIJob", hang_minutes=5))
    assert [sized.value for _, sized in hangs.facts(run)] == ["9 minutes"]
    by_role = {role.name: hangs.probe(run.run, role.size) for role in run.roles}
    assert [name for name, probe in by_role.items() if probe] == ["worker"]
    assert run.contract(run.roles[0])["HEARTBEAT_FILE"].value == "/tmp/heartbeat"
    assert not hangs.probe(make_run(), run.roles[0].size)


TOO_SHORT = {"volume": "checkpoints", "size": "800Gi"}
FAST = make_cluster(storage={"shared": {**CLUSTER["storage"]["shared"], "throughput": "1Gi"}})
REFUSED = {
    "long enough": ({"hang_minutes": 108, "checkpoint": TOO_SHORT, "cluster": FAST}, []),
    "shorter than a save": (
        {"hang_minutes": 5, "checkpoint": TOO_SHORT, "cluster": FAST},
        ["hangMinutes is 5, but a checkpoint may take 108 minutes; raise it"],
    ),
    "shorter than a save, if storage were slow": ({"hang_minutes": 5, "checkpoint": TOO_SHORT}, []),
    "Ray": (
        {"hang_minutes": 5, "launcher": "ray", "kind": "RayJob"},
        ["hangMinutes does not work with launcher 'ray', which has probes of its own; remove it"],
    ),
}


@pytest.mark.parametrize(("changes", "messages"), REFUSED.values(), ids=REFUSED)
def test_bounds_that_hold(changes, messages):
    """A program has time to save within the bound, and somebody keeps it."""
    assert [finding.message for finding in of_job.check(resolve(make_run(**changes)))] == messages
