"""Ranks of JAX, XGBoost and Paddle really meet, started by the commands that are rendered for them."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from interpreters import interpreter
from make import make_resolved
from trainyard.render.kinds.objects import begun
from trainyard.render.parts.storage import LAUNCH_FOLDER

LAUNCHERS = ("jax", "xgboost", "paddle")
"""Each has the name of its framework."""

PROGRAM = "roll_call.py"

PROCESSES = {"paddle": 2}
"""Processes a pod, where it is not one; a single one of Paddle on CPUs has no group of all."""


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def started(folder: Path, python: str, launcher: str, kind: str, index: int, port: int) -> subprocess.Popen[str]:
    """Start one pod's container as a process: its variables, those of its operator, and names as loopback."""
    size = {"nodes": 2, "pool": "cpu", "gpus_per_node": 0, "cpus_per_node": 2}
    processes = {"processes_per_node": PROCESSES.get(launcher)}
    run = make_resolved(kind=kind, launcher=launcher, program=PROGRAM, args=[launcher], **size, **processes)
    (role,) = run.roles
    for name, text in run.launch.files.items():
        (folder / name).write_text(text)
    told: dict[str, Any] = {name: sized.value for name, sized in role.env.items()}
    told |= dict.fromkeys((run.wiring.rank, *run.wiring.fields, *role.fields), str(index))
    addresses = {run.wiring.host("worker", item): "localhost" for item in (0, 1)}

    def local(text: str) -> str:
        text = re.sub(r"\$\(([A-Z_]+)\)", lambda found: str(told[found[1]]), text)
        for host, address in addresses.items():
            text = text.replace(host, address)
        return text.replace(str(run.wiring.port), str(port)).replace(LAUNCH_FOLDER, str(folder))

    env = {name: local(value) for name, value in told.items()}
    path = f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}"
    argv = [local(argument).replace("/tmp/paddle", f"{folder}/logs-{index}") for argument in (*begun(role), *role.args)]
    whole = {**os.environ, **env, "PATH": path, "JAX_PLATFORMS": "cpu"}
    whole.pop("PYTHONPATH", None)
    return subprocess.Popen(argv, cwd=folder, env=whole, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["JobSet", "own"])
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_two_pods_meet(tmp_path, launcher, kind):
    """Ranks are the pods' indices, and what they compute together is right, whichever kind carries them."""
    python = interpreter(launcher)
    own = {"jax": "JAXJob", "xgboost": "XGBoostJob", "paddle": "PaddleJob"}
    shutil.copy(ROOT / "jobs" / "programs" / PROGRAM, tmp_path)
    port = free_port()
    kind = own[launcher] if kind == "own" else kind
    pods = [started(tmp_path, python, launcher, kind, index, port) for index in (1, 0)]
    try:
        outputs = [pod.communicate(timeout=150)[0] for pod in pods]
    finally:
        for pod in pods:
            pod.kill()
    assert [pod.returncode for pod in pods] == [0, 0], "\n".join(outputs)
    value = PROCESSES.get(launcher, 1)
    total = sum(range(2 * value + 1))
    for index, output in zip((1, 0), outputs, strict=True):
        assert f"rank {index * value} of {2 * value}: the sum is {total}, wanted is {total}" in output, output
