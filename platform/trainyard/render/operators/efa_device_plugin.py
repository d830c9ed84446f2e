"""EFA device plugin: Amazon's Elastic Fabric Adapters as resources that pods request."""

from __future__ import annotations

from typing import Any

from trainyard.render.operators.base import Operator, Site, tolerations
from trainyard.render.sizing.fabrics import fabric_type, fabric_types

TYPE = "efa"
"""The type of fabric that its devices are for."""


class EfaDevicePlugin(Operator):
    """The plugin from its chart, which knows the instance types that have adapters by their label."""

    name = "efa-device-plugin"

    def values(self, site: Site) -> dict[str, Any]:
        """Let the plugin run on the tainted nodes of the fabric: the chart tolerates critical add-ons alone."""
        cluster, fabric = site.cluster, fabric_types()[TYPE]
        if fabric_type(cluster) is not fabric:
            return {}
        found = tolerations(pool for name, pool in cluster.pools.items() if fabric.reaches(cluster, name))
        return {"tolerations": found} if found else {}


OPERATOR = EfaDevicePlugin()
