"""What was found out before, with everything that was read for it: it holds for as long as all of that is as it was."""

from __future__ import annotations

from trainyard.base.memory.code import CODE, MODULES, loaded_modules
from trainyard.base.memory.store import NOTHING_KNOWN, Memory, Table
from trainyard.base.memory.traces import Traces, from_json, to_json
from trainyard.base.memory.world import World

__all__ = [
    "CODE",
    "MODULES",
    "NOTHING_KNOWN",
    "Memory",
    "Table",
    "Traces",
    "World",
    "from_json",
    "loaded_modules",
    "to_json",
]
