"""Which API object carries a run: one module a kind, read from this folder and from entry points `trainyard.kinds`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points

from trainyard.errors import TrainyardError
from trainyard.kinds.base import Kind
from trainyard.launchers import launchers
from trainyard.parts.objects import Folder, Scope
from trainyard.sizing import size
from trainyard.specs.run import Run

__all__ = ["Kind", "build", "kinds"]


@cache
def kinds() -> dict[str, type[Kind]]:
    """Every kind by name: subclasses of `Kind` in the modules here, then entry points, which are such classes."""
    found: dict[str, type[Kind]] = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        classes = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Kind)]
        found |= {each.name: each for each in classes if each.__module__ == module.__name__ and each is not Kind}
    for entry in entry_points(group="trainyard.kinds"):
        found[entry.name] = entry.load()
    return dict(sorted(found.items()))


def build(run: Run, app: Scope) -> Folder:
    """Return the folder of a run with all its objects; for runs that `resolve` and `launchers.check` let pass."""
    kind, launcher = kinds().get(run.kind), launchers().get(run.job.launcher)
    if kind is None or launcher is None:
        raise TrainyardError(
            f"run {run.name!r} has kind {run.kind!r} and launcher {run.job.launcher!r}; one is not installed"
        )
    folder, sizing = kind(app, run), size(run)
    folder.build(sizing, launcher.roles(run, sizing, folder.wiring()))
    return folder
