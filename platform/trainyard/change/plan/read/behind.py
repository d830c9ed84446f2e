"""Where the tree at hand is behind the specs: what a plan of it would not say."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from trainyard.base.findings import Finding, Location, count_of
from trainyard.base.system.repository import JOBS, is_repository
from trainyard.render.tree.disk import Disk
from trainyard.render.tree.rules import STALE
from trainyard.render.tree.snapshot import Snapshot
from trainyard.render.tree.wanted import wanted_entry
from trainyard.specs.load import read_repository


def unreadable(now: Snapshot) -> Iterator[Finding]:
    """Yield the ledgers at hand that cannot be read, whose runs the plan would else take for stopped."""
    message = "this ledger cannot be read, so its runs look stopped; restore it with `trainyard synth`"
    yield from (replace(finding, message=message) for finding in now.findings)


BEHIND = "generated/ is out of date for job {!r}{}; run `trainyard synth` first"


def unsynthesised(changed: frozenset[str], tree: Snapshot, there: Snapshot) -> Iterator[Finding]:
    """Yield the first of the changed job files of which the tree at hand lacks runs, with how many others there are."""
    places = {file: tuple(file.removeprefix(f"{JOBS}/").removesuffix(".yaml").split("/")) for file in sorted(changed)}
    wanted, found = (runs_of(side, {*places.values()}) for side in (tree, there))
    lacks = [file for file, place in places.items() if file.endswith(".yaml") and wanted.get(place) != found.get(place)]
    for file in lacks[:1]:
        others = f" and {count_of(len(lacks) - 1, 'other job')}" if len(lacks) > 1 else ""
        yield STALE.of(Location(file, 1, 1), BEHIND.format(places[file][-1], others))


def runs_of(side: Snapshot, jobs: Collection[tuple[str, ...]]) -> Mapping[tuple[str, ...], list[tuple[str, str]]]:
    """Return the active runs of some jobs, by team and job, with their clusters."""
    found: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for (cluster, team, job), entry in side.active.items():
        if (team, job) in jobs:
            found.setdefault((team, job), []).append((cluster, entry.name))
    return {place: sorted(runs) for place, runs in found.items()}


def behind(root: Path, changed: frozenset[str], disk: Disk, now: Snapshot) -> Iterator[Finding]:
    """Yield the changed job files whose runs are not in the tree at hand, which a plan therefore says nothing of."""
    there = {f"{JOBS}/{path}" for path in disk.scan(JOBS)}
    if not changed & there or not is_repository(root):
        return
    loaded = read_repository(root, skip=frozenset(there - changed))
    for one_entry in map(wanted_entry, loaded.specs.jobs):
        entry = now.active.get(one_entry.key)
        if (entry.name if entry else None) != (None if one_entry.retired else one_entry.run):
            yield STALE.of(one_entry.location, BEHIND.format(one_entry.job, ""))
