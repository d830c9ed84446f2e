"""Results in the user's cache: what was found out of inputs, with all that was read for it beside these."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from trainyard.base.memory.code import CODE
from trainyard.base.memory.traces import Traces, from_json, to_json
from trainyard.base.memory.world import World
from trainyard.base.system import reads
from trainyard.base.system.cache import Cache, key
from trainyard.base.system.reads import Reads

T = TypeVar("T")

ONE = ""
"""The name of the result of an entry that has one alone."""

FORMAT = "1"
"""Raise it when entries are written in another way."""


@dataclass(frozen=True)
class Memory:
    """Results by the inputs of the work that found them; without a store, or a world, nothing is remembered.

    Inputs are values that the work is given, as texts; what it reads by itself is recorded, and so is our own code. An
    entry is JSON, and one that cannot be read is none.
    """

    store: Cache | None = None
    world: World | None = None

    def get(self, *inputs: str | bytes) -> Any:
        """Return a result that still holds, None where there is none; what was read for it counts as read now."""
        found = Table.load(self, inputs)
        return found.values[ONE] if found.knows(ONE) else None

    def put(self, value: Any, seen: Mapping[reads.Read, str], *inputs: str | bytes) -> None:
        """Keep a result, which JSON can hold, with what was read for it."""
        table = Table(self, inputs, {ONE: value}, fresh={ONE: dict(seen)})
        table.save()

    def remember(self, work: Callable[[], T], *inputs: str | bytes) -> T:
        """Return the result of work, which JSON can hold: what was found out before, if that holds."""
        table = Table.load(self, inputs)
        value: T = table.of(ONE, work)
        table.save()
        return value

    def table(self, *inputs: str | bytes) -> Table:
        """Return the results of many pieces of work that share inputs, by their names."""
        return Table.load(self, inputs)


NOTHING_KNOWN = Memory()
"""Remembers nothing."""


@dataclass
class Table:
    """Results by name, each with what was read for it."""

    memory: Memory
    inputs: tuple[str | bytes, ...]
    values: dict[str, Any] = field(default_factory=dict)
    kept: Traces = field(default_factory=Traces)
    """What was read for results of earlier runs."""
    fresh: dict[str, Reads] = field(default_factory=dict)
    """What was read for those of this one."""
    used: set[str] = field(default_factory=set)

    @classmethod
    def load(cls, memory: Memory, inputs: tuple[str | bytes, ...]) -> Table:
        """Return the kept results."""
        data = memory.store.get(key("table", FORMAT, *inputs)) if memory.store and memory.world else None
        try:
            value = json.loads(data) if data else {"values": {}, **to_json({})}
            return cls(memory, inputs, dict(value["values"]), from_json(value))
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            return cls(memory, inputs)

    def of(self, name: str, work: Callable[[], T]) -> T:
        """Return a result by its name: what was found out before, if that holds."""
        if self.knows(name):
            known: T = self.values[name]
            return known
        if self.memory.world is None:
            return work()
        with reads.recording(self.memory.world) as record:
            reads.ask(CODE, "")
            found = self.values[name] = work()
        self.fresh[name] = record.everything
        return found

    def value(self, name: str) -> Any:
        """Return a result that is known."""
        return self.values[name]

    def knows(self, name: str) -> bool:
        """Say whether a result is known and holds; what was read for it counts as read now."""
        if name in self.fresh:
            reads.replay(self.fresh[name])
            return True
        world = self.memory.world
        if world is None or name not in self.kept.results or not self.kept.holds(name, world):
            return False
        if reads.is_recorded():
            reads.replay(self.kept.of(name))
        self.used.add(name)
        return True

    def reads_of(self, name: str) -> Reads:
        """Return the reads of a result that is known."""
        return self.fresh[name] if name in self.fresh else self.kept.of(name)

    def replace(self, results: Mapping[str, tuple[Any, Reads]]) -> None:
        """Keep these results, each with what was read for it, and none of those before."""
        self._write(
            {name: value for name, (value, _) in results.items()}, {name: seen for name, (_, seen) in results.items()}
        )

    def save(self, *, unused: bool = False) -> None:
        """Keep the results that somebody asked for, and the others too if `unused` says so, where any is new."""
        if not self.fresh:
            return
        others = self.kept.results.keys() - self.fresh.keys()
        names = sorted(others if unused else others & self.used)
        traces = {name: self.kept.of(name) for name in names} | self.fresh
        self._write({name: self.values[name] for name in traces}, traces)

    def _write(self, values: Mapping[str, Any], traces: Mapping[str, Reads]) -> None:
        if self.memory.store is not None and self.memory.world is not None:
            text = json.dumps({"values": values, **to_json(traces)}, separators=(",", ":"))
            self.memory.store.put(key("table", FORMAT, *self.inputs), text.encode())
