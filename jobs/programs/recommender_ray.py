"""recommender.py on a Ray cluster: the same counts, each part a task on whichever node has a CPU free.

    python recommender_ray.py --out /artifacts     # the entrypoint of a RayJob; RAY_ADDRESS says of which cluster

Tasks import recommender.py from the image, which every node of the cluster has.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import ray

import recommender


def each(does: Callable[..., object], *more: object) -> Iterator[object]:
    """Yield what a function returns for every part, in order; what all parts need goes to each node once."""
    (told, *_) = more
    task, sent = ray.remote(does), [ray.put(one) for one in more]
    waiting = [task.remote(part, *sent) for part in range(told.parts)]
    while waiting:
        yield ray.get(waiting.pop(0))


def main() -> int:
    """Train on the cluster, and write where the driver runs."""
    told = recommender.read()
    here = str(Path(__file__).resolve().parent)
    path = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    ray.init(runtime_env={"env_vars": {"PYTHONPATH": path}})
    recommender.write(recommender.train(told, each), told.out)
    ray.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
