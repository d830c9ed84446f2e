"""The ranks of a training job, whatever started them: torchrun, accelerate, deepspeed, mpirun or nobody."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

PLACES = (
    ("RANK", "WORLD_SIZE", "LOCAL_RANK"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
)
"""Variables that say which rank this is, of how many, and which of its node: torch's own, and Open MPI's."""


def place() -> tuple[int, int, int]:
    """Return rank, world size and local rank; a process that nobody started as a rank is the only one."""
    for rank, world, local in PLACES:
        if rank in os.environ and world in os.environ:
            return int(os.environ[rank]), int(os.environ[world]), int(os.environ.get(local, "0"))
    return 0, 1, 0


class Gang:
    """All ranks: gradients go by NCCL between GPUs and by gloo between CPUs, words by gloo alone.

    Words have groups of their own, so that what a thread says in the background meets nothing else, and no GPU waits.
    """

    def __init__(self, *, patience: float = 600) -> None:
        self.rank, self.world, local = place()
        self.device = torch.device("cpu")
        if torch.cuda.is_available():
            self.device = torch.device("cuda", local % torch.cuda.device_count())
            torch.cuda.set_device(self.device)
        store = {} if "MASTER_ADDR" in os.environ else {"store": dist.HashStore()}
        if store and self.world > 1:
            raise SystemExit("MASTER_ADDR is not set; start the ranks by torchrun, or say where rank 0 is")
        dist.init_process_group(
            "cpu:gloo,cuda:nccl" if self.device.type == "cuda" else "gloo",
            rank=self.rank,
            world_size=self.world,
            **store,
        )
        waits = timedelta(seconds=patience + 600)
        self.words = dist.new_group(backend="gloo", timeout=waits)
        self.saves = dist.new_group(backend="gloo", timeout=waits)

    def first(self, thing: Any = None) -> Any:
        """Return what rank 0 gives, on every rank."""
        box = [thing]
        dist.broadcast_object_list(box, src=0, group=self.words)
        return box[0]

    def sum(self, *numbers: float) -> list[float]:
        """Return the sum of each number over all ranks."""
        row = torch.tensor(numbers, dtype=torch.float64)
        dist.all_reduce(row, group=self.words)
        return row.tolist()

    def stop(self) -> None:
        """Wait for the others, then let go of them: a rank that leaves early ends those that still talk."""
        dist.barrier(group=self.words)
        dist.destroy_process_group()
