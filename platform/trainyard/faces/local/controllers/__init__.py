"""What the real controllers make of a kind's object, one module a controller; `CONTROLLERS` in each are its kinds.

Recorded from running ones: tests/local/recorded. A company's own come by entry points `trainyard.controllers`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

from trainyard.base.system.registry import added_entry_points, modules
from trainyard.faces.local.controllers.base import Controller, Made, Object, Objects, Pod, RunError

__all__ = ["Controller", "Made", "Object", "Objects", "Pod", "RunError", "controller_of", "controllers"]


@cache
def controllers() -> tuple[Controller, ...]:
    """Return every controller: those of this folder, then those of entry points."""
    own = [found for module in modules(sys.modules[__name__]) for found in getattr(module, "CONTROLLERS", ())]
    return (*own, *(entry.load() for entry in added_entry_points("trainyard.controllers")))


def controller_of(value: Mapping[str, Any]) -> Controller | None:
    """Return the controller of an object's kind, None where no pods are made of it."""
    return next((found for found in controllers() if found.takes(value)), None)
