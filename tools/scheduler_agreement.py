"""Compares our filters, scores and verdicts with what a running kube-scheduler does on clusters by chance.

Needs a cluster to throw away, without nodes of its own, in which nobody but kube-scheduler changes nodes and pods.
`--jobs` asks about jobs that nearly fill their nodes, their pods in four orders: whether all of them are placed. Where
we find nodes for all pods, the scheduler is asked for these nodes, too. Exit code 1 where anything differs.
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

from scheduler.compare import disagreements, is_right, pinned, verdict, whole  # noqa: E402 - tests/ is not installed
from scheduler.oracle import Scheduler  # noqa: E402
from scheduler.tight import orders, tight  # noqa: E402
from scheduler.worlds import Object, case  # noqa: E402


def decisions(seed: int, answers: list[list[Object]], said: Counter[str], release: str) -> list[str]:
    """Return the differences in a case that was asked once; count the decisions."""
    (events,) = answers
    said.update(name for event in events for name in event.get("against", {"a node": 1}))
    return list(disagreements(case(seed), events, release))


def outcomes(seed: int, answers: list[list[Object]], said: Counter[str], release: str) -> list[str]:
    """Return the differences in a job that was asked in several orders; count verdicts by how often all were placed."""
    job = tight(seed)
    asked = [*orders(job, seed)]
    placed = [whole(fault, events) for fault, events in zip(asked, answers, strict=True)]
    word = verdict(job, release)
    said[f"{word}, all pods placed {sum(placed)} times of {len(placed)}"] += 1
    wrong = [] if is_right(word, placed) else [f"{word}, and the scheduler placed all pods: {placed}"]
    pairs = zip(asked, answers, strict=True)
    return wrong + [one for fault, events in pairs for one in disagreements(fault, events, release)]


def main() -> int:
    """Compare, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--kubeconfig", type=Path, required=True, help="of a cluster to throw away")
    parser.add_argument("--jobs", action="store_true", help="ask about jobs that nearly fill their nodes")
    parser.add_argument("--count", type=int, default=1000, help="how many cases")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--answers", type=Path, help="write every answer there, a line each, compressed")
    given = parser.parse_args()
    scheduler, begun = Scheduler(given.kubeconfig), time.monotonic()
    compare = outcomes if given.jobs else decisions
    release = scheduler.release()
    said: Counter[str] = Counter()
    differ, lines = 0, []
    for seed in range(given.start, given.start + given.count):
        asked = orders(tight(seed), seed) if given.jobs else [case(seed)]
        answers = [scheduler.answer(order) for order in asked]
        lines.append(json.dumps({"seed": seed, "answers": answers}))
        found = compare(seed, answers, said, release)
        if bound := pinned(tight(seed) if given.jobs else case(seed), release):
            said["a placement of ours"] += 1
            found += [] if whole(bound, scheduler.answer(bound)) else ["the scheduler does not take our placement"]
        differ += bool(found)
        for fault in found[:1]:
            print(f"seed {seed}: {fault}", flush=True)
    if given.answers:
        given.answers.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
    print(f"{given.count} cases, {differ} differ from kube-scheduler {release}; {time.monotonic() - begun:.0f} s")
    for name, count in said.most_common():
        print(f"{count:6} {name}")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
