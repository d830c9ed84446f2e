"""The rules of kinds, read, type-checked and compiled once and kept on disk, by the content of schemas and of our code.

What is kept is JSON that is built anew: nothing in it is run. An entry that cannot be read is compiled and kept again.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.base.system import cache
from trainyard.base.system.cache import Cache
from trainyard.base.system.repository import is_repository
from trainyard.upstream.apiserver.catalog.served import Kind

if TYPE_CHECKING:
    from trainyard.upstream.apiserver.validations.tree import Node

PACKAGE = Path(__file__).resolve().parent.parent
COMPILING = (".", "catalog", "cel", "cel/library", "meta", "schema", "validations")
"""Folders of this package whose modules have a part in compiling rules."""
LIMIT_BYTES = 16 * 2**20
"""What all entries may take, those of older code too; a kind's has some ten thousand bytes."""


@dataclass(slots=True, eq=False)
class Rulebook:
    """The rules that one run needs; without a cache they last as long as the process."""

    cache: Cache | None = None
    trees: dict[tuple[Kind, int], Node | None] = field(default_factory=dict)
    names: dict[tuple[Kind, int], str] = field(default_factory=dict)

    def tree(self, kind: Kind, minor: int) -> Node | None:
        """Return the rules of a kind for a minor release of Kubernetes, None where it has none."""
        key = kind, minor
        if key not in self.trees:
            self.trees[key] = self._kept(kind, minor) or _found(kind)
        return self.trees[key]

    def keep(self) -> None:
        """Write what was compiled since it was read; what cannot be written is compiled again next time."""
        if self.cache is None:
            return
        changed = {key: tree for key, tree in self.trees.items() if tree is not None and tree.shared.changed}
        for (kind, minor), tree in changed.items():
            tree.shared.changed = False
            self.cache.put(self._name(kind, minor), json.dumps(tree.kept(minor), separators=(",", ":")).encode())

    def _kept(self, kind: Kind, minor: int) -> Node | None:
        data = None if self.cache is None else self.cache.get(self._name(kind, minor))
        if data is None:
            return None
        from trainyard.upstream.apiserver.validations.tree import restore_tree

        try:
            return restore_tree(json.loads(data), kind.schema, minor)
        except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
            return None

    def _name(self, kind: Kind, minor: int) -> str:
        if (kind, minor) not in self.names:
            self.names[kind, minor] = cache.key(code(), str(minor), kind.content)
        return self.names[kind, minor]


def open_for(root: Path) -> Rulebook:
    """Return the rulebook that the user's cache keeps, outside the repository at `root` if there is one."""
    repository = root if is_repository(root) else None
    return Rulebook(cache.private("rules", outside=repository, limit_bytes=LIMIT_BYTES))


def _found(kind: Kind) -> Node | None:
    from trainyard.upstream.apiserver.validations.tree import tree

    return tree(kind)


@lru_cache(maxsize=1)
def code() -> str:
    """Return a key of the code that compiles rules: a file counts by its size and the time at which it was written."""
    found = []
    for folder in COMPILING:
        with os.scandir(PACKAGE / folder) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    stat = entry.stat()
                    found.append(f"{folder}/{entry.name} {stat.st_size} {stat.st_mtime_ns}")
    return cache.key(*sorted(found))
