"""Compares our decision with that of Kueue's own code on thousands of cases by chance, and prints the table.

Needs a program that answers for Kueue: `TRAINYARD_KUEUE_ORACLE`, or --program. Each case is asked thrice, and thirty
times where our answer is another; where Kueue gives several answers itself, which it does where equals come as a map
has them, none of them is right or wrong, and the case is counted apart. Exit code 1 where anything else differs.

The cases are small crowded clusters or, with --changed, those of a folder (`<topic>/<name>.yaml`), changed by chance;
with --jobs as well, those about jobs, in its folder `podsets`. Of such cases those are counted apart that no server
would store, and those that the program takes for none.

With --release the program is that of another release (tools/oracles/kueue/README.md builds one), and we decide as it
does. The cases then have no gate and no field that the release does not know, decisions are compared and no messages,
and cases with a request of 0 are counted apart before 0.18, where such pods find no host of a topology.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "platform"), str(ROOT / "tests")]

from kueue import changing, past, podsets  # noqa: E402 - tests/ is no package that is installed
from kueue.allowed import forbidden  # noqa: E402
from kueue.oracle import bare, same, survived  # noqa: E402
from kueue.worlds import case  # noqa: E402
from trainyard.faces.cli._cases import UNREAD, answered  # noqa: E402

CHUNK = 400
"""Cases that the program is given at once."""

OFTEN = 30
"""How often it is asked again about a case whose answers differ: some chances are small."""

Answer = Mapping[str, Any]


def decision(workload: Answer) -> Answer:
    """Return the decision on a Workload: for one that is only looked at, its nomination."""
    return {**workload, **(workload.get("nomination") or {})}


def sets(workload: Answer, name: str) -> object:
    """Return one field of each pod set."""
    return {pod_set["name"]: bare(pod_set.get(name)) or None for pod_set in decision(workload).get("podSets") or ()}


def outcome(workload: Answer) -> object:
    """Return the outcome of a Workload, and its numbers of pods."""
    found = decision(workload)
    return found.get("outcome"), found.get("mode"), sets(workload, "count")


def victims(workload: Answer) -> object:
    """Return whom it preempts, and why."""
    return sorted((victim["workload"], victim["reason"]) for victim in decision(workload).get("victims") or ())


COMPARED: Mapping[str, Callable[[Answer], object]] = {
    "outcomes": outcome,
    "flavors": partial(sets, name="flavors"),
    "victims": victims,
    "placements": partial(sets, name="topology"),
}


ASIDE = "aside"
"""The field of what stands for an answer to a case that is counted apart: why it is."""


def crashes(answer: Answer) -> bool:
    """Whether a case is one that Kueue does not survive."""
    error = str(answer.get("error") or "")
    return error.startswith("panic") or error.endswith("Kueue would crash")


@dataclass
class Table:
    """How many cases agree, in all and by what is compared."""

    compared: Mapping[str, Callable[[Answer], object]] = field(default_factory=lambda: COMPARED)
    apart: Counter[str] = field(default_factory=Counter)
    """How many cases are counted apart, and why."""
    cases: int = 0
    crashes: int = 0
    agree: Counter[str] = field(default_factory=Counter)
    decisions_only: bool = False
    """Whether other words for the same decision do not count as a difference."""
    differ: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def add(self, seed: int, theirs: Answer, ours: Answer) -> None:
        """Count one case."""
        self.cases += 1
        why = aside(theirs)
        if why:
            self.apart[why] += 1
            return
        self.crashes += "error" in theirs
        wrong = tuple(name for name, part in self.compared.items() if parts(theirs, part) != parts(ours, part))
        self.agree.update(name for name in self.compared if name not in wrong)
        same_words = agrees(ours, theirs)
        self.agree["every field"] += same_words
        if wrong or not (same_words or self.decisions_only):
            self.differ[seed] = wrong or ("other fields",)

    def lines(self) -> Iterator[str]:
        """Yield the table, and every case that differs."""
        asked_for = max(1, self.cases - self.apart.total())
        counted = [f"{self.apart[word]} {word}" for word in APART if word == UNSTABLE or self.apart[word]]
        yield "; ".join([f"{self.cases} cases", *counted, f"{self.crashes} crash it"])
        for name in (*self.compared, "every field"):
            yield f"{name:12} {self.agree[name]:6} of {asked_for} agree, {100 * self.agree[name] / asked_for:.3f} %"
        for seed, wrong in sorted(self.differ.items()):
            yield f"seed {seed}: {', '.join(wrong)} differ"


def agrees(ours: Answer, theirs: Answer) -> bool:
    """Whether two answers say the same; a crash is one in any words."""
    if crashes(theirs):
        return "error" in ours and UNREAD not in ours["error"]
    return same(ours, theirs)


def aside(theirs: Answer) -> str:
    """Return why a case is counted apart, nothing of one that is compared."""
    return str(theirs.get(ASIDE) or (UNSTABLE if theirs.get("unstable") else ""))


UNSTORED = "that no server would store"
ZERO = "with a request of 0"
NONE = "that are none"
UNSTABLE = "that Kueue itself decides in several ways"
APART = (UNSTORED, NONE, ZERO, UNSTABLE)


def parts(answer: Answer, part: Callable[[Answer], object]) -> object:
    """Return one aspect of all Workloads of an answer, or whether a crash is in its place."""
    return {name: part(workload) for name, workload in (answer.get("workloads") or {}).items()} or "error" in answer


@cache
def source(folder: Path, jobs: bool) -> changing.Source:
    """Return the cases that are changed."""
    return changing.read(folder, jobs=jobs)


def compare(program: str, drawn: Callable[[int], Any], ways: Ways, seeds: range) -> list[tuple[int, Answer, Answer]]:
    """Return both answers to the cases of some seeds."""
    every = {seed: drawn(seed) for seed in seeds}
    reasons = {seed: forbidden(one_case) for seed, one_case in every.items()}
    stored = [one_case for seed, one_case in every.items() if not reasons[seed]]
    theirs = iter(ways.theirs(program, stored, 3))
    found = []
    for seed, one_case in every.items():
        answer, mine = {ASIDE: UNSTORED} if reasons[seed] else next(theirs), ways.ours(one_case)
        if not aside(answer) and not ways.agree(mine, answer):
            (answer,) = ways.theirs(program, [one_case], OFTEN)
        found.append((seed, answer, mine))
    return found


def decisions(program: str, cases: list[Any], often: int) -> list[Any]:
    """Return Kueue's decisions, asked that many times."""
    return survived(program, "schedule", cases, "-repeat", str(often))


def decisions_if_any(program: str, cases: list[Any], often: int) -> list[Any]:
    """Return the same of cases of which some may be none."""
    found = decisions(program, cases, often)
    return [
        {ASIDE: NONE} if "error" in one_decision and not crashes(one_decision) else one_decision
        for one_decision in found
    ]


def decisions_of(release: str, program: str, cases: list[Any], often: int) -> list[Any]:
    """Return the decisions of another release, one for each case, or why a case is counted apart.

    It is asked once, and where it is to be asked often, until an answer decides otherwise than the first.
    """
    found = [{ASIDE: ZERO} if past.is_apart(release, one_case) else None for one_case in cases]
    asked_for = [one_case for one_case, why in zip(cases, found, strict=True) if why is None]
    first = survived(program, "schedule", asked_for)
    for _ in range(often if often == OFTEN else 0):
        again = survived(program, "schedule", asked_for)
        first = [
            one_decision if decided(one_decision) == decided(other) else {ASIDE: UNSTABLE}
            for one_decision, other in zip(first, again, strict=True)
        ]
    answers = iter(first)
    return [why or next(answers) for why in found]


def decided(answer: Answer) -> list[object]:
    """Return all that is compared of an answer."""
    return [parts(answer, part) for part in COMPARED.values()]


def pod_sets(program: str, cases: list[Any], often: int) -> list[Any]:  # noqa: ARG001 - it has one answer
    """Return Kueue's pod sets of jobs; for a job that its webhooks refuse it may crash, and has no answer."""
    found = survived(program, "podsets", cases)
    return [{ASIDE: NONE} if "error" in answer else podsets.plain(answer) for answer in found]


def our_pod_sets(case: Any) -> Any:
    """Return our pod sets of jobs."""
    try:
        return podsets.plain(podsets.answer(case))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is no answer
        return {"error": repr(error)}


class Ways(NamedTuple):
    """How Kueue and we are asked about cases, and when two answers agree."""

    theirs: Callable[[str, list[Any], int], list[Any]]
    ours: Callable[[Any], Any]
    agree: Callable[[Answer, Answer], bool] = agrees


def decides_alike(ours: Answer, theirs: Answer) -> bool:
    """Whether two answers decide alike, whatever their messages."""
    return agrees(ours, theirs) or (not crashes(theirs) and decided(ours) == decided(theirs))


def main() -> int:
    """Compare, print the table, and say whether that will do."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--program", default=os.environ.get("TRAINYARD_KUEUE_ORACLE"), help="what answers for Kueue")
    parser.add_argument("--count", type=int, default=20_000, help="how many cases")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes at once")
    parser.add_argument("--changed", type=Path, metavar="FOLDER", help="change the cases in a folder by chance")
    parser.add_argument("--jobs", action="store_true", help="of these cases, those about jobs")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write cases that differ there, with Kueue's answers")
    parser.add_argument("--release", metavar="RELEASE", help="the program's release, if it is another")
    given = parser.parse_args()
    if not given.program:
        parser.error("name the program: --program, or TRAINYARD_KUEUE_ORACLE")
    if given.jobs and not given.changed:
        parser.error("--jobs asks about cases of a folder: --changed FOLDER")
    drawn = partial(changed, given.changed, given.jobs) if given.changed else case
    asking = decisions_if_any if given.changed else decisions
    ways = Ways(pod_sets, our_pod_sets) if given.jobs else Ways(asking, answered)
    if given.release:
        if given.changed:
            parser.error("--release is for clusters by chance: leave out --changed")
        drawn = partial(past.case, given.release)
        ways = Ways(partial(decisions_of, given.release), partial(past.answered_as, given.release), decides_alike)
    comparing = partial(compare, given.program, drawn, ways)
    table, begun = Table({} if given.jobs else COMPARED, decisions_only=bool(given.release)), time.monotonic()
    last, kept = given.start + given.count, []
    chunks = [range(start, min(start + CHUNK, last)) for start in range(given.start, last, CHUNK)]
    with ProcessPoolExecutor(given.workers) as pool:
        for found in pool.map(comparing, chunks):
            for seed, theirs, ours in found:
                table.add(seed, theirs, ours)
                if seed in table.differ:
                    kept.append(json.dumps({"case": drawn(seed), "answer": theirs}, sort_keys=True))
    print("\n".join(table.lines()))
    print(f"{time.monotonic() - begun:.0f} s")
    if given.keep:
        given.keep.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
    return 1 if table.differ else 0


def changed(folder: Path, jobs: bool, seed: int) -> Any:
    """Return a case of a folder, changed as a seed has it."""
    return changing.changed(source(folder, jobs), seed)


if __name__ == "__main__":
    sys.exit(main())
