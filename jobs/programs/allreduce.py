"""Sums arrays over all ranks by MPI, on CPUs, checks the sums, and says how fast it was: acceptance of a network.

    mpirun -n 4 python allreduce.py --largest 64Mi

The last columns are nccl-tests': bytes over time, and what that takes of the wire, 2 (n - 1) / n times as much.
"""

from __future__ import annotations

import argparse
import sys
from array import array
from collections.abc import Iterator

from mpi4py import MPI

UNITS = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}


def size(text: str) -> int:
    """Return bytes: `64`, `8Ki`, `64Mi`."""
    number, unit = (text[:-2], text[-2:]) if text[-2:] in UNITS else (text, "")
    return int(number) * UNITS.get(unit, 1)


def sizes(smallest: int, largest: int) -> Iterator[int]:
    """Yield sizes in bytes, each twice the last."""
    while smallest <= largest:
        yield smallest
        smallest *= 2


def seconds(world: MPI.Intracomm, ours: array[float], total: array[float], times: int) -> float:
    """Return how long the slowest rank takes for one sum."""
    world.Allreduce(ours, total)
    world.Barrier()
    began = MPI.Wtime()
    for _ in range(times):
        world.Allreduce(ours, total)
    took: float = world.allreduce(MPI.Wtime() - began, MPI.MAX)
    return max(took / times, 1e-9)


def main() -> int:
    """Measure, and return 1 where a sum is wrong on any rank."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smallest", type=size, default=8)
    parser.add_argument("--largest", type=size, default="64Mi")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--ranks", type=int, help="fail unless there are as many")
    told = parser.parse_args()
    world = MPI.COMM_WORLD
    leads, ranks, wrong = world.rank == 0, world.size, 0
    if leads:
        print(f"ranks={ranks} library={MPI.Get_library_version().split(',')[0]}", flush=True)
    if told.ranks not in (None, ranks):
        sys.exit(f"there are {ranks} ranks, but --ranks is {told.ranks}")
    for step, many in enumerate(sizes(told.smallest, told.largest), 1):
        ours, total = array("d", [world.rank + 1.0]) * (many // 8), array("d", [0.0]) * (many // 8)
        took = seconds(world, ours, total, told.times)
        right = total == array("d", [ranks * (ranks + 1) / 2]) * (many // 8)
        wrong += world.allreduce(not right, MPI.SUM)
        if leads:
            rate = many / took / 1e9
            on_wire = rate * 2 * (ranks - 1) / ranks
            print(f"step={step} bytes={many} us={took * 1e6:.1f} algbw={rate:.3f} busbw={on_wire:.3f}", flush=True)
    if leads:
        print(f"wrong={wrong}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
