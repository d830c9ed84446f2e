"""Facts about the API kinds that carry training: one module a kind, read from this folder and from entry points."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from trainyard.workloads.base import PodSet, Workload

__all__ = ["PodSet", "Workload", "launchers", "workloads"]


@cache
def workloads() -> dict[str, Workload]:
    """Every known kind by name: each module's `WORKLOAD` here, then entry points of the group `trainyard.workloads`."""
    found: dict[str, Workload] = {}
    for module in pkgutil.iter_modules(__path__):
        workload = getattr(importlib.import_module(f"{__name__}.{module.name}"), "WORKLOAD", None)
        if isinstance(workload, Workload):
            found[workload.kind] = workload
    for entry in entry_points(group="trainyard.workloads"):
        found[entry.name] = entry.load()
    return dict(sorted(found.items()))


@cache
def launchers() -> frozenset[str]:
    """Names of all launchers: modules of their folder (not imported here), entry points of `trainyard.launchers`."""
    folder = [str(Path(path).parent / "launchers") for path in __path__]
    ours = {module.name for module in pkgutil.iter_modules(folder)} - {"base"}
    return frozenset(ours | {entry.name for entry in entry_points(group="trainyard.launchers")})
