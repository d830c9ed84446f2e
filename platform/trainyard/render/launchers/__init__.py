"""How processes start: one module a launcher, read from this folder and from entry points `trainyard.launchers`."""

from __future__ import annotations

import sys
from functools import cache

from trainyard.base.system.registry import registered_modules
from trainyard.render.launchers.base import NEEDS, Launcher
from trainyard.render.launchers.launch import Launch, Role, Wiring

__all__ = ["NEEDS", "Launch", "Launcher", "Role", "Wiring", "launchers"]


@cache
def launchers() -> dict[str, Launcher]:
    """Every launcher by name: each module's `LAUNCHER` here, then entry points, which are `Launcher` objects."""
    return registered_modules(sys.modules[__name__], "LAUNCHER", Launcher, group="trainyard.launchers")
