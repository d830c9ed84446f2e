"""Remembers what is said of the objects of a cluster, run by run, so that only what a change brings is judged again.

What is said of the objects of a run follows from them, from what they were at the base, and from what is no run's. A
policy that compares runs says so (`policies.run.LACKS`); with one of those every run is judged.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import PurePosixPath

from trainyard.base.findings import Skipped
from trainyard.base.memory import Memory
from trainyard.base.system.cache import key
from trainyard.base.system.reads import Reads
from trainyard.judge.checks.of_runs import run_of
from trainyard.judge.checks.result import Result
from trainyard.judge.checks.rows import Rows, is_public, row_values, rows_from
from trainyard.render.kinds import companions, kinds
from trainyard.render.tree import layout
from trainyard.render.tree.snapshot import Snapshot

Old = tuple[str, bytes]
"""Name and content of an object at the base."""

KEPT = "judged"
"""Sort of the entries that hold verdicts."""

AROUND = ""
"""The part of a cluster's tree that is no run's; other parts are named by the folders of runs below `generated/`."""


@cache
def kinds_of_runs() -> frozenset[str]:
    """Return the kinds that runs are made of, as files are named by them: they mean nothing for other runs."""
    found = {*companions.KINDS, *(name for kind in kinds().values() for name in kind.objects)}
    return frozenset(name.rpartition("/")[2].lower() for name in found)


@dataclass(frozen=True)
class Known:
    """What was said earlier of the parts of a tree that are as they were."""

    rows: Mapping[str, Rows]
    """By part; `AROUND` is always among them."""
    skipped: Sequence[Skipped]

    @property
    def runs(self) -> frozenset[str]:
        """The folders of runs whose verdicts are known."""
        return frozenset(self.rows) - {AROUND}


@dataclass(frozen=True)
class Parts:
    """What a verdict on the objects of a cluster follows from, by the runs that have their own."""

    around: str
    """The name of what is no run's, under which the verdicts beside it are kept."""
    runs: Mapping[str, str]
    """By a run's folder below `generated/`, the name of what its own verdict follows from beside that."""

    def load(self, memory: Memory) -> Known | None:
        """Return the verdicts that are known; None where those on what is around the runs are not."""
        found = memory.get(self.around)
        if found is None or (found["compares"] and {*found["runs"]} != {*self.runs.values()}):
            return None
        kept = {folder: found["runs"][name] for folder, name in self.runs.items() if name in found["runs"]}
        rows = {folder: rows_from(value) for folder, value in {AROUND: found["around"], **kept}.items()}
        return Known(rows, [Skipped(*skipped) for skipped in found["skipped"]])

    def keep(self, memory: Memory, seen: Reads, result: Result, *, unsteady: Collection[str], compares: bool) -> None:
        """Remember a result for which so much was read.

        Verdicts on `unsteady` parts depend on waivers, and are not remembered. Nothing is that shows a credential.
        """
        rows = group_by_part(result)
        left = {folder: rows.get(folder, Rows()) for folder in (AROUND, *self.runs) if folder not in unsteady}
        if not rows.keys() <= {AROUND, *self.runs}:
            return  # the folder of a run holds only objects that count for other runs, too
        if AROUND not in left or result.values or not all(map(is_public, left.values())):
            return
        value = {
            "around": row_values(left.pop(AROUND)),
            "runs": {self.runs[folder]: row_values(rows) for folder, rows in left.items()},
            "skipped": [(skipped.rule, skipped.why, skipped.partial) for skipped in result.skipped],
            "compares": compares,
        }
        memory.put(value, seen, self.around)


def parts(cluster: str, tree: Snapshot, olds: Sequence[Old], *judges: str) -> Parts:
    """Return the inputs of the verdict on a cluster's objects; `judges` name who judges them, and how."""
    own = kinds_of_runs()
    around = [part for old in olds if run_of(old[0]) is None for part in old]
    before: dict[str, list[str | bytes]] = {}
    for name, data in olds:
        before.setdefault(PurePosixPath(name).name, []).append(data)
    runs: dict[str, list[str | bytes]] = {}
    for path, oid in sorted(tree.of_cluster(cluster).items()):
        if not layout.is_object(path.partition("/")[2]):
            continue
        folder, name = layout.run_of(path), path.rpartition("/")[2]
        if folder is None or name.partition(".")[0] not in own:
            around += [path, oid]
        else:
            runs.setdefault(folder, []).extend((path, oid, *before.get(name, ())))
    named = {folder: key(*of) for folder, of in runs.items()}
    return Parts(key("around", cluster, *judges, "", *around), named)


def group_by_part(result: Result) -> dict[str, Rows]:
    """Return objects and findings by the part of the tree that they are in."""
    found: dict[str, Rows] = {}
    for judged in result.objects:
        found.setdefault(part_of(judged.file), Rows()).objects.append(judged)
    for finding in result.findings:
        found.setdefault(part_of(finding.location.file), Rows()).findings.append(finding)
    return found


def part_of(file: str) -> str:
    """Return the part of the tree that a file is in."""
    return run_of(file) or AROUND


def join_known(known: Known, fresh: Result) -> Result:
    """Return the verdicts on the known parts and the fresh ones on all others."""
    new = (rows for part, rows in group_by_part(fresh).items() if part not in known.rows)
    everything = [*known.rows.values(), *new]
    objects = [judged for rows in everything for judged in rows.objects]
    result = replace(
        fresh,
        objects=sorted(objects, key=lambda judged: (judged.file, judged.document)),
        findings=[finding for rows in everything for finding in rows.findings],
    )
    result.skipped = list(dict.fromkeys((*known.skipped, *fresh.skipped)))
    return result
