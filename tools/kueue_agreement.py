"""Compares our decision with that of Kueue's own scheduler on thousands of clusters by chance, and prints the table.

Needs a program that answers for Kueue: `TRAINYARD_KUEUE_ORACLE`, or --program. Each case is asked thrice, and thirty
times where our answer is another; where Kueue gives several answers itself, which it does where equals come as a map
has them, none of them is right or wrong, and the case is counted apart. Exit code 1 where anything else differs.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "platform"), str(ROOT / "tests")]

from queueing.oracle import asked, bare, same  # noqa: E402 - tests/ is no package that is installed
from queueing.worlds import case  # noqa: E402
from trainyard.queueing.replay import replay  # noqa: E402

CHUNK = 400
"""Cases that the program is given at once."""

OFTEN = 30
"""How often it is asked again about a case whose answers differ: some chances are small."""

Answer = Mapping[str, Any]


def decision(workload: Answer) -> Answer:
    """Return what was decided: of a Workload that is only looked at, what it would get."""
    return {**workload, **(workload.get("nomination") or {})}


def sets(workload: Answer, name: str) -> object:
    """Return one field of each pod set."""
    return {each["name"]: bare(each.get(name)) or None for each in decision(workload).get("podSets") or ()}


def outcome(workload: Answer) -> object:
    """Return what becomes of a Workload, and with how many pods."""
    found = decision(workload)
    return found.get("outcome"), found.get("mode"), sets(workload, "count")


def victims(workload: Answer) -> object:
    """Return whom it preempts, and why."""
    return sorted((each["workload"], each["reason"]) for each in decision(workload).get("victims") or ())


COMPARED: Mapping[str, Callable[[Answer], object]] = {
    "outcomes": outcome,
    "flavors": partial(sets, name="flavors"),
    "victims": victims,
    "placements": partial(sets, name="topology"),
}


@dataclass
class Table:
    """How many cases agree, in all and by what is compared."""

    cases: int = 0
    unstable: int = 0
    crashes: int = 0
    agree: Counter[str] = field(default_factory=Counter)
    differ: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def add(self, seed: int, theirs: Answer, ours: Answer) -> None:
        """Count one case."""
        self.cases += 1
        if theirs.get("unstable"):
            self.unstable += 1
            return
        self.crashes += "error" in theirs
        wrong = tuple(name for name, part in COMPARED.items() if parts(theirs, part) != parts(ours, part))
        self.agree.update(name for name in COMPARED if name not in wrong)
        if same(ours, theirs):
            self.agree["every field"] += 1
        else:
            self.differ[seed] = wrong or ("other fields",)

    def lines(self) -> Iterator[str]:
        """Yield the table, and every case that differs."""
        asked_for = max(1, self.cases - self.unstable)
        yield f"{self.cases} cases; {self.unstable} that Kueue itself decides in several ways; {self.crashes} crash it"
        for name in (*COMPARED, "every field"):
            yield f"{name:12} {self.agree[name]:6} of {asked_for} agree, {100 * self.agree[name] / asked_for:.3f} %"
        for seed, wrong in sorted(self.differ.items()):
            yield f"seed {seed}: {', '.join(wrong)} differ"


def parts(answer: Answer, part: Callable[[Answer], object]) -> object:
    """Return one aspect of all Workloads of an answer, or of the crash that is in its place."""
    return {name: part(each) for name, each in (answer.get("workloads") or {}).items()} or answer.get("error")


def compare(program: str, seeds: range) -> list[tuple[int, Answer, Answer]]:
    """Return both answers to the cases of some seeds."""
    drawn = [case(seed) for seed in seeds]
    theirs = asked(program, "schedule", drawn, "-repeat", "3", faults=True)
    found = []
    for seed, answer, each in zip(seeds, theirs, drawn, strict=True):
        mine = replay(each)
        if not same(mine, answer):
            (answer,) = asked(program, "schedule", [each], "-repeat", str(OFTEN), faults=True)  # noqa: PLW2901
        found.append((seed, answer, mine))
    return found


def main() -> int:
    """Compare, print the table, and say whether that will do."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--program", default=os.environ.get("TRAINYARD_KUEUE_ORACLE"), help="what answers for Kueue")
    parser.add_argument("--count", type=int, default=20_000, help="how many cases")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes at once")
    given = parser.parse_args()
    if not given.program:
        parser.error("name the program: --program, or TRAINYARD_KUEUE_ORACLE")
    table, begun = Table(), time.monotonic()
    last = given.start + given.count
    chunks = [range(start, min(start + CHUNK, last)) for start in range(given.start, last, CHUNK)]
    with ProcessPoolExecutor(given.workers) as pool:
        for found in pool.map(partial(compare, given.program), chunks):
            for seed, theirs, ours in found:
                table.add(seed, theirs, ours)
    print("\n".join(table.lines()))
    print(f"{time.monotonic() - begun:.0f} s")
    return 1 if table.differ else 0


if __name__ == "__main__":
    sys.exit(main())
