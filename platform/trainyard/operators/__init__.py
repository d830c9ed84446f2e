"""Cluster software: one module an operator, read from this folder and from entry points; plain values."""

from __future__ import annotations

import sys
from functools import cache

from trainyard.operators.base import Operator, Site
from trainyard.system.registry import registered

__all__ = ["Operator", "Site", "operators"]


@cache
def operators() -> dict[str, Operator]:
    """Every operator that can be installed: each module's `OPERATOR`, then entry points `trainyard.operators`."""
    return registered(sys.modules[__name__], "OPERATOR", Operator, group="trainyard.operators")
