"""Nodes with disks of their own, a volume that stays, and the real program that copies from one to the other."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trainyard.render.parts import flush_program

PROGRAM = Path(flush_program.__file__)
SHARD = 200_000
"""Bytes of a node's file of a checkpoint."""

State = dict[str, bytes]


@dataclass
class Attempt:
    """The pods of one attempt: their local disks, and the processes beside training."""

    number: int
    disks: list[Path]
    agents: dict[int, subprocess.Popen[str]] = field(default_factory=dict)
    logs: list[Path] = field(default_factory=list)


@dataclass
class Job:
    """A job whose nodes save to their own disks."""

    folder: Path
    nodes: int
    keep: int = 2
    extra: Mapping[str, str] = field(default_factory=dict)
    saved: dict[str, State] = field(default_factory=dict)
    """What was saved, by the name of the checkpoint's folder."""
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def volume(self) -> Path:
        """The folder that stays."""
        return self.folder / "volume"

    def begin(self) -> Attempt:
        """Make pods on empty disks, and the volume where it is not yet."""
        number = len(self.attempts)
        disks = [self.folder / f"attempt-{number}" / str(index) for index in range(self.nodes)]
        for disk in (*disks, self.volume):
            disk.mkdir(parents=True, exist_ok=True)
        attempt = Attempt(number, disks)
        self.attempts.append(attempt)
        return attempt

    def start(self, attempt: Attempt, index: int, what: str, limit: int | None = None) -> subprocess.Popen[str]:
        """Start the program on a node; `limit` are the bytes above which it can write no file."""
        env = {
            "PATH": os.environ["PATH"],
            "FLUSH_LOCAL": str(attempt.disks[index]),
            "FLUSH_DURABLE": str(self.volume),
            "FLUSH_NODES": str(self.nodes),
            "JOB_COMPLETION_INDEX": str(index),
            "FLUSH_KEEP": str(self.keep),
            "FLUSH_MARKER": "complete",
            "FLUSH_LOOK_SECONDS": "0.01",
            "FLUSH_PATIENCE_SECONDS": "30",
            **self.extra,
        }
        log = self.folder / f"{attempt.number}-{index}-{what}.log"
        attempt.logs.append(log)
        full = None if limit is None else (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        with log.open("a") as out:
            return subprocess.Popen(
                [sys.executable, str(PROGRAM), what], env=env, stdout=out, stderr=out, text=True, preexec_fn=full
            )

    def restore(self, attempt: Attempt) -> list[int]:
        """Run what runs before training on every node, and return the exit codes."""
        ran = [self.start(attempt, index, "restore") for index in range(self.nodes)]
        return [process.wait(timeout=60) for process in ran]

    def attend(self, attempt: Attempt, index: int, limit: int | None = None) -> None:
        """Start what runs beside training, as the kubelet does again after each end."""
        attempt.agents[index] = self.start(attempt, index, "keep", limit)

    def kill(self, attempt: Attempt, *indices: int, sign: int = signal.SIGKILL) -> list[int]:
        """End what runs beside training, and return the exit codes."""
        for index in indices or tuple(attempt.agents):
            attempt.agents[index].send_signal(sign)
        return [attempt.agents.pop(index).wait(timeout=60) for index in indices or tuple(attempt.agents)]

    def save(self, attempt: Attempt, step: int, chance: random.Random) -> str:
        """Save on all nodes as sharded checkpoints are: the first node writes the marker after all the others."""
        name, state = f"step-{step}", State()
        for index, disk in enumerate(attempt.disks):
            for part in range(2):
                path = f"part/__{index}_{part}.distcp"
                target = disk / name / path
                target.parent.mkdir(parents=True, exist_ok=True)
                state[path] = chance.randbytes(chance.randrange(1, SHARD))
                target.write_bytes(state[path])
                skewed = chance.choice((0, 1e9, 4e9))
                os.utime(target, (skewed, skewed))
        state["complete"] = f"{attempt.number} {step}".encode()
        (attempt.disks[0] / name / "complete").write_bytes(state["complete"])
        self.saved[f"{attempt.number}/{name}"] = state
        return name

    def acknowledged(self) -> int:
        """Return the newest step that was reported as stored."""
        lines = [line for log in self.folder.glob("*.log") for line in log.read_text().splitlines()]
        return max((int(line.split("=")[1].split()[0]) for line in lines if "stored step=" in line), default=-1)

    def seen(self, attempt: Attempt) -> list[tuple[str, State]]:
        """Return the checkpoint that each node finds on its disk; a node that finds none has an empty one."""
        found = []
        for disk in attempt.disks:
            folders = [path for path in disk.iterdir() if path.name.startswith("step-")]
            assert len(folders) < 2
            state = {
                str(path.relative_to(folder)): path.read_bytes()
                for folder in folders
                for path in sorted(folder.rglob("*"))
                if path.is_file()
            }
            found.append((folders[0].name if folders else "", state))
        return found

    def end(self) -> None:
        """Leave no process."""
        for attempt in self.attempts:
            if attempt.agents:
                self.kill(attempt)


def until(holds: Callable[[], bool], seconds: float = 30) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never held"
        time.sleep(0.01)
