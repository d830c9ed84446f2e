"""A training loop's book: where it begins, when it saves, what it reports and how it ends (docs/programs.md)."""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Protocol, Self

from contract import Checkpoints, Contract, End, Lease
from gang import Gang

TOLD_TO_END = 143
"""Exit code of a program that was told to end, as a shell says it of SIGTERM; never 0, which is kept for the end."""


class State(Protocol):
    """What is saved and resumed."""

    marker: str
    """Name of the file that is written last."""

    def save(self, folder: Path, lease: Lease | None) -> Future[object]:
        """Begin to save, on every rank; the marker follows when everything else is on disk."""

    def whole(self, folder: Path) -> bool:
        """Whether a checkpoint is complete and nothing of it has been lost since."""

    def load(self, folder: Path) -> None:
        """Take it, on every rank."""


def options(parser: argparse.ArgumentParser) -> None:
    """Add what every program can be told."""
    parser.add_argument("--steps", type=int, default=1000, help="when training is complete")
    parser.add_argument("--log-every", type=int, default=10, metavar="STEPS")
    parser.add_argument("--save-every", type=int, metavar="STEPS", help="besides CHECKPOINT_EVERY_MINUTES")
    parser.add_argument("--lease-seconds", type=float, default=60, help="a folder is free after as long without sign")
    parser.add_argument("--patience", type=float, default=600, help="seconds to wait for a folder that others hold")
    parser.add_argument("--pace", type=float, default=0, help="seconds that a step takes at least, to watch it")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--local-rank", "--local_rank", type=int, help=argparse.SUPPRESS)  # as deepspeed adds it


class Keeper:
    """Keeps the contract for a loop: `step = resume()`, `after(step, …)` each step, `finish(step)` at the end.

    Every rank calls the same in the same order; rank 0 holds the lease, watches the clock and prints.
    """

    def __init__(self, gang: Gang, state: State, told: argparse.Namespace) -> None:
        self.gang, self.state, self.told = gang, state, told
        self.contract, self.end = Contract.read(), End()
        self.leads = gang.rank == 0
        self.ends = False
        self.lease: Lease | None = None
        self.checkpoints: Checkpoints | None = None
        self.saving: Future[object] | None = None
        self.saved, self.began, self.took = -1, time.monotonic(), 0.0
        self.logged = (-1, time.monotonic())
        if self.contract.folder is not None and self.leads:
            self.contract.folder.mkdir(parents=True, exist_ok=True)
            self.checkpoints = Checkpoints(self.contract.folder, state.whole)
            self.lease = Lease(self.contract.folder, self.contract.run, seconds=told.lease_seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Let the next run have the folder, whatever ends this one: nothing is written any more."""
        if self.lease is not None:
            self.lease.leave()

    def resume(self) -> int:
        """Take the folder, load the newest complete checkpoint, and return its step, or 0 without any."""
        held_by, step, path = self.gang.first(self.found() if self.leads else None)
        if held_by:
            if self.leads:
                say(f"refused: {held_by} holds {self.contract.folder} and is alive; two runs cannot share it")
            sys.exit(TOLD_TO_END if self.end.told() else 1)
        if path is not None:
            self.state.load(path)
            self.saved = step
        if self.leads:
            say(f"resumed step={step} from={path}" if path else "begins at the beginning")
        self.began = time.monotonic()
        self.logged = (step, time.monotonic())
        return step

    def found(self) -> tuple[str, int, Path | None]:
        """Return who holds the folder, if it is not us, and step and folder of the checkpoint to go on from."""
        if self.checkpoints is None or self.lease is None:
            return "", 0, None
        held_by = self.lease.take(self.end, patience=self.told.patience)
        if held_by:
            return held_by, 0, None
        complete = self.checkpoints.complete()
        for step, path in sorted(self.checkpoints.all()):
            if (step, path) not in complete:
                say(f"skipped {path}: it is not complete")
        step, path = complete[-1] if complete else (0, None)
        return "", step, path

    def after(self, step: int, loss: float | None = None) -> None:
        """Agree with all ranks, `step` steps being done, whether to end or to save; `loss` is this rank's share of it.

        Give `loss` on all ranks or on none, as `logs` says.
        """
        if self.leads and self.lease is not None and self.lease.lost.is_set():
            raise SystemExit(f"{self.lease.holder()} has taken {self.contract.folder}; nothing more is written")
        if self.contract.heartbeat is not None:
            self.contract.heartbeat.touch()
        due = self.leads and self.due(step)
        told, due, loss_of_all = self.gang.sum(self.end.told(), due, loss or 0.0)
        self.ends = told > 0
        if loss is not None and self.leads:
            self.report(step, loss_of_all)
        if self.saving is not None and self.saving.done():
            self.settle()
        if due and not self.ends and step < self.told.steps:
            self.save(step)
        self.end.told(within=self.told.pace)

    def logs(self, step: int) -> bool:
        """Whether the loss after `step` steps is reported."""
        return step % self.told.log_every == 0 or step == self.told.steps

    def due(self, step: int) -> bool:
        """Whether it is time for a checkpoint."""
        if self.contract.folder is None:
            return False
        by_steps = self.told.save_every is not None and step % self.told.save_every == 0
        return by_steps or time.monotonic() - self.began >= self.contract.every_seconds

    def report(self, step: int, loss: float) -> None:
        """Print a line, and add it to the folder's metrics."""
        (last, at), now = self.logged, time.monotonic()
        self.logged = (step, now)
        seconds = (now - at) / max(1, step - last)
        say(f"step={step} loss={loss:.9g} seconds_per_step={seconds:.4g}")
        if self.contract.folder is not None:
            line = {
                "run": self.contract.run,
                "step": step,
                "loss": loss,
                "secondsPerStep": seconds,
                "time": time.time(),
            }
            with (self.contract.folder / "metrics.jsonl").open("a") as file:
                file.write(json.dumps(line) + "\n")

    def save(self, step: int) -> None:
        """Begin a checkpoint once the last one is complete."""
        self.settle()
        self.began = time.monotonic()
        path = self.gang.first(self.checkpoints.new(step) if self.checkpoints is not None else None)
        self.saving, self.saved = self.state.save(path, self.lease), step

    def settle(self) -> None:
        """Wait for the checkpoint that is being written, then delete what is older than those to keep."""
        if self.saving is None:
            return
        self.saving.result()
        self.saving, self.took = None, time.monotonic() - self.began
        if self.checkpoints is not None:
            say(f"saved step={self.saved} seconds={self.took:.3g}")
            self.checkpoints.prune(self.contract.keep, self.state.marker)

    def finish(self, step: int) -> int:
        """Save what is not saved yet, if there is time, and return the exit code."""
        left = self.end.left(self.contract.grace_seconds)
        worth = step >= self.told.steps or not self.ends or self.took < left
        if self.gang.first(worth) and self.saved != step and self.contract.folder is not None:
            self.save(step)
        self.settle()
        self.gang.stop()
        return 0 if step >= self.told.steps else TOLD_TO_END


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)
