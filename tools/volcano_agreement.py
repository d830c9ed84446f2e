"""Compares what we say of gangs with what a running Volcano does with them on clusters by chance.

Needs a cluster to throw away (see tests/scheduler/gang_oracle.py). Exit code 1 where anything differs.
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

from scheduler.gang_oracle import Volcano  # noqa: E402 - tests/ is not installed
from scheduler.gangs import digest, gang, is_right, started, verdict  # noqa: E402


def main() -> int:
    """Compare, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--kubeconfig", type=Path, required=True, help="of a cluster to throw away")
    parser.add_argument("--count", type=int, default=300, help="how many cases")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--answers", type=Path, help="write every answer there, a line each, compressed")
    given = parser.parse_args()
    volcano, begun = Volcano(given.kubeconfig), time.monotonic()
    said: Counter[str] = Counter()
    differ, lines = 0, []
    for seed in range(given.start, given.start + given.count):
        case = gang(seed)
        word, answer = verdict(case), volcano.answer(case)
        lines.append(json.dumps({"seed": seed, "case": digest(case), "answer": answer}))
        said[f"{word}, and {'started' if started(case, answer) else 'did not start'}"] += 1
        if not is_right(word, case, answer):
            differ += 1
            print(f"seed {seed}: {word}, and Volcano: {answer}", flush=True)
        if given.answers:
            given.answers.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
    print(f"{given.count} cases, {differ} differ; {time.monotonic() - begun:.0f} s")
    for name, count in said.most_common():
        print(f"{count:6} {name}")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
