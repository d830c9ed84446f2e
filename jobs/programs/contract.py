"""What docs/programs.md asks of a training program, without any framework: its end, its folder, its checkpoints.

`gang.py` and `keeper.py` make a training loop of it. Copy the three beside a program of your own.
"""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

BEATS = 6
"""Signs of life in the time after which a lease is free."""

LOOK = 0.05
"""Seconds between two looks at whether the end has come."""


@dataclass(frozen=True)
class Contract:
    """What the job says, by the variables that every training container has."""

    run: str
    folder: Path | None
    """Where checkpoints go; none for a job without `checkpoint`."""
    every_seconds: float
    keep: int
    grace_seconds: float
    heartbeat: Path | None = None
    """File to touch at every step, by which the kubelet sees that the program does not hang."""

    @classmethod
    def read(cls) -> Contract:
        """Return what the environment says; by hand, without any, nothing is saved."""
        folder, heartbeat = os.environ.get("CHECKPOINT_DIR"), os.environ.get("HEARTBEAT_FILE")
        return cls(
            run=os.environ.get("RUN_NAME", "by-hand"),
            folder=Path(folder) if folder else None,
            every_seconds=60 * float(os.environ.get("CHECKPOINT_EVERY_MINUTES", "30")),
            keep=int(os.environ.get("CHECKPOINT_KEEP", "2")),
            grace_seconds=float(os.environ.get("CHECKPOINT_GRACE_SECONDS", "30")),
            heartbeat=Path(heartbeat) if heartbeat else None,
        )


class End:
    """Whether this process was told to end, and when.

    The handler takes no lock: a `threading.Event` that it set while the main thread was about to wait for it would hold
    both for good. Whoever waits looks again and again.
    """

    def __init__(self) -> None:
        self.at: float | None = None
        signal.signal(signal.SIGTERM, self.tell)

    def tell(self, *_: object) -> None:
        """Remember the first time."""
        if self.at is None:
            self.at = time.monotonic()

    def told(self, *, within: float = 0) -> bool:
        """Return whether it was, or is within as many seconds."""
        until = time.monotonic() + within
        while self.at is None and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, LOOK))
        return self.at is not None

    def left(self, grace_seconds: float) -> float:
        """Return the seconds until the pod is killed; another pod of the gang may have been told a moment ago."""
        since = time.monotonic() - self.at if self.at is not None else 0.0
        return grace_seconds - since


class Lease:
    """The right to write into a folder: a file that its holder writes again and again.

    Only whether its text changes counts, never a time in it: clocks of nodes differ. A file that is missing for a
    moment, as on object stores that rename by copying, takes nothing from its holder; another name in it does.
    """

    def __init__(self, folder: Path, run: str, *, seconds: float = 60) -> None:
        self.file, self.name = folder / "lease", f"{run}/{uuid.uuid4()}"
        self.seconds, self.beat = seconds, seconds / BEATS
        self.lost, self.over = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self.keep, name="lease", daemon=True)

    def holder(self) -> str:
        """Return who holds it, or nothing."""
        return self.text().partition(" ")[0]

    def text(self) -> str:
        """Return what stands in the file, or nothing."""
        try:
            return self.file.read_text()
        except FileNotFoundError:
            return ""

    def sign(self) -> None:
        """Write a sign of life that differs from the last one."""
        new = self.file.with_name(f"lease-{uuid.uuid4()}")
        new.write_text(f"{self.name} {time.monotonic_ns()}")
        new.replace(self.file)

    def take(self, end: End, *, patience: float) -> str:
        """Wait until nobody else gives signs of life, then write our name and see whether it stays.

        Return nothing once it is ours, else whose it is after `patience` seconds, or when this process has to end.
        """
        until = time.monotonic() + patience
        while self.holder() != self.name:
            seen, since = self.text(), time.monotonic()
            while seen and time.monotonic() - since < self.seconds:
                if end.told(within=self.beat / 2) or time.monotonic() > until:
                    return seen.partition(" ")[0]
                if self.text() != seen:
                    seen, since = self.text(), time.monotonic()
            self.sign()
            time.sleep(self.beat)
        self.thread.start()
        return ""

    def keep(self) -> None:
        """Give signs of life for as long as the program runs and nobody else has written."""
        while not self.over.wait(self.beat):
            if not self.held():
                return
            self.sign()

    def held(self) -> bool:
        """Whether nobody else has taken it, and we have not let go of it."""
        if self.holder() not in ("", self.name):
            self.lost.set()
        return not self.lost.is_set()

    def leave(self) -> None:
        """Let the next run begin at once."""
        self.over.set()
        if self.thread.is_alive():
            self.thread.join()
        self.lost.set()
        if self.holder() == self.name:
            self.file.unlink()


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints in a folder, one a folder of its own: `step-<step>-<letters>`, never written twice.

    The letters keep a rank that nobody can reach any more from writing into what the next attempt saves.
    """

    folder: Path
    whole: Callable[[Path], bool]
    """Says of a folder whether everything is there; it may rely on the marker that is written last."""

    def complete(self) -> list[tuple[int, Path]]:
        """Return steps and folders of complete checkpoints, oldest first."""
        return sorted((step, path) for step, path in self.all() if self.whole(path))

    def all(self) -> list[tuple[int, Path]]:
        """Return every folder that is named as a checkpoint, with its step."""
        named = ((path.name.split("-"), path) for path in self.folder.glob("step-*-*"))
        return [(int(words[1]), path) for words, path in named if words[1].isdigit()]

    def new(self, step: int) -> Path:
        """Make a folder for a checkpoint of this step."""
        path = self.folder / f"step-{step}-{uuid.uuid4().hex[:8]}"
        path.mkdir()
        return path

    def prune(self, keep: int, marker: str) -> None:
        """Delete all but the newest complete ones, each marker first, so that half of one never counts."""
        kept = {path for _, path in self.complete()[-keep:]}
        for _, path in self.all():
            if path not in kept:
                (path / marker).unlink(missing_ok=True)
                shutil.rmtree(path, ignore_errors=True)
