"""Ranks of JAX, XGBoost and Paddle really meet, started by the commands that are rendered for them."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from make import make_resolved
from trainyard.kinds.objects import begun
from trainyard.parts.storage import LAUNCH_FOLDER

PROGRAMS = {
    "jax": """
import os, jax
count, index = int(os.environ["JAX_NUM_PROCESSES"]), int(os.environ["JAX_PROCESS_ID"])
jax.distributed.initialize(num_processes=count, process_id=index)
from jax.experimental.multihost_utils import process_allgather
print("MET", jax.process_index(), jax.process_count(), int(process_allgather(jax.process_index() + 1).sum()))
""",
    "xgboost": """
import os, numpy
from xgboost import collective
address, port, task = (os.environ[f"DMLC_{name}"] for name in ("TRACKER_URI", "TRACKER_PORT", "TASK_ID"))
with collective.CommunicatorContext(dmlc_tracker_uri=address, dmlc_tracker_port=int(port), dmlc_task_id=task):
    total = collective.allreduce(numpy.array([collective.get_rank() + 1]), collective.Op.SUM)
    print("MET", collective.get_rank(), collective.get_world_size(), int(total[0]))
""",
    "paddle": """
import paddle, paddle.distributed as ranks
ranks.init_parallel_env()
total = paddle.to_tensor([ranks.get_rank() + 1])
ranks.all_reduce(total)
print("MET", ranks.get_rank(), ranks.get_world_size(), int(total[0]))
""",
}
"""By launcher, which has the name of its framework: what a rank is, of how many, and the sum over all of rank + 1."""

PROCESSES = {"paddle": 2}
"""Processes a pod, where it is not one; a single one of Paddle on CPUs has no group of all."""


def interpreter(framework: str) -> str:
    """Return a Python that has the framework: `TRAINYARD_PYTHON_<FRAMEWORK>`, or this one; skips where it has not."""
    python = os.environ.get(f"TRAINYARD_PYTHON_{framework.upper()}", sys.executable)
    if subprocess.run([python, "-c", f"import {framework}"], capture_output=True).returncode:
        pytest.skip(f"{framework} is not installed; TRAINYARD_PYTHON_{framework.upper()} may name a Python that has it")
    return python


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def started(folder: Path, python: str, launcher: str, kind: str, index: int, port: int) -> subprocess.Popen[str]:
    """Start one pod's container as a process: its variables, those of its operator, and names as loopback."""
    size = {"nodes": 2, "pool": "cpu", "gpus_per_node": 0, "cpus_per_node": 2}
    processes = {"processes_per_node": PROCESSES.get(launcher)}
    run = make_resolved(kind=kind, launcher=launcher, program="train.py", **size, **processes)
    (role,) = run.roles
    for name, text in run.launch.files.items():
        (folder / name).write_text(text)
    told: dict[str, Any] = {name: sized.value for name, sized in role.env.items()}
    told |= dict.fromkeys((run.wiring.rank, *run.wiring.fields, *role.fields), str(index))
    addresses = {run.wiring.host("worker", each): "localhost" for each in (0, 1)}

    def local(text: str) -> str:
        text = re.sub(r"\$\(([A-Z_]+)\)", lambda found: str(told[found[1]]), text)
        for host, address in addresses.items():
            text = text.replace(host, address)
        return text.replace(str(run.wiring.port), str(port)).replace(LAUNCH_FOLDER, str(folder))

    env = {name: local(value) for name, value in told.items()}
    path = f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}"
    argv = [local(each).replace("/tmp/paddle", f"{folder}/logs-{index}") for each in (*begun(role), *role.args)]
    whole = {**os.environ, **env, "PATH": path, "JAX_PLATFORMS": "cpu"}
    whole.pop("PYTHONPATH", None)
    return subprocess.Popen(argv, cwd=folder, env=whole, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["JobSet", "own"])
@pytest.mark.parametrize("launcher", PROGRAMS)
def test_two_pods_meet(tmp_path, launcher, kind):
    """Ranks are the pods' indices, and what they compute together is right, whichever kind carries them."""
    python = interpreter(launcher)
    own = {"jax": "JAXJob", "xgboost": "XGBoostJob", "paddle": "PaddleJob"}
    (tmp_path / "train.py").write_text(PROGRAMS[launcher])
    port = free_port()
    kind = own[launcher] if kind == "own" else kind
    pods = [started(tmp_path, python, launcher, kind, index, port) for index in (1, 0)]
    try:
        outputs = [pod.communicate(timeout=150)[0] for pod in pods]
    finally:
        for pod in pods:
            pod.kill()
    assert [pod.returncode for pod in pods] == [0, 0], "\n".join(outputs)
    each = PROCESSES.get(launcher, 1)
    total = sum(range(2 * each + 1))
    for index, output in zip((1, 0), outputs, strict=True):
        assert f"MET {index * each} {2 * each} {total}" in output, output
