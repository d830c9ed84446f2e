"""Our own code, with that of packages that add to it: whatever is found out follows from it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from trainyard import __version__
from trainyard.base.system import cache, files, reads
from trainyard.base.system.data import LOCK, PACKAGE, own_folder
from trainyard.base.system.registry import GROUPS, added_entry_points

CODE = "code"
"""A sort of reading: the code that works."""

PLUGINS = (*GROUPS, "trainyard.releases")


@reads.answer(CODE)
def code_digest(name: str, digests: reads.Digests) -> str:
    """Return a digest of this package as installed with the API types that come along, and of plugins.

    `name` tells callers with code of their own apart.
    """
    types = digests.digest((reads.FILE, reads.absolute(own_folder("schemas") / LOCK)))
    parts = [name, __version__, sys.version, types]
    parts += (part for part in stamps(PACKAGE) if not part.startswith("data/"))
    plugins = [entry for group in PLUGINS for entry in added_entry_points(group)]
    parts += [f"{entry.value} {entry.dist.version if entry.dist else ''}" for entry in plugins]
    for module in sorted({entry.module.partition(".")[0] for entry in plugins} - {PACKAGE.name}):
        spec = find_spec(module)
        for place in (spec.submodule_search_locations or [spec.origin or ""]) if spec else ():
            parts += stamps(Path(place)) if Path(place).is_dir() else [str(Path(place).stat().st_mtime_ns)]
    return cache.key(*parts)


def stamps(folder: Path) -> Iterator[str]:
    """Yield name, size and time of each source file of a package, which change with its code."""
    for file in files.walk(folder):
        if file.path.endswith((".py", ".yaml")):
            yield f"{file.path} {file.stat.st_size} {file.stat.st_mtime_ns}"
