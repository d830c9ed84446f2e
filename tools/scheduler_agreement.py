"""Compares our filters and placements with those of a running kube-scheduler on clusters by chance.

Needs a cluster to throw away, without nodes, in which nobody but kube-scheduler changes nodes and pods. Exit code 1
where anything differs.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "platform"), str(ROOT / "tests")]

from scheduling.compare import disagreements  # noqa: E402 - tests/ is no package that is installed
from scheduling.oracle import Scheduler  # noqa: E402
from scheduling.worlds import case  # noqa: E402


def main() -> int:
    """Compare, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--kubeconfig", type=Path, required=True, help="of a cluster to throw away")
    parser.add_argument("--count", type=int, default=1000, help="how many cases")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--answers", type=Path, help="write every answer there, a line each")
    given = parser.parse_args()
    scheduler, begun = Scheduler(given.kubeconfig), time.monotonic()
    said: Counter[str] = Counter()
    differ = 0
    with gzip.open(given.answers or "/dev/null", "wt") as out:
        for seed in range(given.start, given.start + given.count):
            drawn = case(seed)
            events = scheduler.answer(drawn)
            out.write(json.dumps({"seed": seed, "events": events}) + "\n")
            said.update(name for each in events for name in each.get("against", {"a node": 1}))
            found = list(disagreements(drawn, events))
            differ += bool(found)
            for each in found[:1]:
                print(f"seed {seed}: {each}", flush=True)
    print(f"{given.count} cases, {differ} differ; {time.monotonic() - begun:.0f} s")
    for name, count in said.most_common():
        print(f"{count:6} {name}")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
