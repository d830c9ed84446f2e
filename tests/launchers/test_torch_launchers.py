"""Accelerate's and DeepSpeed's command lines start real ranks, as the commands of those projects do.

Two pods are two processes on loopback: their command lines are the rendered ones, with their index in them.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from make import make_run
from trainyard.render.launchers import Wiring, launchers
from trainyard.render.sizing import size

pytestmark = [pytest.mark.torch, pytest.mark.slow]

NODES, PROCESSES = 2, 2

PROGRAM = """\
import json, os, pathlib, sys

if "accelerate" in sys.argv:
    from accelerate import Accelerator

    mine = Accelerator()
    said = {"rank": mine.process_index, "world": mine.num_processes, "type": str(mine.distributed_type)}
else:
    said = {name: os.environ.get(name) for name in NAMES}
said["argv"] = sys.argv[1:]
pathlib.Path(__file__).with_name(f"said-{os.environ['RANK']}.json").write_text(json.dumps(said))
"""
NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_SIZE", "CROSS_RANK", "CROSS_SIZE", "MASTER_ADDR", "MASTER_PORT")


def free() -> int:
    """Return a port that nobody has."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def rendered(launcher: str, port: int, index: int, *args: str) -> tuple[list[str], Mapping[str, str]]:
    """Return the command line and variables of one pod, whose first is this machine."""
    wiring = Wiring(host=lambda *_: "127.0.0.1", rank="INDEX", rank_field="x", port=port)
    shape: dict[str, Any] = {"pool": "cpu", "gpus_per_node": 0, "cpus_per_node": 2, "processes_per_node": PROCESSES}
    run = replace(make_run(launcher=launcher, nodes=NODES, program="rank.py", args=list(args), **shape), digest="x")
    (role,) = launchers()[launcher].launch(run, size(run, launchers()[launcher].roles(run)), wiring).roles
    words = [word.replace("$(INDEX)", str(index)) for word in (*role.command, *role.args)]
    return words, {name: sized.value for name, sized in role.env.items()}


def started(folder: Path, lines: Sequence[tuple[list[str], Mapping[str, str]]]) -> list[dict[str, Any]]:
    """Start all pods in a folder, and return what their ranks say, by rank."""
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(sys.executable)
    for name, module in (("torchrun", "torch.distributed.run"), ("deepspeed", "deepspeed.launcher.runner")):
        (folder / "bin" / name).write_text(f'#!/bin/sh\nexec {sys.executable} -m {module} "$@"\n')
        (folder / "bin" / name).chmod(0o755)
    (folder / "bin" / "accelerate").write_text(
        f'#!/bin/sh\nexec {sys.executable} -m accelerate.commands.accelerate_cli "$@"\n'
    )
    (folder / "bin" / "accelerate").chmod(0o755)
    (folder / "rank.py").write_text(PROGRAM.replace("NAMES", repr(NAMES)))
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    with contextlib.ExitStack() as stack:
        pods = []
        for number, (words, env) in enumerate(lines):
            log = stack.enter_context((folder / f"{number}.log").open("w"))
            told = {**os.environ, **env, "PATH": path, "CUDA_VISIBLE_DEVICES": ""}
            pods.append(subprocess.Popen(words, cwd=folder, env=told, stdout=log, stderr=log))
        codes = [pod.wait(240) for pod in pods]
    logs = "\n".join((folder / f"{number}.log").read_text()[-2000:] for number in range(len(lines)))
    assert codes == [0] * len(lines), logs
    return [json.loads((folder / f"said-{rank}.json").read_text()) for rank in range(NODES * PROCESSES)]


def test_ranks_of_deepspeed_are_told_what_its_own_launcher_tells(tmp_path):
    """Arguments and variables are the same, rank by rank, but for the port where this test has them meet."""
    pytest.importorskip("deepspeed", reason="DeepSpeed is not installed")
    (ours := tmp_path / "ours").mkdir()
    (theirs := tmp_path / "theirs").mkdir()
    here = free()
    found = started(ours, [rendered("deepspeed", here, index, "--rate", "a b") for index in range(NODES)])
    (theirs / "hostfile").write_text("".join(f"pod-{index} slots={PROCESSES}\n" for index in range(NODES)))
    there = free()
    options = ["--hostfile=hostfile", "--no_ssh", "--master_addr=127.0.0.1", f"--master_port={there}"]
    own = [["deepspeed", *options, f"--node_rank={index}", "rank.py", "--rate", "a b"] for index in range(NODES)]
    wanted = started(theirs, [(words, {}) for words in own])
    assert json.loads(re.sub(rf"\b{there}\b", str(here), json.dumps(wanted))) == found


def test_ranks_of_accelerate_know_each_other(tmp_path):
    """On CPUs too every rank knows its number and how many there are."""
    pytest.importorskip("accelerate", reason="Accelerate is not installed")
    port = free()
    found = started(tmp_path, [rendered("accelerate", port, index, "accelerate") for index in range(NODES)])
    assert [(item["rank"], item["world"]) for item in found] == [(rank, 4) for rank in range(4)]
    assert {item["type"] for item in found} == {"DistributedType.MULTI_CPU"}
