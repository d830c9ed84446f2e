"""Registries are folders: a module that is there is known, and so is what an installed package adds by entry points."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

GROUPS = (
    "trainyard.kinds",
    "trainyard.launchers",
    "trainyard.operators",
    "trainyard.fabrics",
    "trainyard.workloads",
    "trainyard.carriers",
    "trainyard.controllers",
)
"""Groups of entry points that add objects of Python."""


def registered_modules(package: ModuleType, attribute: str, kind: type[Any], *, group: str) -> dict[str, Any]:
    """Return by name, sorted, what modules of a package call `attribute`, then the entry points of a group.

    A module's own name is the object's attribute `name`; that of an entry point is the entry point's.
    """
    found: dict[str, Any] = {}
    for module in modules(package):
        value = getattr(module, attribute, None)
        if isinstance(value, kind):
            found[str(getattr(value, "name", module.__name__))] = value
    for entry in added_entry_points(group):
        found[entry.name] = entry.load()
    return dict(sorted(found.items()))


def added_entry_points(group: str) -> EntryPoints:
    """Return the entry points of a group."""
    found: EntryPoints = installed_entry_points().select(group=group)
    return found


@cache
def installed_entry_points() -> Any:
    """Return the entry points of all installed packages, which are looked through once in a process.

    Their reader is imported here: most commands on one file need none.
    """
    from importlib.metadata import entry_points

    return entry_points()


def modules(package: ModuleType) -> Iterator[ModuleType]:
    """Yield the modules of a package's folder, imported."""
    for info in pkgutil.iter_modules(package.__path__):
        yield importlib.import_module(f"{package.__name__}.{info.name}")
