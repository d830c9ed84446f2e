"""Ranks of a training program as processes of this machine: each is forked from one that has torch already."""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import os
import re
import runpy
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT

PROGRAMS = ROOT / "jobs" / "programs"

SAID = re.compile(r"^step=(\d+) loss=(\S+)", re.MULTILINE)
"""What rank 0 says of a step."""

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None,
    reason="torch is not installed, so nothing trains: pip install --constraint constraints.txt --editable '.[train]'",
)

needs_joblib = pytest.mark.skipif(
    importlib.util.find_spec("joblib") is None, reason="joblib is not installed: pip install joblib"
)

forks = multiprocessing.get_context("forkserver")


def rank(program: str, arguments: Sequence[str], variables: Mapping[str, str], out: int, said: Any, kept: str) -> None:
    """Be a rank: run the program as its own, with its output where the test reads it."""
    os.dup2(said.fileno() if said is not None else os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_APPEND), out)
    os.dup2(os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    import torch

    torch.set_num_threads(1)
    os.environ.update(variables)
    sys.argv, sys.path[0:0] = [program, *arguments], [str(PROGRAMS)]
    runpy.run_path(str(PROGRAMS / program), run_name="__main__")


@dataclass
class Ranks:
    """A gang that has been started; its first rank's output is read as it comes."""

    processes: list[BaseProcess]
    said: Any
    kept: Path
    text: str = ""

    def until(self, wanted: str) -> str:
        """Read until a line has this in it, and return the line."""
        for line in self.said:
            self.text += line
            if wanted in line:
                return line
        pytest.fail(f"{wanted!r} never came\n{self.text}\n{self.errors()}")

    def ended(self) -> list[int | None]:
        """Wait for all, and return their exit codes."""
        self.text += self.said.read()
        for process in self.processes:
            process.join(60)
        return [process.exitcode for process in self.processes]

    def errors(self) -> str:
        """Return what the ranks wrote besides."""
        return self.kept.read_text()[-4000:] if self.kept.exists() else ""

    def losses(self) -> dict[int, str]:
        """Return the loss of each step, as it was printed; the last word on a step counts."""
        return {int(step): loss for step, loss in SAID.findall(self.text)}

    def tell(self, *ranks: int) -> None:
        """Send SIGTERM to these ranks, or to all, as the kubelet does."""
        for at in ranks or range(len(self.processes)):
            self.processes[at].terminate()

    def kill(self, at: int) -> None:
        """End a rank without a word."""
        self.processes[at].kill()


@dataclass
class Launcher:
    """Starts gangs on one folder of checkpoints, and ends what is left of them."""

    folder: Path
    kept: Path
    begun: list[Ranks] = field(default_factory=list)

    def __call__(self, program: str, arguments: Sequence[object], *, world: int = 2, **changes: str) -> Ranks:
        """Start the ranks of a program, told what a job with checkpoints tells."""
        told = {
            "RUN_NAME": "count-0aaaaaaa",
            "CHECKPOINT_DIR": str(self.folder),
            "CHECKPOINT_EVERY_MINUTES": "1000",
            "CHECKPOINT_KEEP": "2",
            "CHECKPOINT_GRACE_SECONDS": "60",
            "CUDA_VISIBLE_DEVICES": "",
            "WORLD_SIZE": str(world),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(free_port()),
            **changes,
        }
        told = {name: value for name, value in told.items() if value}
        words = [*map(str, arguments)]
        ours, theirs = forks.Pipe(duplex=False)
        processes = []
        for at in range(world):
            place = {"RANK": str(at), "LOCAL_RANK": str(at)} if world > 1 or "MASTER_ADDR" in told else {}
            said = theirs if at == 0 else None
            process = forks.Process(target=rank, args=(program, words, {**told, **place}, 1, said, str(self.kept)))
            process.start()
            processes.append(process)
        theirs.close()
        stream = os.fdopen(os.dup(ours.fileno()), encoding="utf-8")
        self.begun.append(Ranks(processes, stream, self.kept))
        return self.begun[-1]

    def steps(self, marker: str) -> list[int]:
        """Return the steps of the checkpoints that have the marker."""
        return sorted(int(path.parent.name.split("-")[1]) for path in self.folder.glob(f"step-*/{marker}"))

    def end(self) -> None:
        """End whatever still runs."""
        for gang in self.begun:
            for process in gang.processes:
                if process.is_alive():
                    os.kill(process.pid or 0, signal.SIGKILL)
                process.join(10)
            gang.said.close()


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def metrics(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of a folder's metrics."""
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
