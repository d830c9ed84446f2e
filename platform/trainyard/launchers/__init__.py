"""How processes start: one module a launcher, read from this folder and from entry points `trainyard.launchers`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points

from trainyard.findings import Finding
from trainyard.launchers.base import Launcher, Role, Wiring
from trainyard.sizing import check as check_sizes
from trainyard.specs.run import Run

__all__ = ["Launcher", "Role", "Wiring", "check", "launchers"]


@cache
def launchers() -> dict[str, Launcher]:
    """Every launcher by name: each module's `LAUNCHER` here, then entry points, which are `Launcher` objects."""
    found: dict[str, Launcher] = {}
    for module in pkgutil.iter_modules(__path__):
        launcher = getattr(importlib.import_module(f"{__name__}.{module.name}"), "LAUNCHER", None)
        if isinstance(launcher, Launcher):
            found[launcher.name] = launcher
    for entry in entry_points(group="trainyard.launchers"):
        found[entry.name] = entry.load()
    return dict(sorted(found.items()))


def check(run: Run) -> list[Finding]:
    """Return what the job asks of its pods and its launcher that they cannot do.

    For runs that `resolve` let pass; an error among the findings means that the run must not be rendered.
    """
    return [*check_sizes(run), *launchers()[run.job.launcher].check(run)]
