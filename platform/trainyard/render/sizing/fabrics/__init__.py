"""Types of training fabric: one module each, read from this folder and from entry points `trainyard.fabrics`."""

from __future__ import annotations

import sys
from functools import cache

from trainyard.base.system.registry import registered_modules
from trainyard.render.sizing.fabrics.base import FabricType, Share
from trainyard.specs import Cluster

__all__ = ["FabricType", "Share", "fabric_type", "fabric_types"]


@cache
def fabric_types() -> dict[str, FabricType]:
    """Every type of fabric by name: each module's `FABRIC` here, then entry points, which are `FabricType` objects."""
    return registered_modules(sys.modules[__name__], "FABRIC", FabricType, group="trainyard.fabrics")


def fabric_type(cluster: Cluster) -> FabricType:
    """Return the type of the cluster's fabric; `none` where it declares no fabric."""
    return fabric_types()[cluster.fabric.type if cluster.fabric else "none"]
