"""Trains the network of ddp.py under Ray Train: a worker process a GPU, or a few CPUs, on whichever nodes Ray has.

    python ray_train.py --steps 40 --ranks 2      # the entrypoint of a RayJob, where TRAIN_WORKERS says --ranks

Ray Train keeps the book: it starts workers again when nodes go, saves to `CHECKPOINT_DIR/<job>`, and a driver that is
started again goes on there. The step's images are the same for however many workers, as in ddp.py.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import ray
import torch
import torch.distributed as dist
from ray import train
from ray.train.torch import TorchTrainer, get_device
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

import ddp
from contract import Contract, End, Lease
from keeper import TOLD_TO_END, say

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Place:
    """One worker among all, in the words of gang.py."""

    rank: int
    world: int
    device: torch.device

    def first(self, yes: bool) -> bool:
        """Return what rank 0 says: its clock counts."""
        word = torch.tensor(float(yes), device=self.device)
        dist.broadcast(word, src=0)
        return bool(word)

    def sum(self, number: torch.Tensor) -> float:
        """Return the sum over all workers."""
        dist.all_reduce(number)
        return float(number)


def resumed(state: ddp.OneFile) -> int:
    """Load the newest checkpoint that Ray Train knows, and return its step."""
    last = train.get_checkpoint()
    if last is None:
        return 0
    with last.as_directory() as folder:
        state.load(Path(folder))
        return int((Path(folder) / "step").read_text())


def report(state: ddp.OneFile, step: int, loss: float, *, saves: bool) -> None:
    """Tell Ray Train of a step, on every worker; rank 0 adds a checkpoint where there is one to save."""
    said = {"step": step, "loss": loss}
    if not (saves and state.gang.rank == 0):
        train.report(said)
        return
    with tempfile.TemporaryDirectory() as folder:
        state.save(Path(folder), None)
        (Path(folder) / "step").write_text(str(step))
        train.report(said, checkpoint=train.Checkpoint.from_directory(folder))


def leaving() -> bool:
    """Whether a node of this run is about to go, which all workers ask together; releases before 2.60 do not say."""
    ask = getattr(train, "get_preemption_info", None)
    return ask is not None and ask() is not None


def work(told: argparse.Namespace) -> None:
    """Train, as one worker of many."""
    context = train.get_context()
    place = Place(context.get_world_rank(), context.get_world_size(), get_device())
    torch.manual_seed(told.seed)
    data = ddp.images(told)
    alone = ddp.network(told.depth, told.width, data.classes).to(place.device)
    optimizer = torch.optim.SGD(alone.parameters(), told.rate, momentum=0.9, nesterov=True, weight_decay=1e-4)
    state = ddp.OneFile(place, alone, optimizer)
    step, saved, warned = resumed(state), time.monotonic(), False
    if place.rank == 0:
        say(f"resumed step={step}" if step else "begins at the beginning")
    model = DistributedDataParallel(alone, device_ids=[place.device] if place.device.type == "cuda" else None)
    for batch in DataLoader(data, batch_sampler=ddp.Shares(data, place, told, step), num_workers=told.workers):
        loss = ddp.learn(model, optimizer, place, batch, told, step)
        step += 1
        due = time.monotonic() - saved >= told.every_seconds or (told.save_every and step % told.save_every == 0)
        logs = step % told.log_every == 0 or step == told.steps
        going = logs and not warned and leaving()
        saves = going or step == told.steps or place.first(bool(due))
        warned = warned or going
        if saves or logs:
            mean = place.sum(loss)
            if place.rank == 0:
                say(f"step={step} loss={mean:.9g}")
            report(state, step, mean, saves=saves)
            saved = time.monotonic() if saves else saved


def trainer(told: argparse.Namespace, contract: Contract, folder: Path) -> TorchTrainer:
    """Return what starts the workers: as many as the job has, each with its part of a node."""
    gpus, cpus = float(os.environ.get("TRAIN_WORKER_GPUS", "0")), float(os.environ.get("TRAIN_WORKER_CPUS", "1"))
    resources = {"CPU": cpus, **({"GPU": gpus} if gpus else {})}
    import ray_train

    return TorchTrainer(
        ray_train.work,  # by name: what `__main__` has would be sent with all that it refers to
        train_loop_config=told,
        scaling_config=train.ScalingConfig(num_workers=told.ranks, use_gpu=gpus > 0, resources_per_worker=resources),
        run_config=train.RunConfig(
            name=os.environ.get("JOB_NAME", "by-hand"),
            storage_path=str(folder),
            checkpoint_config=train.CheckpointConfig(num_to_keep=contract.keep),
            failure_config=train.FailureConfig(max_failures=int(os.environ.get("TRAIN_MAX_FAILURES", "3"))),
        ),
    )


def read(contract: Contract) -> argparse.Namespace:
    """Return what the command line says, and what the job does."""
    parser = ddp.parser(__doc__)
    parser.add_argument("--ranks", type=int, default=int(os.environ.get("TRAIN_WORKERS", "1")))
    told = parser.parse_args()
    told.every_seconds = contract.every_seconds
    if told.batch < told.ranks:
        sys.exit(f"--batch is {told.batch}, but there are {told.ranks} ranks; give each at least one image")
    return told


def main() -> int:
    """Drive the workers, and return the exit code."""
    contract, end = Contract.read(), End()
    told = read(contract)
    folder = contract.folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    lease = Lease(folder, contract.run, seconds=told.lease_seconds)
    held_by = lease.take(end, patience=told.patience)
    if held_by:
        say(f"refused: {held_by} holds {folder} and is alive; two runs cannot share it")
        return TOLD_TO_END if end.told() else 1
    path = os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH"))))
    ray.init(runtime_env={"env_vars": {"PYTHONPATH": path}})
    try:
        trainer(told, contract, folder).fit()
    finally:
        lease.leave()
        ray.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
