"""Reads of many results as JSON: each read is written once, and so is each group of reads that several share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.memory.world import World
from trainyard.base.system.reads import Reads

Packed = dict[str, Any]
"""What JSON holds of reads: `reads`, `groups` of their numbers, and `results` with a group and numbers of their own."""


@dataclass
class Traces:
    """Reads by the names of results, and which of them hold; a group that several share is looked at once."""

    reads: list[tuple[tuple[str, str], str]] = field(default_factory=list)
    groups: list[list[int]] = field(default_factory=list)
    results: dict[str, tuple[int, list[int]]] = field(default_factory=dict)
    _holding: dict[int, bool] = field(default_factory=dict)
    _read: dict[int, Reads] = field(default_factory=dict)
    """What was read of a group; to copy it takes a tenth of the time of putting it together."""

    def of(self, name: str) -> Reads:
        """Return everything that one result follows from."""
        group, own = self.results[name]
        if group not in self._read:
            self._read[group] = dict(self.reads[number] for number in self.groups[group])
        return self._read[group] | dict(self.reads[number] for number in own)

    def holds(self, name: str, world: World) -> bool:
        """Say whether everything that a result follows from is as it was."""
        group, own = self.results[name]
        if group not in self._holding:
            self._holding[group] = all(world.is_now(*self.reads[number]) for number in self.groups[group])
        return self._holding[group] and all(world.is_now(*self.reads[number]) for number in own)


def to_json(traces: Mapping[str, Reads]) -> Packed:
    """Return the reads of results for JSON."""
    count: Counter[tuple[tuple[str, str], str]] = Counter(item for trace in traces.values() for item in trace.items())
    numbers = {item: number for number, item in enumerate(count)}
    groups: dict[tuple[int, ...], int] = {}
    results: dict[str, tuple[int, list[int]]] = {}
    for name, trace in traces.items():
        own = [numbers[item] for item in trace.items() if count[item] == 1]
        shared = tuple(sorted(numbers[item] for item in trace.items() if count[item] > 1))
        results[name] = groups.setdefault(shared, len(groups)), own
    return {
        "reads": [[*read, digest] for read, digest in numbers],
        "groups": list(groups),
        "results": results,
    }


def from_json(packed: Packed) -> Traces:
    """Return the reads that `to_json` packed; raises KeyError, TypeError or ValueError for anything else."""
    reads = [((sort, name), digest) for sort, name, digest in packed["reads"]]
    return Traces(reads, packed["groups"], {name: (group, own) for name, (group, own) in packed["results"].items()})
