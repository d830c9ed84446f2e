"""Which runs of a cluster passed before beside the same neighbours, so that a plan judges what a change brings alone.

What is said of the objects of a run follows from them, from what they were at the base, and from what is no run's. A
policy that compares runs says so (`policies.run.LACKS`); with one of those every run is judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

from trainyard.base.memory import Memory
from trainyard.base.system.cache import key
from trainyard.base.system.reads import Reads
from trainyard.judge.checks.of_runs import run_of
from trainyard.render.kinds import companions, kinds
from trainyard.render.tree import layout
from trainyard.render.tree.snapshot import Snapshot

Old = tuple[str, bytes]
"""Name and content of an object at the base."""


@cache
def kinds_of_runs() -> frozenset[str]:
    """Return the kinds that runs are made of, as files are named by them: they mean nothing for other runs."""
    found = {*companions.KINDS, *(name for kind in kinds().values() for name in kind.objects)}
    return frozenset(name.rpartition("/")[2].lower() for name in found)


@dataclass(frozen=True)
class Parts:
    """What a verdict on the objects of a cluster follows from, by the runs that have their own."""

    around: str
    """The name of what is no run's, under which is kept which runs passed beside it."""
    runs: Mapping[str, str]
    """By a run's folder below `generated/`, the name of what its own verdict follows from beside that."""

    def passed_runs(self, memory: Memory) -> frozenset[str] | None:
        """Return the runs that passed, None where it is not known that what is around them does."""
        found = memory.get(self.around)
        if found is None:
            return None
        kept = frozenset(found)
        return frozenset(folder for folder, name in self.runs.items() if name in kept)

    def keep(self, memory: Memory, seen: Reads) -> None:
        """Remember that everything passed, for which so much was read."""
        memory.put(sorted(self.runs.values()), seen, self.around)


def parts(cluster: str, tree: Snapshot, olds: Sequence[Old], *, second: bool) -> Parts:
    """Return the inputs of the verdict on a cluster's objects; `second` says whether a second engine judges."""
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
    return Parts(key("around", cluster, str(second), *around), {folder: key(*of) for folder, of in runs.items()})
