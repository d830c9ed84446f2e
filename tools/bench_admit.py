"""Measures `trainyard admit`: jobs of 50 queues, in cohorts of three levels, on clusters of more and more nodes.

CPU time, wall time and the peak of resident memory of the whole command, the check of the specs among it (Linux).
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "platform"))
sys.path.insert(0, str(ROOT / "tools"))

import fleet  # noqa: E402  # after the path is set
from bench import measure  # noqa: E402  # after the path is set

CURVE = (
    *(("alike", jobs, 2_000) for jobs in (100, 300, 1_000, 3_000)),
    *(("alike", 1_000, nodes) for nodes in (160, 500, 5_000)),
    *(("priorities", jobs, 2_000) for jobs in (300, 1_000)),
    *(("fair", jobs, 2_000) for jobs in (300, 1_000)),
)
"""What they contend by, jobs and nodes."""


def bench(crowd: str, jobs: int, nodes: int) -> None:
    """Measure one size and print its row."""
    with TemporaryDirectory(prefix="trainyard-bench-") as folder:
        root = Path(folder)
        fleet.write_crowd(root, jobs=jobs, nodes=nodes, crowd=crowd)
        os.environ["PYTHONPATH"] = str(ROOT / "platform")
        found = measure([sys.executable, "-m", "trainyard", "admit"], root)
        print(
            f"| {crowd} | {jobs:,} | {nodes:,} | {found.wall:.1f} | {found.cpu:.1f} | {found.memory:.0f} |", flush=True
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, nargs=2, action="append", metavar=("JOBS", "NODES"))
    parser.add_argument("--crowd", choices=fleet.PREEMPTION, default="alike", help="what the jobs of --size contend by")
    given = parser.parse_args()
    print("| crowd | jobs | nodes | wall s | CPU s | peak MiB |\n|---|---|---|---|---|---|")
    for row in [(given.crowd, *size) for size in given.size or ()] or CURVE:
        bench(*row)
