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
from trainyard.faces.local.controllers.by_row import ByRow
from trainyard.upstream.workloads import carrier_of

__all__ = ["Controller", "Made", "Object", "Objects", "Pod", "RunError", "controller_of", "controllers"]


@cache
def controllers() -> tuple[Controller, ...]:
    """Return every controller: those of this folder, then those of entry points."""
    own = [found for module in modules(sys.modules[__name__]) for found in getattr(module, "CONTROLLERS", ())]
    return (*own, *(entry.load() for entry in added_entry_points("trainyard.controllers")))


def controller_of(value: Mapping[str, Any]) -> Controller | None:
    """Return the controller of an object's kind, None where no pods are made of it, or its row says why none run.

    A kind that trains and has no controller here gets pods by its row.
    """
    found = next((known for known in controllers() if known.takes(value)), None)
    if found is not None:
        return found
    row = carrier_of(value)
    if row is None or not row.trains or not row.templates or "run" in row.unread:
        return None
    own = any((known.group, known.kind) == (row.group, row.kind) for known in controllers())
    return None if own else ByRow(row)
