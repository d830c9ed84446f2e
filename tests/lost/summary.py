"""The story of each case in a few words and seconds, from what was seen."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lost.cases import FAULTS, KINDS, RANKS, Case, cases

RECORDED = Path(__file__).parent / "recorded.json.gz"
REPAIR = "REPAIR"
STAYS = "stays on the node"
FAILS = "the run fails for good"
OWNERS = ("jobs", "trainjobs", "pytorchjobs", "mpijobs", "rayjobs")
"""Events of the objects that Kueue suspends: a look may miss that a workload was evicted, and is admitted again."""

Event = tuple[int, str]


@dataclass
class Story:
    """One case, as its events tell it; seconds are since the fault."""

    pods: dict[str, str] = field(default_factory=dict)
    """Phase and node of each pod, by its name's end and identity."""
    first: frozenset[str] = frozenset()
    repaired: int | None = None
    evicted: int | None = None
    ended: int | None = None
    """When the pods on lost nodes were gone."""
    running: int | None = None
    """When all pods ran, on nodes that are there, after that."""
    survivors: int = 0
    """Pods on other nodes that are still the same at the end."""
    stuck: bool = False
    """Whether pods on the lost node went only with the repair."""
    counted: int = 0
    """Restarts that count."""
    failed: bool = False
    """Whether the object of the run says that it failed."""


def story(case: Mapping[str, Any], least: int = 100) -> Story:
    """Return what happened in a case, whose run goes on with so many pods at least."""
    found = Story()
    lost = {name[-3:] for name in case["lost"]}
    events: Sequence[Event] = [(int(at), str(text)) for at, text in case["events"]]
    for at, text in events:
        key, _, value = text.partition(": ")
        if text == REPAIR:
            found.repaired = at
        elif key.startswith("pod "):
            found.pods[key] = value
        if at < 0:
            found.first = frozenset(found.pods)
            continue
        read(found, at, key, value)
        on_lost = [name for name in found.first if on(case, name) in lost]
        gone = all(found.pods[name] == "gone" or "Failed" in found.pods[name] for name in on_lost)
        if gone and found.ended is None:
            found.ended = at
            found.stuck = found.repaired is not None
        if found.ended is not None and found.running is None and whole(found, least):
            found.running = at
    same = (name for name in found.first if on(case, name) not in lost)
    found.survivors = sum(
        found.pods[name].startswith("Running") and "Terminating" not in found.pods[name] for name in same
    )
    return found


def read(found: Story, at: int, key: str, value: str) -> None:
    """Read an event of Kueue's, or of the object that Kueue suspends."""
    halted = (key == "workload" and "Evicted" in value) or (key.startswith(OWNERS) and "suspend" in value.split())
    if halted and found.evicted is None:
        found.evicted = at
    found.failed |= not key.startswith(("pod", "node")) and "Failed" in value.split()
    if key.startswith(("jobsets", "jobs")):
        words = dict(word.split("=") for word in value.split() if "=" in word)
        found.counted = max(found.counted, int(words.get("restartsCountTowardsMax", 0)), int(words.get("failed", 0)))


def on(case: Mapping[str, Any], key: str) -> str:
    """Return the end of the name of the node that a pod had before."""
    identity = key.rsplit(maxsplit=1)[-1]
    return next((line.rsplit("-", 1)[1] for line in case["before"] if line.split()[1] == identity), "")


def whole(found: Story, least: int) -> bool:
    """Whether as many pods run as before, or as the run needs."""
    running = [value for value in found.pods.values() if value.startswith("Running on") and "Terminating" not in value]
    return len(running) >= min(least, len(found.first))


def tell(case: Case, found: Story) -> str:
    """Return a story in words: where the run goes on, how many of its pods are new, and when all of them ran.

    What follows at once is not told in seconds, since a busy machine looks seldom.
    """
    if found.running is None or found.repaired is None:
        return FAILS if found.failed else STAYS
    queued = case.spares < case.lost or (found.evicted is not None and found.evicted < found.repaired)
    new = len(found.first) - found.survivors
    pods = "all pods new" if new == len(found.first) else f"{new} of {len(found.first)} pods new"
    when = f"; runs after {found.running} s" if case.fault == "silent" else "; runs" if case.spares < case.lost else ""
    late = "; runs after the repair" if found.running > found.repaired else when
    fewer = " on fewer nodes" if case.spares < case.lost and found.running < found.repaired else ""
    counts = "; counts" if found.counted else ""
    return f"{'queued again' if queued else 'another node'}; {pods}{late}{fewer}{counts}"


def recorded() -> dict[str, Story]:
    """Return the stories that a real cluster told, by the name of their case."""
    told = json.loads(gzip.decompress(RECORDED.read_bytes()))
    elastic = {one.name for one in cases() if "elastic" in one.kind}
    return {name: story(case, RANKS - 1 if name in elastic else 100) for name, case in sorted(told.items())}


def table() -> str:
    """Return the stories as a table of Markdown: a row for each kind and fault."""
    told = recorded()
    lines = ["| kind | fault | with a spare node | without |", "|---|---|---|---|"]
    for kind in KINDS:
        for fault in FAULTS:
            named = {one.spares: one for one in cases() if (one.kind, one.fault, one.lost) == (kind, fault, 1)}
            words = [tell(named[spares], told[named[spares].name]) if spares in named else "" for spares in (1, 0)]
            lines.append(f"| {kind} | {fault} | {words[0]} | {words[1]} |")
    return "\n".join(lines)
