"""Cluster software: one module an operator, read from this folder and from entry points; pure, without cdk8s."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points

from trainyard.operators.base import POOL_LABEL, TEAM_LABEL, Operator, Resource, Site

__all__ = ["POOL_LABEL", "TEAM_LABEL", "Operator", "Resource", "Site", "operators"]


@cache
def operators() -> dict[str, Operator]:
    """Every operator that can be installed: each module's `OPERATOR`, then entry points `trainyard.operators`."""
    found: dict[str, Operator] = {}
    for module in pkgutil.iter_modules(__path__):
        operator = getattr(importlib.import_module(f"{__name__}.{module.name}"), "OPERATOR", None)
        if isinstance(operator, Operator):
            found[operator.name] = operator
    for entry in entry_points(group="trainyard.operators"):
        found[entry.name] = entry.load()
    return dict(sorted(found.items()))
