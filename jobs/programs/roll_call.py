"""Has every rank say who it is, and adds all of them up: the smallest program that only a whole gang can finish.

    python roll_call.py jax        # or torch, xgboost, paddle, tensorflow

A rank adds its number and one; the sum is right only where every rank is there once.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable

Seen = tuple[int, int, int]
"""Rank, number of ranks, and the sum over all of rank + 1."""


def torch() -> Seen:
    """Meet by torch.distributed, over Gloo."""
    import torch
    from torch import distributed

    told = ("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("HOROVOD_RANK", "HOROVOD_SIZE")
    found = [(int(os.environ[rank]), int(os.environ[size])) for rank, size in told if rank in os.environ]
    if not found:
        return 0, 1, 1
    distributed.init_process_group("gloo", rank=found[0][0], world_size=found[0][1])
    total = torch.tensor([distributed.get_rank() + 1])
    distributed.all_reduce(total)
    seen = distributed.get_rank(), distributed.get_world_size(), int(total)
    distributed.destroy_process_group()
    return seen


def jax() -> Seen:
    """Meet by JAX's coordinator, whose address JAX reads itself."""
    import jax

    count, index = os.environ.get("JAX_NUM_PROCESSES"), os.environ.get("JAX_PROCESS_ID")
    if count and index:
        jax.distributed.initialize(num_processes=int(count), process_id=int(index))
    from jax.experimental.multihost_utils import process_allgather

    total = int(process_allgather(jax.process_index() + 1).sum())
    return jax.process_index(), jax.process_count(), total


def xgboost() -> Seen:
    """Meet by XGBoost's tracker, whose address programs hand on."""
    import numpy as np
    from xgboost import collective

    names = ("TRACKER_URI", "TRACKER_PORT", "TASK_ID")
    address, port, task = (os.environ.get(f"DMLC_{name}", "") for name in names)
    where = {"dmlc_tracker_uri": address, "dmlc_tracker_port": int(port), "dmlc_task_id": task} if address else {}
    with collective.CommunicatorContext(**where):
        total = collective.allreduce(np.array([collective.get_rank() + 1]), collective.Op.SUM)
        return collective.get_rank(), collective.get_world_size(), int(total[0])


def paddle() -> Seen:
    """Meet as Paddle's launcher says."""
    import paddle
    import paddle.distributed as ranks

    ranks.init_parallel_env()
    total = paddle.to_tensor([ranks.get_rank() + 1])
    ranks.all_reduce(total)
    return ranks.get_rank(), ranks.get_world_size(), int(total[0])


def tensorflow() -> Seen:
    """Meet by TF_CONFIG, with collectives of workers alone."""
    import tensorflow as tf

    task = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {"index": 0})
    strategy = tf.distribute.MultiWorkerMirroredStrategy()

    @tf.function
    def add() -> tensorflow.Tensor:
        each = strategy.run(lambda: tf.constant(task["index"] + 1))
        return strategy.reduce("SUM", each, axis=None)

    return task["index"], strategy.num_replicas_in_sync, int(add())


BY_NAME: dict[str, Callable[[], Seen]] = {
    "torch": torch,
    "jax": jax,
    "xgboost": xgboost,
    "paddle": paddle,
    "tensorflow": tensorflow,
}


def main() -> int:
    """Meet, say who this is, and return 1 where somebody is missing or there twice."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("framework", choices=BY_NAME)
    parser.add_argument("--local_rank", type=int, help=argparse.SUPPRESS)  # as deepspeed adds it
    rank, world, total = BY_NAME[parser.parse_args().framework]()
    wanted = world * (world + 1) // 2
    print(f"rank {rank} of {world}: the sum is {total}, wanted is {wanted}", flush=True)
    return int(total != wanted)


if __name__ == "__main__":
    sys.exit(main())
