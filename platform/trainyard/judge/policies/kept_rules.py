"""The compiled rules of kinds in the user's cache: they hold while the modules that compiled them are the same."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainyard.base.memory import MODULES, Memory, World, loaded_modules
from trainyard.base.system import cache, reads
from trainyard.base.system.repository import is_repository
from trainyard.upstream.apiserver import Rulebook

LIMIT_BYTES = 16 * 2**20
"""What all entries may take, those of older code too; a kind's has some ten thousand bytes."""


@dataclass(frozen=True, slots=True)
class KeptRules:
    """Rules by the schemas that state them."""

    memory: Memory

    def get(self, *inputs: str | bytes) -> Any:
        """Return the rules that were kept, None where there are none or other code compiled them."""
        with reads.apart():  # they are the same, compiled or kept
            return self.memory.get("rules", *inputs)

    def put(self, value: Any, *inputs: str | bytes) -> None:
        """Keep rules, with the modules of ours that this process has: only these can have compiled them."""
        if self.memory.world is not None:
            modules = MODULES, loaded_modules()
            self.memory.put(value, {modules: self.memory.world.digest(modules)}, "rules", *inputs)


def open_for(root: Path) -> Rulebook:
    """Return the rulebook that the user's cache keeps, outside the repository at `root` if there is one."""
    repository = root if is_repository(root) else None
    store = cache.private("rules", outside=repository, limit_bytes=LIMIT_BYTES)
    return Rulebook(None if store is None else KeptRules(Memory(store, World())))
