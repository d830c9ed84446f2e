"""Our own code, with that of packages that add to it: whatever is found out follows from it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from trainyard import __version__
from trainyard.base.system import cache, files, reads
from trainyard.base.system.data import PACKAGE, own_folder
from trainyard.base.system.registry import GROUPS, added_entry_points

CODE = "code"
"""A sort of reading: the code that works."""

PLUGINS = (*GROUPS, "trainyard.releases")


SAYING = (".py", ".yaml", ".json")
"""Endings of files that say something."""

MODULES = "modules"
"""A sort of reading: the modules of this package that a process has, by their names."""


def loaded_modules() -> str:
    """Return the names of all modules of this package that were imported: no other one has a part in what is done."""
    return " ".join(sorted(name for name in sys.modules if name.partition(".")[0] == PACKAGE.name))


@reads.answer(MODULES)
def modules_digest(names: str, _: reads.Digests) -> str:
    """Return a digest of modules, of which each is known by the size and time of its file."""
    return cache.key(__version__, sys.version, *map(module_stamp, names.split()))


@lru_cache(maxsize=4096)
def module_stamp(name: str) -> str:
    """Return size and time of the file of a module of this package; none of one that is gone."""
    place = PACKAGE.parent.joinpath(*name.split("."))
    for path in (f"{place}.py", f"{place}/__init__.py"):
        with suppress(OSError):
            status = os.stat(path)  # noqa: PTH116 - a path of pathlib takes longer than the call
            return f"{status.st_size} {status.st_mtime_ns}"
    return ""


@reads.answer(CODE)
def code_digest(name: str, _: reads.Digests) -> str:
    """Return a digest of this package as installed, of the API types and charts that come along, and of plugins.

    `name` tells callers with code of their own apart.
    """
    parts = [name, __version__, sys.version]
    parts += stamps(PACKAGE)
    types = own_folder("schemas")
    parts += [] if types.is_relative_to(PACKAGE) else stamps(types)
    plugins = [entry for group in PLUGINS for entry in added_entry_points(group)]
    parts += [f"{entry.value} {entry.dist.version if entry.dist else ''}" for entry in plugins]
    for module in sorted({entry.module.partition(".")[0] for entry in plugins} - {PACKAGE.name}):
        spec = find_spec(module)
        for place in (spec.submodule_search_locations or [spec.origin or ""]) if spec else ():
            parts += stamps(Path(place)) if Path(place).is_dir() else [str(Path(place).stat().st_mtime_ns)]
    return cache.key(*parts)


def stamps(folder: Path) -> list[str]:
    """Return path, size and time of each file of code or facts below a folder, which change with what it says."""
    return sorted(files.stamps(folder, SAYING)) if folder.is_dir() else []
